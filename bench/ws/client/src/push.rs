//! Messages that one worker pushes to a connection of another. What the server has to do, in text messages:
//! `w` is answered with `w:WORKER:FD`; `p:FD:COUNT:GAP` makes it push COUNT messages to FD, GAP nanoseconds apart (0:
//! as fast as it can), each the time of its sending in 20 digits, and then answer `p:COUNT:NANOSECONDS` with how many
//! it pushed and how long that took.

use std::io;

use crate::args::Options;
use crate::conn::{Conn, Events};
use crate::engine::{self, Engine, Random, now};
use crate::hist::Histogram;
use crate::report::Report;
use crate::share::{end, ready, until};
use crate::wire::{self, Fault};

/// So many connections are tried until two workers have one; which worker takes a connection is up to the kernel.
const TRIES: usize = 64;
const WARM_MESSAGES: u64 = 5000;

struct Pushed {
    /// Answers to `w`: connection, worker, session id at the server.
    places: Vec<(usize, u64, u64)>,
    receiver: Option<usize>,
    received: u64,
    out_of_order: u64,
    first: u64,
    last: u64,
    last_sent: u64,
    latency: Histogram,
    /// Answer to `p`: how many were pushed, in how long.
    done: Option<(u64, u64)>,
    random: Random,
    scratch: Vec<u8>,
    faults: Vec<Fault>,
}

pub fn run(engine: &mut Engine, options: &Options) -> io::Result<()> {
    let mut pushed = Pushed::new(engine);
    let deadline = now() + (options.timeout * 1e9) as u64;
    let Some((sender, receiver)) = pushed.find(engine, deadline)? else {
        let mut report = Report::default();
        report.failure("no two workers answered `w`".into());
        pushed.faults.into_iter().for_each(|fault| report.failure(fault));
        ready(engine, 0)?;
        return end(engine, &report);
    };
    pushed.round(engine, (sender, receiver), WARM_MESSAGES.min(options.messages), options)?;
    ready(engine, engine.alive())?;
    let cpu = engine::cpu();
    pushed.round(engine, (sender, receiver), options.messages, options)?;
    let mut report = Report::default();
    let (sent, sender_ns) = pushed.done.unwrap_or_default();
    report.count("connected", engine.alive() as u64);
    report.count("pushed", sent);
    report.count("received", pushed.received);
    report.count("out_of_order", pushed.out_of_order);
    report.count("sender_ns", sender_ns);
    report.count("client_cpu_ns", engine::cpu() - cpu);
    report.span("push_time", pushed.first, pushed.last);
    report.hist("latency", &pushed.latency);
    if pushed.done.is_none() {
        report.failure("the sender did not answer".into());
    }
    for _ in pushed.received..options.messages {
        report.failure("a message never came".into());
    }
    pushed.faults.into_iter().for_each(|fault| report.failure(fault));
    end(engine, &report)
}

impl Pushed {
    fn new(engine: &mut Engine) -> Self {
        Self {
            places: Vec::new(),
            receiver: None,
            received: 0,
            out_of_order: 0,
            first: 0,
            last: 0,
            last_sent: 0,
            latency: Histogram::default(),
            done: None,
            random: engine.fork_random(),
            scratch: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Opens connections until two workers have one: the sender's number, and the receiver's with its session id.
    fn find(&mut self, engine: &mut Engine, deadline: u64) -> io::Result<Option<(usize, (usize, u64))>> {
        for _ in 0..TRIES {
            if let Err(fault) = engine.connect(self) {
                self.faults.push(fault);
                return Ok(None);
            }
            let wanted = self.places.len() + 1;
            until(engine, self, deadline, |pushed| pushed.places.len() >= wanted || !pushed.faults.is_empty())?;
            if !self.faults.is_empty() {
                return Ok(None);
            }
            let Some(&(sender, worker, _)) = self.places.first() else { return Ok(None) };
            if let Some(&(receiver, _, fd)) = self.places.iter().find(|place| place.1 != worker) {
                return Ok(Some((sender, (receiver, fd))));
            }
        }
        Ok(None)
    }

    fn round(
        &mut self,
        engine: &mut Engine,
        (sender, (receiver, fd)): (usize, (usize, u64)),
        messages: u64,
        options: &Options,
    ) -> io::Result<()> {
        self.receiver = Some(receiver);
        (self.received, self.out_of_order, self.last_sent, self.done) = (0, 0, 0, None);
        self.latency = Histogram::default();
        let order = format!("p:{fd}:{messages}:{}", options.gap_ns);
        let mask = self.random.mask();
        match engine.conn(sender).map(|conn| conn.send(wire::TEXT, order.as_bytes(), mask, &mut self.scratch)) {
            Some(Ok(())) => {}
            Some(Err(fault)) => self.faults.push(fault),
            None => self.faults.push("the sender's connection is gone".into()),
        }
        let paced = messages * options.gap_ns;
        let deadline = now() + paced + (options.timeout * 1e9) as u64;
        until(engine, self, deadline, |pushed| {
            !pushed.faults.is_empty() || (pushed.done.is_some() && pushed.received >= messages)
        })?;
        Ok(())
    }

    fn pushed(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let sent: u64 = digits(payload).ok_or("not a pushed message")?;
        self.last = now();
        if self.received == 0 {
            self.first = self.last;
        }
        self.received += 1;
        self.out_of_order += u64::from(sent < self.last_sent);
        self.last_sent = sent;
        self.latency.record(self.last.saturating_sub(sent));
        Ok(())
    }
}

fn digits(payload: &[u8]) -> Option<u64> {
    std::str::from_utf8(payload).ok()?.parse().ok()
}

/// `X:FIRST:SECOND`
fn pair(payload: &[u8], kind: u8) -> Option<(u64, u64)> {
    let [first, b':', rest @ ..] = payload else { return None };
    let colon = rest.iter().position(|byte| *byte == b':')?;
    (*first == kind).then_some((digits(&rest[..colon])?, digits(&rest[colon + 1..])?))
}

impl Events for Pushed {
    fn opened(&mut self, conn: &mut Conn, _: u64) -> Result<(), Fault> {
        conn.send(wire::TEXT, b"w", self.random.mask(), &mut self.scratch)
    }

    fn message(&mut self, conn: &mut Conn, _: u8, payload: &[u8], _: u64) -> Result<(), Fault> {
        if self.receiver == Some(conn.number) {
            return self.pushed(payload);
        }
        if let Some((worker, fd)) = pair(payload, b'w') {
            self.places.push((conn.number, worker, fd));
        } else if let Some(done) = pair(payload, b'p') {
            self.done = Some(done);
        } else {
            return Err("neither of the answers that were asked for".into());
        }
        Ok(())
    }

    fn lost(&mut self, _: &Conn, fault: Fault) {
        self.faults.push(fault);
    }
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn answers_are_told_apart() {
        assert_eq!(pair(b"w:1:23", b'w'), Some((1, 23)));
        assert_eq!(pair(b"p:1:23", b'w'), None);
        for wrong in ["", "w", "w:", "w:1", "w:1:", "w:x:1"] {
            assert_eq!(pair(wrong.as_bytes(), b'w'), None, "{wrong}");
        }
    }
}
