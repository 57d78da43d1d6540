//! Makes the module's tables of what `php/stub` declares.

use std::path::{Path, PathBuf};

fn main() {
    let stubs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../php/stub");
    println!("cargo:rerun-if-changed={}", stubs.display());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    if let Err(wrong) = apus_stub::build(&stubs, &out, env!("CARGO_PKG_VERSION")) {
        eprintln!("error: {wrong}");
        std::process::exit(1);
    }
}
