//! The PHP API as it is written in `php/stub`: read here, and turned into the tables that the module registers.
//!
//! What a file declares is declared nowhere else: its name, its parameters with types and defaults, its documentation. `apus-php`'s build
//! script has a Rust file made of each stub file, which the module that implements the classes includes; a declaration without an
//! implementation does not compile. Lines of a docblock that begin with `@rust` speak to this crate alone and are not shown to users; so
//! do the comments `// @rust module PATH` in a class (the functions of the methods behind it are there) and `// @rust typed` (they take typed
//! arguments).
//!
//! | in the docblock of | line | meaning |
//! |---|---|---|
//! | a class | `@rust static NAME` | the name of its static; default: its short name in capitals |
//! | a class | `@rust plain`, `@rust native` | its objects own no Rust value, or one; default: those of a class with methods do |
//! | a class | `@rust lazy COUNT FUNCTION` | the first properties are filled by the function when they are first read |
//! | a class | `@rust codes` | its constants are the codes of an exception: they become constants to throw |
//! | a class | `@rust slots` | the places of its properties become constants, in `slot`, below the name of its static |
//! | a method, a function | `@rust PATH` | its Rust function; default: its name in `snake_case` |
//! | a method, a function | `@rust typed`, `@rust raw` | it takes typed arguments, or the call as it is (the default) |
//! | a constant | `@rust PATH` | the Rust constant that must have the same value: a difference does not compile |

mod decl;
mod emit;
mod model;
mod parse;
mod print;
mod typed;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use model::{Class, Constant, Doc, File, Function, Literal, Member, Param, Property, Type};
pub use parse::{Error, parse};
pub use print::print;

/// The stub files below a folder, in the order of their paths.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".stub.php") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes a Rust file for each stub file of `folder` into `into`, under the same name, and `stubs.php`: what `apus stubs` prints.
/// An error names the file and line.
pub fn build(folder: &Path, into: &Path, version: &str) -> Result<(), String> {
    let io = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let wrong = |name: &str, error: &Error| format!("php/stub/{name}:{}: {}", error.line, error.text);
    let mut texts = Vec::new();
    for path in files(folder).map_err(|error| io(folder, error))? {
        let text = fs::read_to_string(&path).map_err(|error| io(&path, error))?;
        let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let file = parse(&text).map_err(|error| wrong(&name, &error))?;
        let out = into.join(name.replace(".stub.php", ".rs"));
        let code = emit::file(&name, &file).map_err(|error| wrong(&name, &error))?;
        fs::create_dir_all(out.parent().unwrap_or(into)).map_err(|error| io(into, error))?;
        fs::write(&out, code).map_err(|error| io(&out, error))?;
        texts.push(text);
    }
    let out = into.join("stubs.php");
    fs::write(&out, print(version, texts.iter().map(String::as_str))).map_err(|error| io(&out, error))
}
