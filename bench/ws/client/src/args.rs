//! The command line.

use std::fmt::Write;

pub const USAGE: &str = "usage: apus-bench-ws MODE --port P [options]
modes
  open       open all connections at once, one handshake and one echo each
  echo       closed loop: each connection sends a message, awaits its echo, sends the next
  broadcast  one connection sends, all get it; the next is sent when the last has it
  idle       open the connections, hold them
  push       messages that one worker of the server pushes to a connection of another
  floor      not a client: the least server; takes --port and --processes
options
  --host A          address of the server (127.0.0.1)
  --connections N   (1)
  --processes N     the connections are shared out between so many processes (1)
  --cores A,B       each process is pinned to one of these, in turn
  --window N        connections under way at once, of all processes; 0 is all (0)
  --seconds S       length of `echo` (1)
  --warm S          length of the echo before what is measured (0)
  --size N          payload bytes of `echo`, at least 20 (20)
  --messages N      of `broadcast` and `push` (10)
  --gap-ns N        nanoseconds between two messages of `push`; 0 is as fast as possible (0)
  --timeout S       a step that takes longer has failed (60)
  --wait            print a line when all is prepared, measure when one comes on standard input
Each mode ends with one line of JSON. Times are nanoseconds in fields that end with _ns.";

/// What a run is to do; every process of it knows all.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub mode: String,
    pub host: [u8; 4],
    pub port: u16,
    pub connections: usize,
    pub processes: usize,
    pub cores: Vec<usize>,
    pub window: usize,
    pub seconds: f64,
    pub warm: f64,
    pub size: usize,
    pub messages: u64,
    pub gap_ns: u64,
    pub timeout: f64,
    pub wait: bool,
    /// Which of the processes this is; none of them in the one that the user started.
    pub share: Option<usize>,
}

impl Options {
    fn new(mode: String) -> Self {
        Self {
            mode,
            host: [127, 0, 0, 1],
            port: 0,
            connections: 1,
            processes: 1,
            cores: Vec::new(),
            window: 0,
            seconds: 1.0,
            warm: 0.0,
            size: 20,
            messages: 10,
            gap_ns: 0,
            timeout: 60.0,
            wait: false,
            share: None,
        }
    }

    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mode = words.next().ok_or("no mode")?;
        if !["open", "echo", "broadcast", "idle", "push", "floor"].contains(&mode.as_str()) {
            return Err(format!("no such mode: {mode}"));
        }
        let mut options = Self::new(mode);
        while let Some(name) = words.next() {
            if name == "--wait" {
                options.wait = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{name} wants a value"))?;
            options.set(&name, &value).ok_or_else(|| format!("{name} {value}: no such option, or not its value"))?;
        }
        options.check()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--host" => self.host = value.parse::<std::net::Ipv4Addr>().ok()?.octets(),
            "--port" => self.port = value.parse().ok()?,
            "--connections" => self.connections = value.parse().ok()?,
            "--processes" => self.processes = value.parse().ok()?,
            "--cores" => self.cores = value.split(',').map(|core| core.parse().ok()).collect::<Option<_>>()?,
            "--window" => self.window = value.parse().ok()?,
            "--seconds" => self.seconds = value.parse().ok()?,
            "--warm" => self.warm = value.parse().ok()?,
            "--size" => self.size = value.parse().ok()?,
            "--messages" => self.messages = value.parse().ok()?,
            "--gap-ns" => self.gap_ns = value.parse().ok()?,
            "--timeout" => self.timeout = value.parse().ok()?,
            "--share" => self.share = Some(value.parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    fn check(&self) -> Result<(), String> {
        let numbers = self.connections >= 1 && (1..=64).contains(&self.processes) && self.messages >= 1;
        let times = self.seconds > 0.0 && self.warm >= 0.0 && self.timeout > 0.0;
        if !numbers || !times {
            return Err("connections, processes (1 to 64), messages and times must be more than 0".into());
        }
        if self.mode != "floor" && self.connections < self.processes {
            return Err("each process needs a connection".into());
        }
        if self.port == 0 {
            return Err("--port is missing".into());
        }
        if !(20..=60_000).contains(&self.size) {
            return Err("--size: from 20 to 60000 bytes".into());
        }
        Ok(())
    }

    /// The words that make another process of this run.
    pub fn words(&self, share: usize) -> Vec<String> {
        let [a, b, c, d] = self.host;
        let mut cores = String::new();
        for core in &self.cores {
            // Writing to a String cannot fail.
            let _ = write!(cores, "{}{core}", if cores.is_empty() { "" } else { "," });
        }
        let mut words = vec![self.mode.clone()];
        let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
        add("--host", format!("{a}.{b}.{c}.{d}"));
        add("--port", self.port.to_string());
        add("--connections", self.connections.to_string());
        add("--processes", self.processes.to_string());
        if !cores.is_empty() {
            add("--cores", cores);
        }
        add("--window", self.window.to_string());
        add("--seconds", self.seconds.to_string());
        add("--warm", self.warm.to_string());
        add("--size", self.size.to_string());
        add("--messages", self.messages.to_string());
        add("--gap-ns", self.gap_ns.to_string());
        add("--timeout", self.timeout.to_string());
        add("--share", share.to_string());
        words
    }

    /// What falls to one process of a number that is for all.
    pub fn part(&self, of: usize) -> usize {
        let share = self.share.unwrap_or(0);
        of / self.processes + usize::from(share < of % self.processes)
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_process_is_started_with_what_was_asked_for() {
        let asked = parse("echo --port 99 --connections 11 --processes 3 --cores 2,3 --seconds 1.5 --size 50").unwrap();
        let child = Options::parse(asked.words(1).into_iter()).unwrap();
        assert_eq!(child, Options { share: Some(1), ..asked });
    }

    #[test]
    fn the_shares_add_up() {
        let asked = parse("open --port 99 --connections 11 --processes 3").unwrap();
        let shares: Vec<_> = (0..3).map(|share| Options { share: Some(share), ..asked.clone() }.part(11)).collect();
        assert_eq!(shares, [4, 4, 3]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "nosuch --port 1",
            "open",
            "open --port",
            "open --port x",
            "open --port 9 --size 5",
            "open --port 9 --nosuch 1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("open --port 9 --connections 1 --processes 2").is_err());
    }
}
