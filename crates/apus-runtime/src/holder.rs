//! Of two coroutines at one thing: where the one stands that had it first, for who reads the fatal error of the other.

use std::cell::RefCell;

use apus_coro::Task;
use apus_zend::engine::Thrown;

use crate::backtrace;
use crate::runtime::PhpSwitch;

thread_local! {
    /// The message of an exception that tells of two coroutines at one thing, and what there is said of the other.
    static HOLDER: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Frames of a coroutine that are told of.
const MOST_FRAMES: i64 = 64;

/// Notes who has what a coroutine wanted: told behind the exception with this message, where it ends the script.
pub fn note(message: &str, holder: &Task<PhpSwitch>) {
    // It may be thrown already, and PHP calls nothing meanwhile.
    let pending = Thrown::take();
    if let Ok(trace) = holder.data().fiber().backtrace(0, MOST_FRAMES) {
        let (cid, line, frames) = (holder.id(), "-".repeat(67), backtrace::text(&trace));
        let text = format!("\n [Coroutine-{cid}] Stack trace:\n {line}\n{frames}");
        HOLDER.set(Some((message.to_owned(), text)));
    } else {
        drop(Thrown::take());
    }
    let _ = pending.map(Thrown::rethrow);
}

/// What was noted of the exception with this message.
pub(crate) fn take(message: &str) -> Option<String> {
    HOLDER.take().filter(|(noted, _)| noted == message).map(|(_, text)| text)
}
