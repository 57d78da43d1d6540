//! `status`: what a running server says of itself, once or again and again.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::cli::StatusArgs;
use crate::control::{self, Server};
use crate::doctor::grouped;
use crate::failure::{Failure, Outcome};

/// The master's answer to `status`. What an older or newer master does not send is zero or empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Status {
    pid: i32,
    version: String,
    script: String,
    listen: Vec<String>,
    /// Seconds since the master began.
    uptime: f64,
    /// "starting", "serving", "reloading" or "stopping".
    state: String,
    totals: Figures,
    workers: Vec<Worker>,
    scripts: Option<Scripts>,
}

/// What the processes of `apus serve` do.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Scripts {
    idle: u64,
    busy: u64,
    /// Milliseconds.
    longest_wait: u64,
    running: Vec<RunningScript>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RunningScript {
    pid: i32,
    script: String,
    seconds: f64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Worker {
    id: u32,
    pid: i32,
    /// "worker", "task" or "user".
    role: String,
    state: String,
    generation: u32,
    /// Seconds since it was forked.
    uptime: f64,
    #[serde(flatten)]
    figures: Figures,
}

/// The figures of a worker, or of all together.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Figures {
    connections: u64,
    requests: u64,
    /// Requests being handled now.
    active: u64,
    /// Answers with a 5xx status.
    errors: u64,
    coroutines: u64,
    /// Bytes PHP has allocated.
    memory: u64,
    /// Bytes resident.
    rss: u64,
    p50_us: f64,
    p99_us: f64,
    loop_blocked: u64,
    /// Tasks done, running and failed; only the totals have them.
    tasks: u64,
    tasks_active: u64,
    task_errors: u64,
    /// Worker processes that ended without being told to; only the totals have it.
    crashes: u64,
}

/// `apus status`.
pub(crate) fn status(args: &StatusArgs) -> Outcome<()> {
    let server = control::select(&args.target, &control::directories())?;
    match args.watch {
        None => print(&show(&server, args.json, None)?.text).map(|_| ()),
        Some(seconds) => watch(&server, args.json, Duration::from_secs(seconds.into())),
    }
}

struct Shown {
    text: String,
    requests: u64,
}

/// Two requests counts and the time between them give the rate.
struct Before {
    requests: u64,
    at: Instant,
}

fn watch(server: &Server, json: bool, every: Duration) -> Outcome<()> {
    let clear = !json && io::stdout().is_terminal();
    let mut before: Option<Before> = None;
    loop {
        let at = Instant::now();
        let shown = match show(server, json, before.as_ref()) {
            Ok(shown) => shown,
            // It answered before, so it has left: the end of watching, not a failure.
            Err(_) if before.is_some() && !server.answers() => {
                return print(&format!("server {} has stopped\n", server.pid)).map(|_| ());
            }
            Err(failure) => return Err(failure),
        };
        let screen = if clear { format!("\x1b[H\x1b[2J{}", shown.text) } else { shown.text };
        if !print(&screen)? {
            return Ok(());
        }
        before = Some(Before { requests: shown.requests, at });
        thread::sleep(every);
    }
}

/// Whether somebody still reads what is printed.
fn print(text: &str) -> Outcome<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!("standard output: {error}"))),
    }
}

fn show(server: &Server, json: bool, before: Option<&Before>) -> Outcome<Shown> {
    let answer = server.ask("status")?;
    let status: Status = serde_json::from_value(answer.clone()).map_err(|error| {
        Failure::failed(format!("server {} answered what this command does not know: {error}", server.pid))
    })?;
    let requests = status.totals.requests;
    let text = if json { format!("{answer}\n") } else { table(&status, before.map(|old| rate(old, requests))) };
    Ok(Shown { text, requests })
}

fn rate(before: &Before, requests: u64) -> f64 {
    let seconds = before.at.elapsed().as_secs_f64().max(0.001);
    requests.saturating_sub(before.requests) as f64 / seconds
}

fn table(status: &Status, rate: Option<f64>) -> String {
    let mut out = head(status);
    out.push_str(&totals(&status.totals, rate));
    if status.workers.iter().any(|worker| worker.role == "task") {
        let (done, active, failed) = (status.totals.tasks, status.totals.tasks_active, status.totals.task_errors);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {} tasks, {} running, {} failed", grouped(done), grouped(active), grouped(failed));
    }
    let mut rows = vec![
        ["ID", "ROLE", "PID", "STATE", "UP", "CONNS", "ACTIVE", "REQUESTS", "5XX", "COROS", "PHP", "RSS"]
            .map(str::to_owned),
    ];
    rows.extend(status.workers.iter().map(worker_row));
    out.push('\n');
    out.push_str(&columns(&rows));
    if let Some(scripts) = &status.scripts {
        out.push_str(&scripts_of(scripts));
    }
    let totals = &status.totals;
    for (count, what) in
        [(totals.crashes, "worker processes that crashed"), (totals.loop_blocked, "times PHP blocked an event loop")]
    {
        if count > 0 {
            let _ = writeln!(out, "\n{what}: {}; see the log", grouped(count));
        }
    }
    out
}

