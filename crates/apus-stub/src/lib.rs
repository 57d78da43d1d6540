//! The PHP API as it is written in `php/stub`: read here, and turned into the tables that the module registers.
//!
//! What a file declares is declared nowhere else: its name, its parameters with types and defaults, its documentation.
//! `apus-php`'s build script has a Rust file made of each stub file, which the module that implements the classes
//! includes; a declaration without an implementation does not compile. Lines of a docblock that begin with `@rust`
//! speak to this crate alone and are not shown to users; so do the comments `// @rust module PATH` in a class (the
//! functions of the methods behind it are there), `// @rust typed` (they take typed arguments: see `apus_zend::arg`;
//! the module has in scope the statics of the classes whose objects they take) and `// @rust let` (see `expand.rs`:
//! what several classes declare alike is stated once).
//!
//! | in the docblock of | line | meaning |
//! |---|---|---|
//! | a class | `@rust static NAME` | the name of its static; default: its short name in capitals |
//! | a class | `@rust plain`, `@rust native` | its objects own no Rust value, or one; default: those of a class with methods do |
//! | a class | `@rust lazy COUNT FUNCTION` | the first properties are filled by the function when they are first read |
//! | a class | `@rust dynamic` | its objects may have properties that it does not declare |
//! | a class | `@rust second NAME` | in a `.second.stub.php`: it is the class of that name in the file beside it, under another name |
//! | a class | `@rust also NAME...` | further names of it, which `module.rs` has registered where the names of Swoole are |
//! | a class | `@rust short NAME...` | the same, unless `swoole.use_shortname` is off |
//! | a class | `@rust codes` | its constants are the codes of an exception: they become constants to throw |
//! | a class | `@rust slots` | the places of its properties become constants, in `slot`, below the name of its static |
//! | a class | `@rust accessors PATH` | `getX()` and `withX()` or `setX()` of its property `$x` call `PATH::get` and `PATH::with`, or the function that they name, with the place of the property |
//! | a method, a function | `@rust PATH` | its Rust function; default: its name in `snake_case` |
//! | a method, a function | `@rust typed`, `@rust raw` | it takes typed arguments, or the call as it is (the default) |
//! | a class or method declared a second time | `@rust within PATH`, `@rust within nothing` | a function that calls the method's: it may fail in another way |
//! | such a class | `@rust made PATH` | the same for its constructor |
//! | a constant | `@rust PATH` | the Rust constant that must have the same value: a difference does not compile |

#![expect(clippy::expect_used, clippy::unreachable, reason = "a build that cannot go on ends with the reason")]

mod decl;
mod emit;
mod expand;
mod known;
mod library;
mod model;
mod names;
mod package;
mod parse;
mod print;
mod reference;
mod second;
mod typed;

use std::path::{Path, PathBuf};
use std::{fs, io};

use expand::Traits;
use known::Known;
pub use model::{Class, Constant, Doc, File, Function, Literal, Member, Param, Property, Type};
pub use package::package;
pub use parse::{Error, parse};
pub use print::{further_names, print};
pub use reference::{Output, html};

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

/// Which stub files a crate implements, and who may see the tables that are made of them.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// How the paths of its files begin.
    pub rooms: &'a [&'a str],
    /// The visibility of what is made, as Rust writes it.
    pub seen: &'a str,
}

/// A folder that cargo names when a build script runs: trees that share a target folder share what is compiled, too.
fn folder(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("cargo sets it"))
}

fn fail(wrong: &str) -> ! {
    eprintln!("error: {wrong}");
    std::process::exit(1);
}

