//! The classes and functions that are written in PHP: `php/library`, which code written for Swoole finds.

use apus_zend::engine;
use apus_zend::library::{self, Library, Source};

include!(concat!(env!("OUT_DIR"), "/library.rs"));

struct Embedded;

impl Library for Embedded {
    fn class(lc_name: &[u8]) -> Option<&'static Source> {
        let at = CLASSES.binary_search_by(|(name, _)| name.as_bytes().cmp(lc_name)).ok()?;
        let wanted = is_on() && (!lc_name.starts_with(b"co\\") || with_short());
        wanted.then(|| &CLASSES[at].1)
    }

    fn functions() -> &'static [Source] {
        match (is_on(), with_short()) {
            (false, _) => &[],
            (true, false) => &FUNCTIONS[..LONG_NAMED],
            (true, true) => FUNCTIONS,
        }
    }
}

fn is_on() -> bool {
    engine::ini_switch("swoole.enable_library")
}

fn with_short() -> bool {
    engine::ini_switch("swoole.use_shortname")
}

/// At module start.
pub(super) fn install() {
    library::install::<Embedded>();
}
