//! The form of the log's lines there, for what reads them: `[2026-11-23 12:00:00 *123.0]\tWARNING\tmessage`.

use std::fmt::Write as _;

use apus_process::log::{self, Level};
use jiff::Zoned;

/// At module start.
pub(super) fn prepare() {
    log::on_head(write_head);
}

/// Local time, a mark for the role of the process, its id and its number among them, and how grave the line is.
fn write_head(line: &mut String, level: Level) {
    let (mark, id) = log::process();
    let now = Zoned::now().strftime("%Y-%m-%d %H:%M:%S").to_string();
    let level = match level {
        Level::Debug => "DEBUG",
        Level::Trace => "TRACE",
        Level::Info => "INFO",
        Level::Notice => "NOTICE",
        Level::Warning => "WARNING",
        Level::Error => "ERROR",
    };
    let _ = write!(line, "[{now} {mark}{}.{id}]\t{level}\t", std::process::id());
}
