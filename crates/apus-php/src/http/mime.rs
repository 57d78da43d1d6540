//! The media type of a file that is sent.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

thread_local! {
    /// Those that the program has named, by the lower-case extension; `None` for what it does not want known.
    static OWN: RefCell<HashMap<String, Option<String>>> = RefCell::default();
}

/// The extension of a file's name, or what stands for one.
fn extension(name: &Path) -> Option<String> {
    Some(name.extension()?.to_str()?.to_ascii_lowercase())
}

/// What is known of a file's name; with the character set of texts.
fn known(name: &Path) -> Option<String> {
    let own = extension(name).and_then(|extension| OWN.with_borrow(|own| own.get(&extension).cloned()));
    own.unwrap_or_else(|| mime_guess::from_path(name).first().map(|guess| guess.to_string()))
}

/// By the file name's extension; `application/octet-stream` when it says nothing.
pub(super) fn of(path: &Path) -> String {
    let found = plain(path);
    if found.starts_with("text/") && !found.contains(';') { format!("{found}; charset=UTF-8") } else { found }
}

/// The same without the character set.
pub(crate) fn plain(path: &Path) -> String {
    known(path).unwrap_or_else(|| "application/octet-stream".to_owned())
}

/// Whether something is known of a file's name.
pub(crate) fn is_known(path: &Path) -> bool {
    known(path).is_some()
}

/// Names the type of an extension; `None`: it has none.
pub(crate) fn set(extension: &str, kind: Option<&str>) {
    OWN.with_borrow_mut(|own| own.insert(extension.to_ascii_lowercase(), kind.map(str::to_owned)));
}
