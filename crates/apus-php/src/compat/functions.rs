//! The functions named `swoole_*` that none of ours answers as it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use apus_process::log::{self, Level};
use apus_zend::arg::OrFalse;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Call, Raise};

use super::part;
use crate::last_error;
use crate::swoole;
use crate::system::{event, host};
use crate::timer;
use apus_edge::types;

fn swoole_version(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(super::VERSION.to_bytes())
}

fn swoole_set_last_error(error: i64) {
    last_error::fail(error);
}

fn swoole_async_set(settings: ArrayView<'_>) -> Result<bool, Raise> {
    crate::coroutine::set_known(settings)?;
    let file = settings.iter().find(|(key, _)| matches!(key, Key::Str(b"log_file")));
    if let Some(View::Str(path)) = file.map(|(_, value)| value.view())
        && let Err(error) = log::open(Path::new(OsStr::from_bytes(path)))
    {
        swoole::warning(&format!("log_file {}: {error}", String::from_utf8_lossy(path)))?;
        return Ok(false);
    }
    Ok(true)
}

fn swoole_clear_dns_cache() {}

/// A file name of which only the extension matters.
fn named(extension: &[u8]) -> PathBuf {
    Path::new("file").with_extension(OsStr::from_bytes(extension))
}

fn swoole_mime_type_add(suffix: &[u8], mime_type: String) -> bool {
    let fresh = !types::is_known(&named(suffix));
    if fresh {
        swoole_mime_type_set(suffix, mime_type);
    }
    fresh
}

fn swoole_mime_type_set(suffix: &[u8], mime_type: String) {
    types::set(&String::from_utf8_lossy(suffix), Some(&mime_type));
}

fn swoole_mime_type_delete(suffix: &[u8]) -> bool {
    let known = types::is_known(&named(suffix));
    types::set(&String::from_utf8_lossy(suffix), None);
    known
}

fn swoole_mime_type_get(filename: &[u8]) -> String {
    types::plain(Path::new(OsStr::from_bytes(filename)))
}

fn swoole_mime_type_exists(filename: &[u8]) -> bool {
    types::is_known(Path::new(OsStr::from_bytes(filename)))
}

/// The levels of `SWOOLE_LOG_*` are those of the log, below `SWOOLE_LOG_NONE`.
fn swoole_error_log(level: i64, msg: &[u8]) {
    const LEVELS: [Level; 6] = [Level::Debug, Level::Trace, Level::Info, Level::Notice, Level::Warning, Level::Error];
    if let Some(level) = usize::try_from(level).ok().and_then(|level| LEVELS.get(level)) {
        log::there(*level, format_args!("{}", String::from_utf8_lossy(msg)));
    }
}

fn swoole_error_log_ex(level: i64, error: i64, msg: &[u8]) {
    if !swoole::is_ignored(error) {
        let text = String::from_utf8_lossy(msg);
        swoole_error_log(level, format!("(ERRNO {error}): {text}").as_bytes());
    }
}

fn swoole_ignore_error(error: i64) {
    swoole::ignore(error);
}

/// `swoole_hashcode()`.
fn swoole_hashcode(data: &[u8], kind: i64) -> OrFalse<i64> {
    OrFalse(match kind {
        0 => Some(times_33(data)),
        1 => Some(i64::from(one_at_a_time(data))),
        _ => None,
    })
}

/// The hash of PHP's arrays: Bernstein's, times 33, with the highest bit set.
fn times_33(data: &[u8]) -> i64 {
    let hash = data.iter().fold(5381_u64, |hash, byte| hash.wrapping_mul(33).wrapping_add(u64::from(*byte)));
    (hash | 1 << 63).cast_signed()
}

/// Jenkins' "one at a time".
fn one_at_a_time(data: &[u8]) -> u32 {
    let mixed = data.iter().fold(0_u32, |hash, byte| {
        let hash = hash.wrapping_add(u32::from(*byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    let mixed = mixed.wrapping_add(mixed << 3);
    let mixed = mixed ^ (mixed >> 11);
    mixed.wrapping_add(mixed << 15)
}

apus_zend::stub!("swoole/functions");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_the_field() {
        // PHP's own begins with 5381, and sets the highest bit.
        assert_eq!(times_33(b"").cast_unsigned() - (1 << 63), 5381);
        assert_eq!(times_33(b"a").cast_unsigned() - (1 << 63), 5381 * 33 + 97);
        // The examples of the algorithm's description.
        assert_eq!(one_at_a_time(b"a"), 0xca2e_9442);
        assert_eq!(one_at_a_time(b"The quick brown fox jumps over the lazy dog"), 0x519e_91f5);
    }
}
