//! What a process has counted and what lives on when it is gone: the master adds it to its own sums then, so that no
//! counter ever goes back.

use crate::counter::Counter;

/// Methods that are told apart; the last stands for all others.
pub const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "other"];

/// Status codes that are told apart. Behind them stand the classes of the others, 1xx to 5xx.
const CODES: [u16; 46] = [
    101, 200, 201, 202, 203, 204, 205, 206, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409,
    410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 425, 426, 428, 429, 431, 499, 500, 501, 502, 503, 504, 505,
];
const COLUMNS: usize = 64;
const FIRST_CLASS: usize = CODES.len();
/// The column of each status code from 0 to 599.
static COLUMN_OF: [u8; 600] = columns();

const fn columns() -> [u8; 600] {
    let mut columns = [0; 600];
    let mut code = 0;
    while code < 600 {
        // What is below 100 is no status code, and is counted with the last class.
        let class = if code < 100 { 4 } else { code / 100 - 1 };
        columns[code] = (FIRST_CLASS + class) as u8;
        code += 1;
    }
    let mut at = 0;
    while at < CODES.len() {
        columns[CODES[at] as usize] = at as u8;
        at += 1;
    }
    columns
}

/// Answers by method and status code.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Answers([[Counter; COLUMNS]; METHODS.len()]);

impl Answers {
    /// What the column of a status code is called.
    fn code(column: usize) -> Option<String> {
        match CODES.get(column) {
            Some(code) => Some(code.to_string()),
            None => (column < FIRST_CLASS + 5).then(|| format!("{}xx", column - FIRST_CLASS + 1)),
        }
    }
}

/// The counters.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Tally {
    answers: Answers,
    /// Requests that were refused before the program saw them.
    pub refused: Counter,
    /// Requests whose clients left before the answer was complete.
    pub lost: Counter,
    /// TLS handshakes that agreed on new keys.
    pub tls_full: Counter,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: Counter,
    /// TLS handshakes that failed.
    pub tls_failed: Counter,
    /// Streams of HTTP/2 that clients opened.
    pub http2_streams: Counter,
    /// Streams of HTTP/2 that clients broke off.
    pub http2_resets_received: Counter,
    /// Streams of HTTP/2 that the server broke off.
    pub http2_resets_sent: Counter,
    /// Lines of the access log for which there was no room.
    pub access_dropped: Counter,
    /// Times that a coroutine waited for a connection of a pool in vain.
    pub pool_exhausted: Counter,
    /// Times that a coroutine waited for a connection of a pool.
    pub pool_waits: Counter,
    /// Connections that pools made.
    pub pool_created: Counter,
}

impl Tally {
    /// Counts an answer; `method` is an index of [`METHODS`].
    #[inline]
    pub fn answered(&self, method: usize, status: u16) {
        let column = COLUMN_OF.get(usize::from(status)).map_or(FIRST_CLASS + 4, |column| usize::from(*column));
        if let Some(counter) = self.answers.0.get(method).and_then(|row| row.get(column)) {
            counter.add(1);
        }
    }

    /// The answers counted: method, status code and how many.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (&'static str, String, u64)> {
        METHODS.iter().zip(&self.answers.0).flat_map(|(method, row)| {
            row.iter()
                .enumerate()
                .filter_map(move |(column, counter)| Some((*method, Answers::code(column)?, counter.get())))
        })
    }

    fn singles(&self) -> [&Counter; 12] {
        [
            &self.refused,
            &self.lost,
            &self.tls_full,
            &self.tls_resumed,
            &self.tls_failed,
            &self.http2_streams,
            &self.http2_resets_received,
            &self.http2_resets_sent,
            &self.access_dropped,
            &self.pool_exhausted,
            &self.pool_waits,
            &self.pool_created,
        ]
    }

    fn all(&self) -> impl Iterator<Item = &Counter> {
        self.answers.0.iter().flatten().chain(self.singles())
    }

    /// Adds what a process that is gone has counted.
    pub(crate) fn take_over(&self, other: &Self) {
        for (sum, counter) in self.all().zip(other.all()) {
            // What was never counted takes no memory, and is not to take any now.
            if counter.get() > 0 {
                sum.add(counter.get());
            }
        }
    }

    pub(crate) fn clear(&self) {
        self.all().filter(|counter| counter.get() > 0).for_each(|counter| counter.set(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_shm::Shared;

    #[repr(C)]
    struct Two([Tally; 2]);

    // SAFETY: arrays of counters, which are atomics.
    unsafe impl Shared for Two {}

    #[test]
    fn answers_are_counted_by_method_and_code_and_outlive_their_process() {
        let Two([sum, process]) = &apus_shm::map::<Two>(1).unwrap()[0];
        for (method, status) in [(0, 200), (0, 200), (2, 404), (1, 299), (8, 599), (0, 999), (0, 7), (99, 200)] {
            process.answered(method, status);
        }
        sum.take_over(process);
        process.clear();
        process.answered(0, 200);
        sum.take_over(process);
        let counted: Vec<_> = sum.answers().filter(|(.., count)| *count > 0).collect();
        let row = |method, code: &str, count| (method, code.to_owned(), count);
        assert_eq!(
            counted,
            [
                row("GET", "200", 3),
                row("GET", "5xx", 2),
                row("HEAD", "2xx", 1),
                row("POST", "404", 1),
                row("other", "5xx", 1)
            ]
        );
    }
}
