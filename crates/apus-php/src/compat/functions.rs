//! The functions named `swoole_*` that none of ours answers as it is.

use apus_zend::arg::OrFalse;
use apus_zend::value::ArrayView;
use apus_zend::{Call, Raise};

use super::part;
use crate::system::{event, host};
use crate::timer;

fn swoole_version(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(super::VERSION.to_bytes())
}

fn swoole_async_set(settings: ArrayView<'_>) -> Result<bool, Raise> {
    crate::coroutine::set_known(settings)?;
    Ok(true)
}

fn swoole_clear_dns_cache() {}

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