fn io(path: &Path, error: io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// What the build script of such a crate does.
pub fn build_script(part: Part<'_>) {
    let stubs = folder("CARGO_MANIFEST_DIR").join("../../php/stub");
    for room in part.rooms {
        println!("cargo:rerun-if-changed={}", stubs.join(room).display());
        // One that is a file may have its second declarations beside it. What is not there counts as changed each time,
        // so where there are none the folder is watched, in which they would come.
        if let Some(name) = room.strip_suffix(".stub.php") {
            let second = stubs.join(format!("{name}{SECOND}"));
            println!("cargo:rerun-if-changed={}", if second.exists() { &second } else { &stubs }.display());
        }
    }
    if let Err(wrong) = build(&stubs, &folder("OUT_DIR"), part) {
        fail(&wrong);
    }
}

/// A stub file that was read.
struct Source {
    /// Its path below the folder.
    name: String,
    file: File,
    /// Its text, with what its classes use written out.
    text: String,
}

const SECOND: &str = ".second.stub.php";
/// What only code written for Swoole sees, and is no second declaration of anything.
const SWOOLE: &str = "swoole/";
/// Functions of php-fpm, and of others, that only scripts of `apus serve` have: the stubs of those declare them.
const SERVED: &str = "serve/functions.stub.php";

impl Source {
    fn is_second(&self) -> bool {
        self.name.ends_with(SECOND)
    }
}

fn wrong(name: &str, error: &Error) -> String {
    format!("php/stub/{name}:{}: {}", error.line, error.text)
}

/// Reads all stub files: one may use what another declares.
fn read(folder: &Path) -> Result<(Vec<Source>, Known), String> {
    let mut traits = Traits::default();
    let mut texts = Vec::new();
    for path in files(folder).map_err(|error| io(folder, error))? {
        let text = fs::read_to_string(&path).map_err(|error| io(&path, error))?;
        let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let lines = traits.take(&text).map_err(|error| wrong(&name, &error))?;
        texts.push((name, lines));
    }
    let mut known = Known::default();
    let mut sources = Vec::new();
    for (name, lines) in texts {
        let expanded = traits.expand(lines).map_err(|error| wrong(&name, &error))?;
        let file = parse::parse_lines(&expanded.text, &expanded.lines).map_err(|error| wrong(&name, &error))?;
        known.add(&file);
        sources.push(Source { name, file, text: expanded.text });
    }
    Ok((sources, known))
}

/// Writes a Rust file for each of a part's stub files in `folder` into `into`, under the same name; second declarations
/// go into the files of the first. An error names the file and line.
pub fn build(folder: &Path, into: &Path, part: Part<'_>) -> Result<(), String> {
    let (sources, known) = read(folder)?;
    let (seconds, firsts): (Vec<_>, Vec<_>) = sources.into_iter().partition(Source::is_second);
    let is_first = |second: &Source, first: &str| second.name.replace(SECOND, ".stub.php") == first;
    if let Some(alone) = seconds.iter().find(|second| !firsts.iter().any(|first| is_first(second, &first.name))) {
        return Err(format!("php/stub/{}: there is no file of first declarations beside it", alone.name));
    }
    for Source { name, file, .. } in firsts {
        if !part.rooms.iter().any(|room| name.starts_with(room)) {
            continue;
        }
        let out = into.join(name.replace(".stub.php", ".rs"));
        let resolved = match seconds.iter().find(|second| is_first(second, &name)) {
            None => Vec::new(),
            Some(two) => second::resolve(&file, &two.file).map_err(|error| wrong(&two.name, &error))?,
        };
        let code = emit::file(&name, &file, &resolved, &known, part.seen).map_err(|error| wrong(&name, &error))?
            + &emit::seconds(&name.replace(".stub.php", SECOND), &resolved, &known, part.seen)
                .map_err(|error| wrong(&name, &error))?;
        fs::create_dir_all(out.parent().unwrap_or(into)).map_err(|error| io(into, error))?;
        fs::write(&out, code).map_err(|error| io(&out, error))?;
    }
    Ok(())
}

/// What the build script of the crate that has the PHP code in `php/library` does, too: `library.rs` in its output.
pub fn library_script() {
    let folder = folder("CARGO_MANIFEST_DIR").join("../../php/library");
    println!("cargo:rerun-if-changed={}", folder.display());
    let out = self::folder("OUT_DIR").join("library.rs");
    let written = folder.canonicalize().and_then(|folder| fs::write(&out, library::tables(&folder)?));
    if let Err(error) = written {
        fail(&io(&folder, error));
    }
}

/// What the build script does of the crate that prints the stubs, besides: writes `stubs.php`, the text of all, and
/// `stubs.second.php`, that of the second declarations.
pub fn all_script(version: &str) {
    let folder = folder("CARGO_MANIFEST_DIR").join("../../php/stub");
    println!("cargo:rerun-if-changed={}", folder.display());
    let written = read(&folder).and_then(|(sources, _)| {
        let for_swoole = |source: &Source| source.is_second() || source.name.starts_with(SWOOLE);
        let (seconds, firsts): (Vec<_>, Vec<_>) = sources.into_iter().partition(for_swoole);
        for (name, sources) in [("stubs.php", firsts), ("stubs.second.php", seconds)] {
            // A file of traits alone shows nothing.
            let shown = |source: &&Source| source.file != File::default() && source.name != SERVED;
            let texts = sources.iter().filter(shown).map(|source| source.text.as_str());
            let text = print(version, texts) + &further_names(sources.iter().flat_map(|source| &source.file.classes));
            let out = self::folder("OUT_DIR").join(name);
            fs::write(&out, text).map_err(|error| io(&out, error))?;
        }
        Ok(())
    });
    if let Err(wrong) = written {
        fail(&wrong);
    }
}
