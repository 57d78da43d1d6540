//! The process that the user started: starts the others, keeps them in step, adds up what they report.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::hist::Histogram;
use crate::report::Report;
use crate::share::say;

/// What a process may take longer than the time-out of its own steps.
const GRACE: Duration = Duration::from_secs(15);

struct Shares {
    children: Vec<Child>,
    orders: Vec<ChildStdin>,
    lines: Receiver<(usize, Option<String>)>,
    step: Duration,
}

pub fn run(options: &Options) -> io::Result<()> {
    let mut shares = Shares::start(options)?;
    let outcome = shares.conduct(options);
    shares.stop();
    say(&outcome?.json())
}

impl Shares {
    fn start(options: &Options) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let (sender, lines) = channel();
        let mut shares = Self {
            children: Vec::new(),
            orders: Vec::new(),
            lines,
            step: Duration::from_secs_f64(options.timeout * 2.0 + options.seconds + options.warm) + GRACE,
        };
        for share in 0..options.processes {
            let mut child = Command::new(&program)
                .args(options.words(share))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
            shares.children.push(child);
            let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
            shares.orders.push(stdin);
            listen(share, stdout, sender.clone());
        }
        Ok(shares)
    }

    fn conduct(&mut self, options: &Options) -> io::Result<Report> {
        let mut report = Report::default();
        let mut connected = 0;
        self.await_each("ready", |line| connected += line.parse::<usize>().unwrap_or(0))?;
        if options.mode == "broadcast" {
            self.broadcast(0, options)?;
        }
        if options.wait {
            say(&format!("{{\"state\":\"ready\",\"connected\":{connected}}}"))?;
            io::stdin().lock().read_line(&mut String::new())?;
        }
        if options.mode == "broadcast" {
            self.broadcasts(options, &mut report)?;
            self.order("report now")?;
        } else {
            self.order("go")?;
        }
        let mut left = options.processes;
        let mut wrong = None;
        while left > 0 {
            let (_, line) = self.next()?;
            if line == "end" {
                left -= 1;
            } else if report.absorb(&line).is_none() {
                wrong = Some(line);
            }
        }
        wrong.map_or(Ok(report), |line| Err(io::Error::other(format!("a process said: {line}"))))
    }

    /// All messages, each when the one before it has arrived everywhere. `all` is the time until the last connection
    /// has a message.
    fn broadcasts(&mut self, options: &Options, report: &mut Report) -> io::Result<()> {
        let mut all = Histogram::default();
        for number in 1..=options.messages {
            let Some(nanoseconds) = self.broadcast(number, options)? else {
                report.failure("a broadcast did not reach everybody".into());
                break;
            };
            all.record(nanoseconds);
        }
        report.count("messages", options.messages);
        report.hist("all", &all);
        Ok(())
    }

    /// Nanoseconds from the sending of a message until all connections have it; none at the time-out.
    fn broadcast(&mut self, number: u64, options: &Options) -> io::Result<Option<u64>> {
        self.order(&format!("send {number}"))?;
        let (mut begun, mut last, mut left) = (0, 0, self.children.len());
        let deadline = Instant::now() + Duration::from_secs_f64(options.timeout);
        while left > 0 {
            let wait = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(wait) {
                Ok((_, Some(line))) => line,
                Ok((share, None)) => return Err(io::Error::other(format!("process {share} ended too early"))),
                Err(_) => return Ok(None),
            };
            let mut words = line.split(' ');
            let (kind, of, time) = (words.next(), words.next(), words.next());
            let time = time.and_then(|time| time.parse::<u64>().ok()).unwrap_or(0);
            // One that is late belongs to a message that was given up.
            if of.and_then(|of| of.parse().ok()) != Some(number) {
                continue;
            }
            match kind {
                Some("sent") => begun = time,
                Some("got") => (last, left) = (last.max(time), left - 1),
                _ => {}
            }
        }
        Ok((begun > 0).then(|| last.saturating_sub(begun)))
    }

    fn order(&mut self, line: &str) -> io::Result<()> {
        self.orders.iter_mut().try_for_each(|order| writeln!(order, "{line}"))
    }

    /// Waits for a line `WORD ...` of each process.
    fn await_each(&mut self, word: &str, mut each: impl FnMut(&str)) -> io::Result<()> {
        for _ in 0..self.children.len() {
            let (share, line) = self.next()?;
            let rest = line.strip_prefix(word).ok_or_else(|| io::Error::other(format!("process {share}: {line}")))?;
            each(rest.trim());
        }
        Ok(())
    }

    fn next(&mut self) -> io::Result<(usize, String)> {
        match self.lines.recv_timeout(self.step) {
            Ok((share, Some(line))) => Ok((share, line)),
            Ok((share, None)) => Err(io::Error::other(format!("process {share} ended too early"))),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(io::Error::other("no process said anything for too long"))
            }
        }
    }

    /// They end with their standard input.
    fn stop(&mut self) {
        self.orders.clear();
        for child in &mut self.children {
            // One that has ended already is no failure.
            let _ = child.wait();
        }
    }
}

fn listen(share: usize, stdout: std::process::ChildStdout, sender: Sender<(usize, Option<String>)>) {
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send((share, Some(line))).is_err() {
                return;
            }
        }
        // Nobody listens any more when the run is over.
        let _ = sender.send((share, None));
    });
}
