//! Makes the module's tables of what `php/stub` declares.

use std::path::PathBuf;

/// A folder that cargo names when this runs: trees that share a target folder share what is compiled, too.
fn folder(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("cargo sets it"))
}

fn main() {
    let stubs = folder("CARGO_MANIFEST_DIR").join("../../php/stub");
    println!("cargo:rerun-if-changed={}", stubs.display());
    let out = folder("OUT_DIR");
    if let Err(wrong) = apus_stub::build(&stubs, &out, env!("CARGO_PKG_VERSION")) {
        eprintln!("error: {wrong}");
        std::process::exit(1);
    }
}
