//! Asking the DNS itself, for records that are no addresses (resolver(3)).

use std::ffi::{CString, c_char, c_int, c_void};

use apus_zend::hook::set_resolver_error;

use super::args::{Bytes, Place, Text, bytes, fill};
use super::gate::{Gate, errno, fail, gate};
use super::resolve::NAMES;
use super::sys::{h_errno, set_h_errno};

/// The resolver's state, into which only a failure is written: a thread has its own.
type ResolverState<'a> = Place<'a, c_void>;

/// Bytes of an answer that are taken at most: what DNS over TCP can carry.
const ANSWER: usize = 65_535;

/// A function that asks, by the thread's own resolver.
type Ask = unsafe extern "C" fn(*const c_char, c_int, c_int, *mut u8, c_int) -> c_int;

/// `res_nsearch(3)` and `res_nquery(3)` by another thread, with the system's own configuration.
fn resolve(
    gate: &Gate,
    ask: Ask,
    state: ResolverState<'_>,
    asked: (CString, c_int, c_int),
    answer: &mut Bytes,
) -> c_int {
    let room = answer.len().min(ANSWER);
    let asked = gate.on_thread(move || {
        let (name, class, kind) = asked;
        let mut bytes = vec![0u8; room];
        // SAFETY: text that ends in NUL, and a buffer of that size; each thread has a resolver of its own.
        let len = unsafe { ask(name.as_ptr(), class, kind, bytes.as_mut_ptr(), room as c_int) };
        (len, h_errno(), errno(), bytes)
    });
    match asked {
        Ok((len, _, _, bytes)) if len >= 0 => {
            fill(answer, &bytes[..bytes.len().min(len as usize)]);
            gate.success(len)
        }
        Ok((_, h_errno, errno, _)) => {
            set_h_errno(h_errno);
            // SAFETY: the caller's state, or NULL.
            unsafe { set_resolver_error(state.as_ptr(), h_errno) };
            fail(errno)
        }
        Err(errno) => fail(errno),
    }
}

/// A resolver function: `by` another thread if it is to wait, else `plainly`.
///
/// # Safety
/// `answer` MUST have `room` bytes.
unsafe fn hooked(
    what: &'static str,
    by: Ask,
    state: ResolverState<'_>,
    (name, class, kind): (Text<'_>, c_int, c_int),
    (answer, room): (*mut u8, c_int),
    plainly: impl FnOnce() -> c_int,
) -> c_int {
    let Some(gate) = gate(what, NAMES) else { return plainly() };
    // SAFETY: by contract.
    let answer = unsafe { bytes(answer, usize::try_from(room).unwrap_or(0)) };
    let (Some(name), Some(answer)) = (name.to_owned(), answer) else { return fail(libc::EINVAL) };
    resolve(&gate, by, state, (name, class, kind), answer)
}

macro_rules! resolver {
    ($name:ident, $thread:ident, $what:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) unsafe extern "C" fn $name(
            state: ResolverState<'_>,
            name: Text<'_>,
            class: c_int,
            kind: c_int,
            answer: *mut u8,
            room: c_int,
        ) -> c_int {
            #[link(name = "resolv")]
            unsafe extern "C" {
                fn $name(
                    state: ResolverState<'_>,
                    name: Text<'_>,
                    class: c_int,
                    kind: c_int,
                    answer: *mut u8,
                    room: c_int,
                ) -> c_int;
                fn $thread(name: *const c_char, class: c_int, kind: c_int, answer: *mut u8, room: c_int) -> c_int;
            }
            // SAFETY: the caller's arguments.
            unsafe {
                let plainly = || $name(state, name, class, kind, answer, room);
                hooked($what, $thread, state, (name, class, kind), (answer, room), plainly)
            }
        }
    };
    ($name:ident, $what:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) unsafe extern "C" fn $name(
            name: Text<'_>,
            class: c_int,
            kind: c_int,
            answer: *mut u8,
            room: c_int,
        ) -> c_int {
            #[link(name = "resolv")]
            unsafe extern "C" {
                fn $name(name: *const c_char, class: c_int, kind: c_int, answer: *mut u8, room: c_int) -> c_int;
            }
            // SAFETY: the caller's arguments.
            unsafe {
                let plainly = || $name(name.as_ptr(), class, kind, answer, room);
                hooked($what, $name, Place::none(), (name, class, kind), (answer, room), plainly)
            }
        }
    };
}

resolver!(res_nsearch, res_search, "res_nsearch()", "`res_nsearch(3)`.");
resolver!(res_nquery, res_query, "res_nquery()", "`res_nquery(3)`.");
resolver!(res_search, "res_search()", "`res_search(3)`.");
resolver!(res_query, "res_query()", "`res_query(3)`.");
