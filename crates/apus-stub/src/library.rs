//! The PHP code in `php/library`, as a table that the module finds classes in.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder below it whose files declare functions.
const FUNCTIONS: &str = "functions";
/// The folder of those whose names can be switched off.
const SHORT_FUNCTIONS: &str = "functions/short";
/// Classes here are also found under the short name.
const LONG: &str = "swoole\\coroutine\\";
const SHORT: &str = "co\\";

fn php_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(php_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "php") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The Rust text of both tables: `CLASSES` is sorted by name; the first `LONG_NAMED` of `FUNCTIONS` are not short
/// names.
pub(crate) fn tables(folder: &Path) -> io::Result<String> {
    let mut classes = Vec::new();
    let (mut functions, mut short) = (Vec::new(), Vec::new());
    for path in php_files(folder)? {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let class = name.trim_end_matches(".php").replace('/', "\\").to_lowercase();
        // In traces they are called as there.
        let place = name.strip_prefix("Swoole/").map_or_else(|| name.clone(), |rest| format!("core/{rest}"));
        let is_class = !name.starts_with(FUNCTIONS);
        let declared = if is_class { class.as_str() } else { "" };
        let text = path.display().to_string();
        let source = format!("Source::new(c\"@swoole/library/{place}\", include_str!({text:?}), c{declared:?})");
        if !is_class {
            let list = if name.starts_with(SHORT_FUNCTIONS) { &mut short } else { &mut functions };
            list.push(source);
            continue;
        }
        if let Some(rest) = class.strip_prefix(LONG) {
            classes.push((format!("{SHORT}{rest}"), source.clone()));
        }
        classes.push((class, source));
    }
    classes.sort();
    let mut text = "static CLASSES: &[(&str, Source)] = &[\n".to_owned();
    for (name, source) in classes {
        writeln!(text, "    ({name:?}, {source}),").expect("a String");
    }
    let long = functions.len();
    functions.append(&mut short);
    let functions = functions.join(",\n    ");
    write!(text, "];\nstatic FUNCTIONS: &[Source] = &[\n    {functions}\n];\nconst LONG_NAMED: usize = {long};\n")
        .expect("a String");
    Ok(text)
}
