//! Asking the DNS itself, for records that are no addresses (resolver(3)).

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use apus_zend::hook::set_resolver_error;

use super::gate::{Gate, errno, fail, gate};
use super::resolve::{NAMES, h_errno_slot, owned};

/// The resolver's state, into which only a failure is written: a thread has its own.
type ResolverState = c_void;

/// Bytes of an answer that are taken at most: what DNS over TCP can carry.
const ANSWER: usize = 65_535;

/// A function that asks, by the thread's own resolver.
type Ask = unsafe extern "C" fn(*const c_char, c_int, c_int, *mut u8, c_int) -> c_int;

/// What is asked, and bytes there are for the answer.
#[derive(Clone, Copy)]
struct Question {
    name: *const c_char,
    class: c_int,
    kind: c_int,
    room: c_int,
}

/// `res_nsearch(3)` and `res_nquery(3)` by another thread, with the system's own configuration.
///
/// # Safety
/// The caller's arguments.
unsafe fn resolve(gate: &Gate, ask: Ask, state: *mut ResolverState, question: Question, answer: *mut u8) -> c_int {
    let Question { name, class, kind, room } = question;
    // SAFETY: the caller's text.
    let Some(name) = (unsafe { owned(name) }) else { return fail(libc::EINVAL) };
    let room = usize::try_from(room).unwrap_or(0).min(ANSWER);
    let asked = gate.on_thread(move || {
        let mut bytes = vec![0u8; room];
        // SAFETY: text that ends in NUL, and a buffer of that size; each thread has a resolver of its own.
        unsafe {
            let len = ask(name.as_ptr(), class, kind, bytes.as_mut_ptr(), room as c_int);
            (len, *h_errno_slot(), errno(), bytes)
        }
    });
    match asked {
        Ok((len, _, _, bytes)) if len >= 0 => {
            // SAFETY: the caller's buffer, of that size.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), answer, bytes.len().min(len as usize)) };
            gate.success(len)
        }
        Ok((_, h_errno, errno, _)) => {
            // SAFETY: this thread's own h_errno, and the caller's state.
            unsafe {
                *h_errno_slot() = h_errno;
                set_resolver_error(state, h_errno);
            }
            fail(errno)
        }
        Err(errno) => fail(errno),
    }
}

macro_rules! resolver {
    ($name:ident, $thread:ident, $what:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) unsafe extern "C" fn $name(
            state: *mut ResolverState,
            name: *const c_char,
            class: c_int,
            kind: c_int,
            answer: *mut u8,
            room: c_int,
        ) -> c_int {
            #[link(name = "resolv")]
            unsafe extern "C" {
                fn $name(
                    state: *mut ResolverState,
                    name: *const c_char,
                    class: c_int,
                    kind: c_int,
                    answer: *mut u8,
                    room: c_int,
                ) -> c_int;
                fn $thread(name: *const c_char, class: c_int, kind: c_int, answer: *mut u8, room: c_int) -> c_int;
            }
            // SAFETY: the caller's arguments.
            unsafe {
                match gate($what, NAMES) {
                    Some(gate) => resolve(&gate, $thread, state, Question { name, class, kind, room }, answer),
                    None => $name(state, name, class, kind, answer, room),
                }
            }
        }
    };
}

resolver!(res_nsearch, res_search, "res_nsearch()", "`res_nsearch(3)`.");
resolver!(res_nquery, res_query, "res_nquery()", "`res_nquery(3)`.");

macro_rules! simple_resolver {
    ($name:ident, $what:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) unsafe extern "C" fn $name(
            name: *const c_char,
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
                match gate($what, NAMES) {
                    Some(gate) => resolve(&gate, $name, ptr::null_mut(), Question { name, class, kind, room }, answer),
                    None => $name(name, class, kind, answer, room),
                }
            }
        }
    };
}

simple_resolver!(res_search, "res_search()", "`res_search(3)`.");
simple_resolver!(res_query, "res_query()", "`res_query(3)`.");
