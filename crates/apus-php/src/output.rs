//! What PHP code prints in a server: a reader that is gone ends no request, and one that does not read holds up no
//! worker.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use apus_process::log;
use apus_zend::output;
use tokio::sync::Notify;

use crate::traced;

/// Whether this is a server's process.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Something waits to be written.
static HELD: Notify = Notify::const_new();
/// How often its reader is tried.
const PERIOD: Duration = Duration::from_millis(100);

/// In the master of a server, before its processes are forked: nothing that they print is waited for.
pub(crate) fn take() {
    log::on_held(|| HELD.notify_one());
    TAKEN.store(true, Relaxed);
    output::take(print, Some(print_error));
}

/// Whatever PHP code prints. A handler that prints means something else.
fn print(text: &[u8]) {
    crate::mistakes::printing(text);
    log::output(text);
}

/// A line of PHP's own log. One that is an object of JSON stays one.
fn print_error(line: &[u8]) {
    match traced::current() {
        Some(trace) if !line.starts_with(b"{") => log::error_output(&[format!("[{trace}] ").as_bytes(), line].concat()),
        _ => log::error_output(line),
    }
}

/// In the master when its server has ended, and the script goes on.
pub(crate) fn give_back() {
    TAKEN.store(false, Relaxed);
    output::give_back();
}

/// In a script that serves from a coroutine: its output is its own, and waits for its reader, but one that is gone ends
/// nothing.
pub(crate) fn forgive() {
    // In a server's process it does not wait, either.
    if !TAKEN.load(Relaxed) {
        output::take(log::output_waiting, None);
    }
}

/// In a worker: writes what its reader did not take at once. Never ends.
pub(crate) async fn settle() {
    loop {
        HELD.notified().await;
        while log::settle() {
            tokio::time::sleep(PERIOD).await;
        }
    }
}
