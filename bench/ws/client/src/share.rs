//! One process of a run: prepares, says `ready`, measures when told `go`, reports, ends with its standard input.

use std::io::{self, Write};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::args::Options;
use crate::conn::{Conn, Events};
use crate::engine::{self, Engine, now};
use crate::report::Report;
use crate::wire::Fault;
use crate::{broadcast, echo, opening, push};

/// Connections under way at once where opening them is not what is measured: less than any server's queue holds.
const GENTLE_WINDOW: usize = 400;

pub fn run(options: &Options) -> io::Result<()> {
    pin(options)?;
    let mut engine = Engine::new(options)?;
    match options.mode.as_str() {
        "open" => {
            ready(&mut engine, 0)?;
            let cpu = engine::cpu();
            let mut report = opening::open(&mut engine, options, options.window)?;
            report.count("client_cpu_ns", engine::cpu() - cpu);
            end(&mut engine, &report)
        }
        "push" => push::run(&mut engine, options),
        mode => {
            let window = if options.window == 0 { GENTLE_WINDOW } else { options.window };
            let report = opening::open(&mut engine, options, window)?;
            match mode {
                "echo" => echo::run(&mut engine, options, report),
                "broadcast" => broadcast::run(&mut engine, options, report),
                _ => idle(&mut engine, report),
            }
        }
    }
}

fn pin(options: &Options) -> io::Result<()> {
    let share = options.share.unwrap_or(0);
    if let Some(core) = options.cores.get(share % options.cores.len().max(1)) {
        let mut set = CpuSet::new();
        set.set(*core);
        sched_setaffinity(None, &set)?;
    }
    Ok(())
}

/// Holds the connections and answers PING until told to end.
fn idle(engine: &mut Engine, mut report: Report) -> io::Result<()> {
    let mut held = Held::default();
    say(&format!("ready {}", engine.alive()))?;
    await_order(engine, &mut held, "go")?;
    report.count("held", engine.alive() as u64);
    held.tell(&mut report);
    end(engine, &report)
}

/// Nothing is expected; what comes is a failure.
#[derive(Default)]
pub struct Held {
    faults: Vec<Fault>,
}

impl Held {
    pub fn tell(self, report: &mut Report) {
        self.faults.into_iter().for_each(|fault| report.failure(fault));
    }
}

impl Events for Held {
    fn opened(&mut self, _: &mut Conn, _: u64) -> Result<(), Fault> {
        Err("opened when nothing was asked for".into())
    }

    fn message(&mut self, _: &mut Conn, _: u8, _: &[u8], _: u64) -> Result<(), Fault> {
        Err("a message that nobody sent".into())
    }

    fn lost(&mut self, _: &Conn, fault: Fault) {
        self.faults.push(fault);
    }
}

/// Tells that all is prepared, and waits for the word to begin.
pub fn ready(engine: &mut Engine, connected: usize) -> io::Result<()> {
    say(&format!("ready {connected}"))?;
    await_order(engine, &mut Held::default(), "go")
}

pub fn await_order(engine: &mut Engine, events: &mut impl Events, wanted: &str) -> io::Result<()> {
    while engine.next_order().is_none_or(|order| order != wanted) {
        engine.turn(None, events)?;
    }
    Ok(())
}

/// The report; then the connections stay until all processes have theirs, so that the end of one disturbs no other.
pub fn end(engine: &mut Engine, report: &Report) -> io::Result<()> {
    say(&format!("{}end", report.lines()))?;
    await_order(engine, &mut Held::default(), "stop")
}

pub fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Turns until `done` or the deadline; false at the deadline.
pub fn until<E: Events>(
    engine: &mut Engine,
    events: &mut E,
    deadline: u64,
    done: impl Fn(&E) -> bool,
) -> io::Result<bool> {
    while !done(events) {
        let left = deadline.saturating_sub(now());
        if left == 0 {
            return Ok(false);
        }
        engine.turn(Some(Duration::from_nanos(left.min(100_000_000))), events)?;
    }
    Ok(true)
}
