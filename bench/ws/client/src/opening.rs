//! Opening connections: one handshake and one echo each.

use std::io;

use crate::args::Options;
use crate::conn::{Conn, Events};
use crate::engine::{Engine, now};
use crate::hist::Histogram;
use crate::report::Report;
use crate::wire::{self, Fault};

const HELLO: &[u8] = b"hello";

/// A connection's `sequence` while it waits for its first echo, and when it has had it.
const AWAITED: u64 = u64::MAX;
pub const OPEN: u64 = 0;

struct Opening {
    settled: usize,
    open: u64,
    first: u64,
    last: u64,
    handshake: Histogram,
    echo: Histogram,
    report: Report,
    random: crate::engine::Random,
    scratch: Vec<u8>,
}

/// Opens this process's share of the connections. The report has how many are open, why the others are not, from when
/// to when it took (`open`), and the latencies: `handshake` from the connection's begin to its 101, `echo` after that.
pub fn open(engine: &mut Engine, options: &Options, window: usize) -> io::Result<Report> {
    let count = options.part(options.connections);
    let begun = now();
    let deadline = begun + (options.timeout * 1e9) as u64;
    let window = options.part(window).max(usize::from(window > 0));
    let mut opening = Opening::new(engine, begun);
    engine.open(count, window, deadline, &mut opening, |opening| opening.settled, Opening::fail)?;
    engine.drop_unopened(&mut opening, |conn| conn.sequence == OPEN && conn.stage == crate::conn::Stage::Open);
    let Opening { settled, open, first, last, handshake, echo, mut report, .. } = opening;
    for _ in settled..count {
        report.failure("not begun before the time-out".into());
    }
    report.count("connected", open);
    report.span("open", first, last);
    report.hist("handshake", &handshake);
    report.hist("first_echo", &echo);
    Ok(report)
}

impl Opening {
    fn new(engine: &mut Engine, begun: u64) -> Self {
        Self {
            settled: 0,
            open: 0,
            first: begun,
            last: begun,
            handshake: Histogram::default(),
            echo: Histogram::default(),
            report: Report::default(),
            random: engine.fork_random(),
            scratch: Vec::new(),
        }
    }

    fn fail(&mut self, fault: Fault) {
        self.settled += 1;
        self.report.failure(fault);
    }
}

impl Events for Opening {
    fn opened(&mut self, conn: &mut Conn, now: u64) -> Result<(), Fault> {
        self.handshake.record(now - conn.since);
        conn.sequence = AWAITED;
        conn.since = now;
        conn.send(wire::TEXT, HELLO, self.random.mask(), &mut self.scratch)
    }

    fn message(&mut self, conn: &mut Conn, opcode: u8, payload: &[u8], now: u64) -> Result<(), Fault> {
        if conn.sequence != AWAITED || opcode != wire::TEXT || payload != HELLO {
            return Err("not the echo of what was sent".into());
        }
        conn.sequence = OPEN;
        self.echo.record(now - conn.since);
        self.open += 1;
        self.settled += 1;
        self.last = now;
        Ok(())
    }

    fn lost(&mut self, conn: &Conn, fault: Fault) {
        if conn.sequence == OPEN && conn.stage == crate::conn::Stage::Open {
            self.open -= 1;
            self.settled -= 1;
        }
        self.fail(fault);
    }
}
