//! One epoll for all connections of a process, and the lines that the process which started it sends.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use crate::args::Options;
use crate::conn::{Conn, Events, Stage};
use crate::wire::Fault;

/// The epoll token of standard input; connections use their number.
const ORDERS: u64 = u64::MAX;
/// Connections begun between two looks at what the others do.
const BURST: usize = 64;
/// Source addresses of a process: with one alone the search for free ports would be part of what is measured.
const ADDRESSES: usize = 16;
const READ_ROOM: usize = 64 << 10;

pub struct Engine {
    epoll: OwnedFd,
    conns: Vec<Option<Conn>>,
    ready: Vec<Event>,
    buffer: Vec<u8>,
    server: SocketAddrV4,
    share: usize,
    random: Random,
    orders: Orders,
}

/// Not a secret generator: a peer of the benchmark guesses nothing.
pub struct Random(u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn mask(&mut self) -> [u8; 4] {
        (self.next() as u32).to_ne_bytes()
    }

    fn nonce(&mut self) -> [u8; 16] {
        (u128::from(self.next()) << 64 | u128::from(self.next())).to_ne_bytes()
    }
}

/// The monotonic clock in nanoseconds: the same in all processes, PHP's `hrtime()` too.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of this process, nanoseconds.
pub fn cpu() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Engine {
    pub fn new(options: &Options) -> io::Result<Self> {
        let share = options.share.unwrap_or(0);
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, rustix::stdio::stdin(), EventData::new_u64(ORDERS), EventFlags::IN)?;
        Ok(Self {
            epoll,
            conns: Vec::new(),
            ready: Vec::with_capacity(1024),
            buffer: vec![0; READ_ROOM],
            server: SocketAddrV4::new(options.host.into(), options.port),
            share,
            random: Random(now() ^ (share as u64 + 1) << 48 | 1),
            orders: Orders::default(),
        })
    }

    /// Random numbers for a mode: other ones than the engine's.
    pub fn fork_random(&mut self) -> Random {
        Random(self.random.next() | 1)
    }

    /// Which of the processes of the run this is.
    pub fn share(&self) -> usize {
        self.share
    }

    pub fn conns(&mut self) -> impl Iterator<Item = &mut Conn> {
        self.conns.iter_mut().flatten()
    }

    pub fn conn(&mut self, number: usize) -> Option<&mut Conn> {
        self.conns.get_mut(number)?.as_mut()
    }

    pub fn alive(&self) -> usize {
        self.conns.iter().flatten().count()
    }

    pub fn has_order(&self) -> bool {
        self.orders.bytes.contains(&b'\n')
    }

    pub fn next_order(&mut self) -> Option<String> {
        self.orders.next()
    }

    /// Begins one more connection.
    pub fn connect(&mut self, events: &mut impl Events) -> Result<(), Fault> {
        let number = self.conns.len();
        // Any address of 127/8 is this machine's.
        let source = Ipv4Addr::new(127, 0, 1 + self.share as u8, 1 + (number % ADDRESSES) as u8);
        let nonce = self.random.nonce();
        self.conns.push(None);
        let mut conn = Conn::connect(number, source, self.server, nonce)?;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
        if let Err(error) = epoll::add(&self.epoll, conn.socket(), EventData::new_u64(number as u64), flags) {
            return Err(format!("epoll: {}", io::Error::from(error)).into());
        }
        // Of a connection to this machine the kernel has often all done already: the request goes at once.
        match conn.flush() {
            Ok(()) => self.conns[number] = Some(conn),
            Err(fault) => events.lost(&conn, fault),
        }
        Ok(())
    }

    /// Opens `count` connections, `window` at most under way at once (0: all). `settled` tells how many are open or
    /// have failed; returns when all are, or at the deadline.
    pub fn open<E: Events>(
        &mut self,
        count: usize,
        window: usize,
        deadline: u64,
        events: &mut E,
        settled: impl Fn(&E) -> usize,
        refused: impl Fn(&mut E, Fault),
    ) -> io::Result<()> {
        let mut begun = 0;
        let window = if window == 0 { count } else { window };
        while settled(events) < count && now() < deadline {
            for _ in 0..BURST {
                if begun == count || begun - settled(events) >= window {
                    break;
                }
                begun += 1;
                if let Err(fault) = self.connect(events) {
                    refused(events, fault);
                }
            }
            let more = begun < count && begun - settled(events) < window;
            let wait = if more { Duration::ZERO } else { Duration::from_millis(100) };
            self.turn(Some(wait), events)?;
        }
        Ok(())
    }

    /// Waits for readiness once (without an end where `wait` is none) and lets the connections act on it.
    pub fn turn(&mut self, wait: Option<Duration>, events: &mut impl Events) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        let wait =
            wait.map(|wait| Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: i64::from(wait.subsec_nanos()) });
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut ready), wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &ready {
            match event.data.u64() {
                ORDERS => self.orders.read()?,
                number => self.drive(number as usize, event.flags, events),
            }
        }
        self.ready = ready;
        Ok(())
    }

    fn drive(&mut self, number: usize, flags: EventFlags, events: &mut impl Events) {
        let Some(conn) = &mut self.conns[number] else { return };
        let mut outcome = Ok(());
        if flags.contains(EventFlags::OUT) {
            outcome = conn.flush();
        }
        if outcome.is_ok() && flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            outcome = conn.readable(&mut self.buffer, events, now());
        }
        if let Err(fault) = outcome {
            events.lost(conn, fault);
            self.conns[number] = None;
        }
    }

    /// Gives up what is not open.
    pub fn drop_unopened(&mut self, events: &mut impl Events, open: impl Fn(&Conn) -> bool) {
        for slot in &mut self.conns {
            if let Some(conn) = slot.take_if(|conn| !open(conn)) {
                let stage = if conn.stage == Stage::Open { "its echo" } else { "the handshake" };
                events.lost(&conn, format!("timed out in {stage}").into());
            }
        }
    }

    pub fn drop_conn(&mut self, number: usize) {
        self.conns[number] = None;
    }
}

/// Lines on standard input. Its end is the end of this process: the one that started it is gone.
#[derive(Default)]
struct Orders {
    bytes: Vec<u8>,
}

impl Orders {
    fn read(&mut self) -> io::Result<()> {
        let mut chunk = [0; 4096];
        match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
            Ok(0) => std::process::exit(0),
            Ok(count) => self.bytes.extend_from_slice(&chunk[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn next(&mut self) -> Option<String> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(&self.bytes[..end]).into_owned();
        self.bytes.drain(..=end);
        Some(line)
    }
}
