//! One message to everybody: the process of share 0 sends, each tells when its last connection has it.

use std::io;

use crate::args::Options;
use crate::conn::{Conn, Events};
use crate::engine::{self, Engine, Random, now};
use crate::hist::Histogram;
use crate::report::Report;
use crate::share::{end, say};
use crate::wire::{self, Fault};

struct Receivers {
    /// How many of this process's connections have message `number`.
    number: u64,
    have: usize,
    last: u64,
    received: u64,
    latency: Histogram,
    random: Random,
    faults: Vec<Fault>,
}

/// Orders: `send N` to all processes for each message (0 is the warm-up), then `report`.
pub fn run(engine: &mut Engine, _: &Options, mut report: Report) -> io::Result<()> {
    let mut all = Receivers {
        number: 0,
        have: 0,
        last: 0,
        received: 0,
        latency: Histogram::default(),
        random: engine.fork_random(),
        faults: Vec::new(),
    };
    say(&format!("ready {}", engine.alive()))?;
    let mut cpu = engine::cpu();
    loop {
        match engine.next_order().as_deref().and_then(|order| order.split_once(' ')) {
            Some(("send", number)) => {
                let number = number.parse().unwrap_or(0);
                if number <= 1 {
                    all.latency = Histogram::default();
                    cpu = engine::cpu();
                }
                all.pass(engine, number)?;
            }
            Some(("report", _)) => break,
            _ => engine.turn(None, &mut all)?,
        }
    }
    report.count("received", all.received);
    report.count("client_cpu_ns", engine::cpu() - cpu);
    report.hist("latency", &all.latency);
    all.faults.into_iter().for_each(|fault| report.failure(fault));
    end(engine, &report)
}

impl Receivers {
    /// Sends, where this process is the one that does, and turns until all connections have it or another order comes.
    fn pass(&mut self, engine: &mut Engine, number: u64) -> io::Result<()> {
        // The message of another process may have been quicker than the order.
        if self.number != number {
            (self.number, self.have) = (number, 0);
        }
        if engine.share() == 0 {
            let begun = now();
            let payload = format!("b:{number:06}:{begun:020}");
            let (mask, mut scratch) = (self.random.mask(), Vec::new());
            let sent = engine.conns().next().map(|conn| conn.send(wire::TEXT, payload.as_bytes(), mask, &mut scratch));
            match sent {
                Some(Ok(())) => say(&format!("sent {number} {begun}"))?,
                Some(Err(fault)) => self.faults.push(fault),
                None => self.faults.push("no connection to send with".into()),
            }
        }
        while self.number == number && self.have < engine.alive() {
            if engine.has_order() {
                return Ok(());
            }
            engine.turn(None, self)?;
        }
        say(&format!("got {number} {}", self.last))
    }
}

/// `b:NUMBER:NANOSECONDS`
fn parse(payload: &[u8]) -> Option<(u64, u64)> {
    let (number, sent) = std::str::from_utf8(payload.strip_prefix(b"b:")?).ok()?.split_once(':')?;
    Some((number.parse().ok()?, sent.parse().ok()?))
}

impl Events for Receivers {
    fn opened(&mut self, _: &mut Conn, _: u64) -> Result<(), Fault> {
        Err("opened when nothing was asked for".into())
    }

    fn message(&mut self, conn: &mut Conn, _: u8, payload: &[u8], _: u64) -> Result<(), Fault> {
        let (number, sent) = parse(payload).ok_or("not the message that was sent")?;
        if number != self.number {
            (self.number, self.have) = (number, 0);
        }
        // Numbers go up from 0; a connection's `sequence` is the one it waits for.
        if number != conn.sequence {
            return Err("a message twice, or one left out".into());
        }
        conn.sequence = number + 1;
        self.have += 1;
        self.last = now();
        self.received += u64::from(number > 0);
        self.latency.record(self.last.saturating_sub(sent));
        Ok(())
    }

    fn lost(&mut self, _: &Conn, fault: Fault) {
        self.faults.push(fault);
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn messages_carry_number_and_time() {
        assert_eq!(parse(b"b:000007:00000000000000000123"), Some((7, 123)));
        for wrong in ["", "b:", "b:7", "c:7:8", "b:7:x"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
