//! Finds PHP's headers through `php-config`, compiles the C shim against them and generates the Zend externs.

#![expect(clippy::expect_used, clippy::panic, reason = "a build that cannot go on ends with the reason")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The oldest `PHP_VERSION_ID` that Apus supports.
const OLDEST: u32 = 80200;
/// One past the newest `PHP_VERSION_ID` whose headers the shim is written for.
const BEYOND: u32 = 80600;

const SHIM: &[&str] = &[
    "fiber",
    "enter",
    "switch",
    "value",
    "class",
    "object",
    "held",
    "unread",
    "call",
    "ambient",
    "trace",
    "remote",
    "module",
    "output",
    "overflow",
    "request",
    "valgrind",
    "asan",
    "proc_there",
    "stand_in",
    "watch",
    "hook",
    "guard",
    "autoload",
    "library",
    "marks",
    "handlers",
    "file",
    "guard_known",
    "guard_held",
    "guard_talk",
    "guard_free",
    "guard_tree",
    "guard_iterate",
    "guard_connect",
    "descriptor",
    "exit",
    "stream",
    "closure",
    "pack",
    "read",
    "row",
    "process",
    "wrap",
    "compiler",
    "serial",
    "swap",
    "there",
    "own",
    "session",
    "stay",
    "mistakes",
    "sapi",
    "server_variables",
    "leave",
    "error_page",
    "ini",
    "user_ini",
];

fn main() {
    println!("cargo:rerun-if-env-changed=APUS_PHP_CONFIG");
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rustc-check-cfg=cfg(php83, php84, php85)");

    let php_config = php_config();
    let version: u32 = ask(&php_config, "--vernum").parse().expect("php-config --vernum prints a number");
    assert!(
        (OLDEST..BEYOND).contains(&version),
        "PHP {version} found by {}: Apus builds against PHP 8.2 to 8.5. Set APUS_PHP_CONFIG to another php-config.",
        php_config.display()
    );
    for (since, cfg) in [(80300, "php83"), (80400, "php84"), (80500, "php85")] {
        if version >= since {
            println!("cargo:rustc-cfg={cfg}");
        }
    }

    let includes: Vec<String> = ask(&php_config, "--includes").split_whitespace().map(str::to_owned).collect();
    compile_shim(&includes);
    generate_externs(&includes);
}

fn php_config() -> PathBuf {
    if let Some(path) = env::var_os("APUS_PHP_CONFIG") {
        return path.into();
    }
    let names = ["php-config8.2", "php-config8.3", "php-config8.4", "php-config8.5", "php-config"];
    let found = names.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    match found {
        Some(name) => PathBuf::from(name),
        None => panic!("no php-config found: install php8.2-dev, or set APUS_PHP_CONFIG to its path"),
    }
}

fn ask(php_config: &Path, flag: &str) -> String {
    let out = Command::new(php_config).arg(flag).output().expect("php-config runs");
    String::from_utf8(out.stdout).expect("php-config prints UTF-8").trim().to_owned()
}

fn compile_shim(includes: &[String]) {
    let mut build = cc::Build::new();
    build.warnings(true).extra_warnings(false).flag_if_supported("-Wno-unused-parameter").std("gnu11");
    // Nobody else calls it: the compiler may inline what a file of it exports to the others.
    build.flag("-fvisibility=hidden").force_frame_pointer(false);
    // A switch pushes where it goes on.
    build.flag_if_supported("-mno-red-zone");
    for include in includes {
        build.flag(include);
    }
    for file in SHIM {
        build.file(format!("shim/{file}.c"));
    }
    build.compile("apus_shim");
}

fn generate_externs(includes: &[String]) {
    let bindings = bindgen::Builder::default()
        .header("shim/apus_shim.h")
        .clang_args(includes)
        .allowlist_function("apus_.*|zend_fiber_switch_blocked|zend_create_graceful_exit|zend_is_unwind_exit")
        .allowlist_function("zend_is_graceful_exit|zend_throw_exception_internal|zend_clear_exception")
        .allowlist_function("php_info_print_table_.*|zend_get_type_by_const|zend_zval_type_name")
        .allowlist_type("apus_.*|zval|zend_(string|object|class_entry|execute_data|module_entry|array|fiber_context)")
        .allowlist_var("apus_(bailed_in_release|jumper)|APUS_.*|IS_[A-Z]+|ZEND_ACC_[A-Z_]+|E_[A-Z_]+|MAY_BE_[A-Z]+|zend_ce_.*|ZEND_MODULE_API_NO|USING_ZTS|ZEND_DEBUG")
        .opaque_type("apus_switching|_IO_FILE|FILE|zend_jmp_buf|__jmp_buf_tag|sigjmp_buf|jmp_buf")
        .derive_default(false)
        .layout_tests(true)
        .merge_extern_blocks(true)
        .generate()
        .expect("bindgen reads PHP's headers (needs libclang: install clang and libclang-dev)");
    let path = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("externs.rs");
    fs::write(path, bindings.to_string()).expect("OUT_DIR is writable");
}
