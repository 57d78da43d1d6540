//! The media type of a file that is sent.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// Whether only top-level types count that IANA has registered.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Those that the program has named, by the lower-case extension; `None` for what it does not want known.
static OWN: RwLock<BTreeMap<String, Option<String>>> = RwLock::new(BTreeMap::new());

/// The extension of a file's name, or what stands for one.
fn extension(name: &Path) -> Option<String> {
    Some(name.extension()?.to_str()?.to_ascii_lowercase())
}

/// What is known of a file's name; with the character set of texts.
fn known(name: &Path) -> Option<String> {
    let own = OWN.read().unwrap_or_else(PoisonError::into_inner);
    let own = extension(name).and_then(|extension| own.get(&extension).cloned());
    own.unwrap_or_else(|| {
        let guess = mime_guess::from_path(name).first().map(|guess| guess.to_string());
        guess.filter(|kind| !REGISTERED.load(Ordering::Relaxed) || !is_unregistered(kind))
    })
}

/// Whether nobody has registered what the type begins with: `chemical/` and the top-level types of experiments.
fn is_unregistered(kind: &str) -> bool {
    kind.starts_with("chemical/") || kind.starts_with("x-")
}

/// From now on files of such types are bytes, as code written for Swoole has it.
pub fn only_registered() {
    REGISTERED.store(true, Ordering::Relaxed);
}

/// By the file name's extension; `application/octet-stream` when it says nothing.
pub fn of(path: &Path) -> String {
    let found = plain(path);
    if found.starts_with("text/") && !found.contains(';') { format!("{found}; charset=UTF-8") } else { found }
}

/// The same without the character set.
pub fn plain(path: &Path) -> String {
    known(path).unwrap_or_else(|| "application/octet-stream".to_owned())
}

/// Whether something is known of a file's name.
pub fn is_known(path: &Path) -> bool {
    known(path).is_some()
}

/// Names the type of an extension; `None`: it has none.
pub fn set(extension: &str, kind: Option<&str>) {
    let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
    own.insert(extension.to_ascii_lowercase(), kind.map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_character_set_and_the_unknown_a_type() {
        assert_eq!(of(Path::new("a.HTML")), "text/html; charset=UTF-8");
        assert_eq!(of(Path::new("a.png")), "image/png");
        assert_eq!(of(Path::new("a")), "application/octet-stream");
        set("X-Own", Some("text/own"));
        assert_eq!(of(Path::new("b.x-own")), "text/own; charset=UTF-8");
    }
}
