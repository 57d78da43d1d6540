//! The floor of an awaited task: two processes, each with one epoll instance, that pass a word to and fro by eventfd.
//!
//! `apus-bench-words COUNT` prints what a word and its answer cost as a line of JSON. It does what any two processes do
//! of which one waits for the other in an event loop, and nothing else: nothing is carried.

use std::io;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::time::{ClockId, clock_gettime};

const WARM_UP: usize = 1000;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let count = args.get(1).and_then(|count| count.parse().ok()).unwrap_or(0);
    match (args.get(2).map(String::as_str), count) {
        (_, 0) => Err(io::Error::other("usage: apus-bench-words COUNT")),
        (Some("answer"), count) => answer(count),
        (_, count) => ask(count),
    }
}

/// One side: rings for the other by one descriptor, is woken by the other descriptor.
struct Side<Own, Other> {
    epoll: std::os::fd::OwnedFd,
    _own: Own,
    other: Other,
}

impl<Own: AsFd, Other: AsFd> Side<Own, Other> {
    fn new(own: Own, other: Other) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        // Never read, as notifiers of Apus are not: each ring is an event of its own.
        epoll::add(&epoll, &own, EventData::new_u64(0), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { epoll, _own: own, other })
    }

    fn ring(&self) -> io::Result<()> {
        rustix::io::write(&self.other, &1u64.to_ne_bytes()).map(drop).map_err(Into::into)
    }

    fn heard(&self) -> io::Result<()> {
        let mut events = Vec::with_capacity(1);
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None).map(drop).map_err(Into::into)
    }
}

fn ask(count: usize) -> io::Result<()> {
    let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    let (mine, its) = (eventfd(0, flags)?, eventfd(0, flags)?);
    let child = Command::new(std::env::current_exe()?)
        .args([&count.to_string(), "answer"])
        .stdin(Stdio::from(its.try_clone()?))
        .stdout(Stdio::from(mine.try_clone()?))
        .stderr(Stdio::piped())
        .spawn()?;
    let side = Side::new(mine, its)?;
    let turn = || side.ring().and_then(|()| side.heard());
    (0..WARM_UP).try_for_each(|_| turn())?;
    let (begun, cpu) = (Instant::now(), cpu());
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        turn()?;
        times.push(begun.elapsed());
    }
    let (wall, cpu) = (begun.elapsed(), self::cpu().saturating_sub(cpu));
    let said = child.wait_with_output()?.stderr;
    let its =
        String::from_utf8_lossy(&said).trim().parse().map_err(|_| io::Error::other("the other process failed"))?;
    println!("{}", figures(&mut times, wall, cpu + Duration::from_nanos(its)));
    Ok(())
}

fn answer(count: usize) -> io::Result<()> {
    let side = Side::new(io::stdin(), io::stdout())?;
    let turn = || side.heard().and_then(|()| side.ring());
    (0..WARM_UP).try_for_each(|_| turn())?;
    let cpu = cpu();
    (0..count).try_for_each(|_| turn())?;
    eprintln!("{}", self::cpu().saturating_sub(cpu).as_nanos());
    Ok(())
}

/// The processor time of this process.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

fn figures(times: &mut [Duration], wall: Duration, cpu: Duration) -> String {
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let part = |thousandths: usize| micros(times[(times.len() * thousandths).div_ceil(1000) - 1]);
    let count = times.len() as f64;
    format!(
        "{{\"tasks_s\": {:.1}, \"cpu_us\": {:.3}, \"wrong\": 0, \"p50_us\": {:.3}, \"p99_us\": {:.3}, \"max_us\": {:.3}}}",
        count / wall.as_secs_f64(),
        micros(cpu) / count,
        part(500),
        part(990),
        part(1000),
    )
}