/// What runs, and whether requests wait.
fn scripts_of(scripts: &Scripts) -> String {
    let waits = match scripts.longest_wait {
        0 => String::new(),
        millis => format!(", a request waits for {:.1} s", millis as f64 / 1000.0),
    };
    let mut out = format!("\nscripts: {} running, {} processes idle{waits}\n", scripts.busy, scripts.idle);
    for RunningScript { pid, script, seconds } in &scripts.running {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {pid}  {seconds:.1} s  {script}");
    }
    out
}

fn head(status: &Status) -> String {
    let mut out = String::new();
    let state =
        if matches!(status.state.as_str(), "" | "serving") { String::new() } else { format!(", {}", status.state) };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", status.script);
    let _ = writeln!(out, "  pid {}, up {}{state}, apus {}", status.pid, age(status.uptime), status.version);
    let _ = writeln!(out, "  listening on {}", status.listen.join(", "));
    out
}

fn totals(totals: &Figures, rate: Option<f64>) -> String {
    let a_second = rate.map_or_else(String::new, |rate| format!(" ({}/s)", grouped(rate.round() as u64)));
    format!(
        "  {} requests{a_second}, {} active, {} with 5xx, {} connections, {} coroutines\n  latency p50 {}, p99 {}, memory {} in PHP, {} resident\n",
        grouped(totals.requests),
        grouped(totals.active),
        grouped(totals.errors),
        grouped(totals.connections),
        grouped(totals.coroutines),
        micros(totals.p50_us),
        micros(totals.p99_us),
        bytes(totals.memory),
        bytes(totals.rss),
    )
}

fn worker_row(worker: &Worker) -> [String; 12] {
    let figures = &worker.figures;
    [
        format!("{}.{}", worker.id, worker.generation),
        worker.role.clone(),
        worker.pid.to_string(),
        worker.state.clone(),
        age(worker.uptime),
        grouped(figures.connections),
        grouped(figures.active),
        grouped(figures.requests),
        grouped(figures.errors),
        grouped(figures.coroutines),
        bytes(figures.memory),
        bytes(figures.rss),
    ]
}

/// The rows with every column as wide as its widest cell; words to the left, numbers to the right.
fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = (0..N)
            .map(|column| {
                let (cell, width) = (&row[column], widths[column]);
                if matches!(column, 0 | 1 | 3) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            })
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// The two largest units of a time in seconds.
fn age(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{minutes}m{:02}s", seconds % 60),
        3_600..86_400 => format!("{hours}h{minutes:02}m"),
        _ => format!("{days}d{hours:02}h"),
    }
}

fn bytes(count: u64) -> String {
    let kib = count as f64 / 1024.0;
    if kib < 1024.0 {
        format!("{kib:.0}K")
    } else if kib < 1024.0 * 1024.0 {
        format!("{:.1}M", kib / 1024.0)
    } else {
        format!("{:.2}G", kib / 1024.0 / 1024.0)
    }
}

fn micros(count: f64) -> String {
    if count < 1_000.0 { format!("{count:.0} us") } else { format!("{:.1} ms", count / 1_000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sizes_and_latencies_are_short() {
        assert_eq!([age(5.9), age(65.0), age(3_700.0), age(90_000.0)], ["5s", "1m05s", "1h01m", "1d01h"]);
        assert_eq!([bytes(2_048), bytes(5 << 20), bytes(3 << 30)], ["2K", "5.0M", "3.00G"]);
        assert_eq!([micros(64.2), micros(2_048.0)], ["64 us", "2.0 ms"]);
    }

    #[test]
    fn columns_align() {
        let rows = [["A", "B", "N"], ["long", "b", "1,000"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "A     B      N\nlong  b  1,000\n");
    }

    #[test]
    fn a_master_that_sends_less_is_shown_all_the_same() {
        let status: Status = serde_json::from_str(r#"{"pid":4,"workers":[{"id":1}]}"#).expect("lenient");
        let shown = table(&status, Some(12.0));
        assert!(shown.contains("pid 4"), "{shown}");
        assert!(shown.contains("(12/s)"), "{shown}");
        assert!(shown.lines().any(|line| line.starts_with("1.0")), "{shown}");
        assert!(!shown.contains("tasks"), "{shown}");
    }

    #[test]
    fn tasks_are_shown_where_there_are_task_workers() {
        let json = r#"{"workers":[{"id":1,"role":"task"}],"totals":{"tasks":1500,"tasks_active":2}}"#;
        let shown = table(&serde_json::from_str(json).expect("a status"), None);
        assert!(shown.contains("  1,500 tasks, 2 running, 0 failed\n"), "{shown}");
        assert!(shown.contains("1.0  task"), "{shown}");
    }
}
