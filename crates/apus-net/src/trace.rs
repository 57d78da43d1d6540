//! What a request is called in logs: its trace, as W3C Trace Context has it.
//!
//! Nothing is made before somebody asks.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::{self, Write as _};

use apus_shm::ForkEpoch;

/// Bytes of an unpredictable kind that are taken from the kernel at a time.
const POOL: usize = 768;

/// Whose traces are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFrom {
    /// Nobody's: each request begins a trace.
    Nobody,
    /// Those of trusted peers.
    Trusted,
    /// Everybody's.
    Anybody,
}

/// A trace of somebody else's that goes on here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Given {
    id: [u8; 16],
    flags: u8,
}

/// The trace of a request.
#[derive(Debug)]
pub struct Trace {
    given: Option<Given>,
    id: OnceCell<[u8; 16]>,
    /// What this request is called within the trace.
    span: OnceCell<[u8; 8]>,
}

impl Trace {
    /// `traceparent`: what the request says of it, if it is believed.
    pub(crate) fn new(traceparent: Option<&[u8]>) -> Self {
        Self { given: traceparent.and_then(read), id: OnceCell::new(), span: OnceCell::new() }
    }

    fn id(&self) -> [u8; 16] {
        *self.id.get_or_init(|| self.given.map_or_else(random, |given| given.id))
    }

    /// What to hand on to another service: the header field `traceparent`.
    pub fn parent(&self) -> String {
        // Whether it is recorded is what the caller said; what begins here is.
        let flags = self.given.map_or(1, |given| given.flags);
        let mut text = String::with_capacity(55);
        let _ = write!(text, "00-{self}-{}-{flags:02x}", Hex(self.span.get_or_init(random)));
        text
    }
}

/// The id: 32 digits.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.id()).fmt(f)
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
        self.0.iter().try_for_each(|byte| {
            f.write_char(digit(byte >> 4))?;
            f.write_char(digit(*byte))
        })
    }
}

/// Reads a `traceparent` (W3C Trace Context, section 3.2): of a later version what the first one has.
fn read(value: &[u8]) -> Option<Given> {
    let [version, id, span, flags] = [0..2, 3..35, 36..52, 53..55].map(|range| value.get(range));
    let (mut number, mut trace, mut parent, mut flag) = ([0; 1], [0; 16], [0; 8], [0; 1]);
    unhex(version?, &mut number)?;
    unhex(id?, &mut trace)?;
    unhex(span?, &mut parent)?;
    unhex(flags?, &mut flag)?;
    let dashes = [2, 35, 52].iter().all(|at| value.get(*at) == Some(&b'-'));
    let ends = value.len() == 55 || number[0] > 0 && value.get(55) == Some(&b'-');
    let is_valid = dashes && ends && number[0] != 0xff && trace != [0; 16] && parent != [0; 8];
    // Of the flags the first version knows one.
    is_valid.then_some(Given { id: trace, flags: flag[0] & 1 })
}

/// Lower-case digits alone.
fn unhex(text: &[u8], into: &mut [u8]) -> Option<()> {
    let half = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    for (byte, digits) in into.iter_mut().zip(text.chunks_exact(2)) {
        *byte = half(digits[0])? << 4 | half(digits[1])?;
    }
    Some(())
}

/// Bytes that nobody else has; never all zeros.
fn random<const N: usize>() -> [u8; N] {
    thread_local! {
        static BYTES: RefCell<[u8; POOL]> = const { RefCell::new([0; POOL]) };
        /// How many of them are left, and the process that they are of: a forked one would give out the same.
        static LEFT: Cell<(usize, Option<ForkEpoch>)> = const { Cell::new((0, None)) };
    }
    BYTES.with_borrow_mut(|bytes| {
        let (mut left, of) = LEFT.get();
        if left < N || !of.is_some_and(ForkEpoch::is_now) {
            fill(bytes);
            left = POOL;
        }
        LEFT.set((left - N, Some(ForkEpoch::now())));
        let mut taken = [0; N];
        taken.copy_from_slice(&bytes[left - N..left]);
        if taken == [0; N] {
            taken[0] = 1;
        }
        taken
    })
}

#[cold]
fn fill(bytes: &mut [u8; POOL]) {
    if getrandom::fill(bytes).is_err() {
        // No kernel that this runs on refuses; the ids need not be secret, but different.
        use std::hash::{BuildHasher, RandomState};
        let now = std::time::SystemTime::now();
        for (at, chunk) in bytes.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&RandomState::new().hash_one((now, std::process::id(), at)).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn taken(value: &str) -> bool {
        Trace::new(Some(value.as_bytes())).to_string() == TRACE
    }

    #[test]
    fn a_trace_goes_on() {
        let trace = Trace::new(Some(format!("00-{TRACE}-00f067aa0ba902b7-00").as_bytes()));
        assert_eq!(trace.to_string(), TRACE);
        let parent = trace.parent();
        assert!(parent.starts_with(&format!("00-{TRACE}-")) && parent.ends_with("-00"), "{parent}");
        assert!(!parent.contains("00f067aa0ba902b7"), "{parent}: this request is another span");
        assert_eq!(trace.parent(), parent);
        assert!(taken(&format!("01-{TRACE}-00f067aa0ba902b7-03-more")), "a later version");
    }

    #[test]
    fn what_is_no_traceparent_begins_a_trace() {
        let span = "00f067aa0ba902b7";
        let upper = TRACE.to_uppercase();
        for wrong in [
            String::new(),
            TRACE.to_owned(),
            format!("ff-{TRACE}-{span}-01"),
            format!("00-{TRACE}-{span}-01-more"),
            format!("01-{TRACE}-{span}-01more"),
            format!("00-{TRACE}-{span}-0"),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00_{TRACE}-{span}-01"),
            format!("00-{upper}-{span}-01"),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{}-{span}-01", "é".repeat(16)),
        ] {
            assert!(!taken(&wrong), "{wrong}");
        }
    }

    #[test]
    fn traces_that_begin_here_are_different_also_in_a_child() {
        let begun: Vec<_> = (0..200).map(|_| Trace::new(None).to_string()).collect();
        let mut unique = begun.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), begun.len());
        assert!(begun.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
        assert!(Trace::new(None).parent().ends_with("-01"));
    }
}
