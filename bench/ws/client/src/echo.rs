//! The closed loop: each connection has one message under way. What began is ended before CPU time is read.

use std::io;

use crate::args::Options;
use crate::conn::{Conn, Events};
use crate::engine::{self, Engine, Random, now};
use crate::hist::Histogram;
use crate::report::Report;
use crate::share::{end, ready, until};
use crate::wire::{self, Fault};

/// Digits at the end of a payload that tell which message it is.
const DIGITS: usize = 20;

struct Echoes {
    running: bool,
    under_way: usize,
    messages: u64,
    last: u64,
    latency: Histogram,
    payload: Vec<u8>,
    random: Random,
    scratch: Vec<u8>,
    faults: Vec<Fault>,
}

pub fn run(engine: &mut Engine, options: &Options, mut report: Report) -> io::Result<()> {
    let mut echoes = Echoes::new(engine, options.size);
    echoes.round(engine, options.warm, options.timeout)?;
    echoes.reset();
    ready(engine, engine.alive())?;
    let (begun, cpu) = (now(), engine::cpu());
    let missing = echoes.round(engine, options.seconds, options.timeout)?;
    for _ in 0..missing {
        report.failure("an echo never came".into());
    }
    report.count("messages", echoes.messages);
    report.count("client_cpu_ns", engine::cpu() - cpu);
    report.span("echo_time", begun, echoes.last);
    report.hist("latency", &echoes.latency);
    echoes.faults.into_iter().for_each(|fault| report.failure(fault));
    end(engine, &report)
}

impl Echoes {
    fn new(engine: &mut Engine, size: usize) -> Self {
        Self {
            running: false,
            under_way: 0,
            messages: 0,
            last: now(),
            latency: Histogram::default(),
            payload: vec![b'x'; size],
            random: engine.fork_random(),
            scratch: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn reset(&mut self) {
        (self.messages, self.latency) = (0, Histogram::default());
    }

    /// Lets all connections echo for so long; returns how many echoes had not come `timeout` seconds after that.
    fn round(&mut self, engine: &mut Engine, seconds: f64, timeout: f64) -> io::Result<usize> {
        if seconds <= 0.0 {
            return Ok(0);
        }
        let stop = now() + (seconds * 1e9) as u64;
        self.running = true;
        let mut broken = Vec::new();
        for conn in engine.conns() {
            match self.send(conn) {
                Ok(()) => self.under_way += 1,
                Err(fault) => broken.push((conn.number, fault)),
            }
        }
        for (number, fault) in broken {
            self.faults.push(fault);
            engine.drop_conn(number);
        }
        until(engine, self, stop, |echoes| echoes.under_way == 0)?;
        self.running = false;
        until(engine, self, stop + (timeout * 1e9) as u64, |echoes| echoes.under_way == 0)?;
        Ok(self.under_way)
    }

    fn send(&mut self, conn: &mut Conn) -> Result<(), Fault> {
        conn.sequence += 1;
        write_number(&mut self.payload, conn.number, conn.sequence);
        conn.since = now();
        conn.send(wire::TEXT, &self.payload, self.random.mask(), &mut self.scratch)
    }
}

/// The connection and its message, so that no other's echo is taken for it.
fn write_number(payload: &mut [u8], number: usize, sequence: u64) {
    let from = payload.len() - DIGITS;
    let mut value = number as u64 % 1_000_000_000 * 10_000_000_000 + sequence % 10_000_000_000;
    for digit in payload[from..].iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

impl Events for Echoes {
    fn opened(&mut self, _: &mut Conn, _: u64) -> Result<(), Fault> {
        Err("opened when nothing was asked for".into())
    }

    fn message(&mut self, conn: &mut Conn, opcode: u8, payload: &[u8], _: u64) -> Result<(), Fault> {
        write_number(&mut self.payload, conn.number, conn.sequence);
        if opcode != wire::TEXT || payload != self.payload {
            return Err("not the echo of what was sent".into());
        }
        // Other connections were served since the loop woke up: the time is read anew.
        self.last = now();
        self.latency.record(self.last - conn.since);
        self.messages += 1;
        if self.running {
            return self.send(conn);
        }
        self.under_way -= 1;
        Ok(())
    }

    fn lost(&mut self, _: &Conn, fault: Fault) {
        self.under_way = self.under_way.saturating_sub(1);
        self.faults.push(fault);
    }
}

#[cfg(test)]
mod tests {
    use super::write_number;

    #[test]
    fn payloads_name_connection_and_message() {
        let mut payload = vec![b'x'; 22];
        write_number(&mut payload, 123, 45);
        assert_eq!(payload, b"xx00000001230000000045");
    }
}
