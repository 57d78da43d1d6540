//! The connections of all workers, in shared memory: any worker can ask about any of them.
//!
//! Rules that make it safe without locks, whoever is killed at whatever instruction:
//! 1. A row belongs to the process whose mark is in `owner`, from the compare-and-swap that sets it to the store that
//!    clears it. Only that process writes the row; the master does when the process is gone ([`ConnTable::purge`]).
//! 2. `session` is zero while the row's other fields may change. A reader takes the fields between two loads of
//!    `session` that both give the session it wants; session ids never come twice, so the fields are that session's.
//! 3. `used` and `index` are hints. A set bit says "probably taken", an index entry "look there": what they say is
//!    checked against the row, and a wrong one costs time, never a wrong answer. Every transition of a bit is undone or
//!    repeated by whoever next meets a row it does not fit.
//!
//! Rows are given out from the lowest free one on, and a worker's consecutive sessions stand side by side in the index,
//! so that few connections touch few pages, whatever the limit is.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    fence,
};

use apus_shm::{self as shm, Shared};

/// Places an entry of the index may be in. The index is at most half full, so all are taken once in 2^63 inserts.
const PROBES: u64 = 64;

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A TCP client.
    Tcp(SocketAddr),
    /// A client on a Unix socket, which has no address.
    Unix,
}

/// One connection, as the table shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConnEntry {
    /// The session id.
    pub session: i64,
    /// The id of the worker that has it.
    pub worker: u16,
    /// The slot of the process that has it: where [`IpcEndpoint`](crate::Messages) for it goes.
    pub slot: usize,
    /// Whether it speaks WebSocket.
    pub websocket: bool,
    /// Whether so much waits to be sent to it that it takes no more now.
    pub full: bool,
    /// The client.
    pub peer: Peer,
    /// The server's port; 0 for a Unix socket.
    pub server_port: u16,
    /// When it was accepted, in milliseconds since 1970.
    pub connected_at: u64,
    /// When data last came, in milliseconds since 1970.
    pub last_recv_at: u64,
    /// Requests it has sent.
    pub requests: u64,
}

/// What the owner of a connection lets others know of its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnFlags {
    /// It speaks WebSocket.
    pub websocket: bool,
    /// So much waits to be sent to it that it takes no more now.
    pub full: bool,
}

impl ConnFlags {
    const WEBSOCKET: u32 = 1;
    const FULL: u32 = 2;

    fn pack(self) -> u32 {
        (u32::from(self.websocket) * Self::WEBSOCKET) | (u32::from(self.full) * Self::FULL)
    }

    fn unpack(bits: u32) -> Self {
        Self { websocket: bits & Self::WEBSOCKET != 0, full: bits & Self::FULL != 0 }
    }
}

/// Whose a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The slot of the process.
    pub slot: usize,
    /// The id of the worker.
    pub worker: u16,
}

/// A row that this process owns.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the row stays taken until it is given back to `remove`"]
pub struct ConnHandle {
    row: u32,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Row {
    session: AtomicU64,
    /// Slot of the owning process, plus one; zero for a free row.
    owner: AtomicU32,
    /// Server port in the upper half, client port in the lower.
    ports: AtomicU32,
    /// 4, 6, or 0 for a Unix socket; the id of the worker in the upper half.
    family: AtomicU32,
    /// [`ConnFlags`].
    flags: AtomicU32,
    address: [AtomicU64; 2],
    connected_at: AtomicU64,
    last_recv_at: AtomicU64,
    requests: AtomicU64,
}

// SAFETY: all fields are atomics; all-zero is the free row.
unsafe impl Shared for Row {}

/// The table.
#[derive(Debug)]
pub struct ConnTable {
    rows: &'static [Row],
    /// One bit a row.
    used: &'static [AtomicU64],
    /// Row number plus one; zero for empty. A power of two long, at least twice the rows.
    index: &'static [AtomicU32],
    /// The first word of `used` that may have a clear bit.
    first_free: &'static AtomicU32,
    /// Rows below this were taken at least once.
    high_water: &'static AtomicU32,
}

impl ConnTable {
    /// Maps a table for `capacity` connections.
    pub fn new(capacity: u32) -> io::Result<&'static Self> {
        let capacity = capacity as usize;
        Ok(Box::leak(Box::new(Self {
            rows: shm::map(capacity)?,
            used: shm::map(capacity.div_ceil(64))?,
            index: shm::map((capacity * 2).next_power_of_two())?,
            first_free: shm::map(1)?.first().ok_or(io::ErrorKind::OutOfMemory)?,
            high_water: shm::map(1)?.first().ok_or(io::ErrorKind::OutOfMemory)?,
        })))
    }

    /// The most connections it holds.
    pub fn capacity(&self) -> usize {
        self.rows.len()
    }

    /// Connections in it.
    pub fn len(&self) -> usize {
        self.connected().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Enters a connection of the process that has slot `owner`. `None` when the table is full: the connection is to be
    /// refused.
    pub fn insert(&self, owner: Owner, session: i64, peer: Peer, server_port: u16, now_ms: u64) -> Option<ConnHandle> {
        let number = self.claim(owner.slot as u32 + 1)?;
        let row = &self.rows[number as usize];
        // After the claim, before the fields: a reader that sees a field of ours and then loads `session` must not see
        // the old session.
        fence(Release);
        let (family, address, client_port) = pack(peer);
        row.family.store(family | u32::from(owner.worker) << 16, Relaxed);
        row.address[0].store(address[0], Relaxed);
        row.address[1].store(address[1], Relaxed);
        row.ports.store(u32::from(server_port) << 16 | u32::from(client_port), Relaxed);
        row.connected_at.store(now_ms, Relaxed);
        row.last_recv_at.store(now_ms, Relaxed);
        row.requests.store(0, Relaxed);
        row.flags.store(0, Relaxed);
        row.session.store(session as u64, Release);
        let entered = self
            .places(session as u64)
            .any(|place| self.index[place].compare_exchange(0, number + 1, AcqRel, Relaxed).is_ok());
        if entered {
            return Some(ConnHandle { row: number });
        }
        self.free(number);
        None
    }

    /// Takes a connection out.
    pub fn remove(&self, handle: ConnHandle) {
        self.clear(handle.row);
    }

    /// Notes that data came on a connection, and how many requests it has sent.
    pub fn touch(&self, handle: &ConnHandle, now_ms: u64, requests: u64) {
        let row = &self.rows[handle.row as usize];
        row.last_recv_at.store(now_ms, Relaxed);
        row.requests.store(requests, Relaxed);
    }

    /// Notes the state of a connection.
    pub fn set_flags(&self, handle: &ConnHandle, flags: ConnFlags) {
        self.rows[handle.row as usize].flags.store(flags.pack(), Relaxed);
    }

    /// The connection with this session id.
    pub fn get(&self, session: i64) -> Option<ConnEntry> {
        if session <= 0 {
            return None;
        }
        self.places(session as u64).find_map(|place| {
            let number = self.index[place].load(Acquire);
            (number != 0).then(|| self.read(number - 1)).flatten().filter(|entry| entry.session == session)
        })
    }

    /// Whether the session is connected.
    pub fn contains(&self, session: i64) -> bool {
        self.get(session).is_some()
    }

    /// Up to `limit` session ids greater than `after`, in order.
    pub fn sessions(&self, after: i64, limit: usize) -> Vec<i64> {
        let mut found: Vec<i64> = self.connected().filter(|session| *session > after).collect();
        found.sort_unstable();
        found.truncate(limit);
        found
    }

    /// Takes out every connection of a process that is gone; their session ids. Only the master calls this.
    pub(crate) fn purge(&self, owner: usize) -> Vec<i64> {
        let mark = owner as u32 + 1;
        let mut purged = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            match row.owner.load(Acquire) {
                found if found == mark => {
                    // Zero in a row that was claimed and not filled yet.
                    purged.extend(Some(row.session.load(Relaxed) as i64).filter(|session| *session != 0));
                    self.clear(number as u32);
                }
                // Killed between clearing the owner and the bit. A live process that is just there clears the bit
                // again: no harm (rule 3).
                0 if self.used[number / 64].load(Relaxed) & bit(number) != 0 => self.unmark(number),
                _ => {}
            }
        }
        purged
    }

    /// The sessions in all rows.
    fn connected(&self) -> impl Iterator<Item = i64> {
        let rows = self.high_water.load(Acquire) as usize;
        self.rows.iter().take(rows).map(|row| row.session.load(Acquire) as i64).filter(|session| *session != 0)
    }

    fn read(&self, number: u32) -> Option<ConnEntry> {
        let row = self.rows.get(number as usize)?;
        let session = row.session.load(Acquire);
        let family = row.family.load(Relaxed);
        let address = [row.address[0].load(Relaxed), row.address[1].load(Relaxed)];
        let ports = row.ports.load(Relaxed);
        let flags = ConnFlags::unpack(row.flags.load(Relaxed));
        let entry = ConnEntry {
            session: session as i64,
            worker: (family >> 16) as u16,
            // Zero only in a row that is being freed, whose session the last line finds changed.
            slot: (row.owner.load(Relaxed) as usize).saturating_sub(1),
            websocket: flags.websocket,
            full: flags.full,
            peer: unpack(family & 0xffff, address, ports as u16),
            server_port: (ports >> 16) as u16,
            connected_at: row.connected_at.load(Relaxed),
            last_recv_at: row.last_recv_at.load(Relaxed),
            requests: row.requests.load(Relaxed),
        };
        fence(Acquire);
        (session != 0 && row.session.load(Relaxed) == session).then_some(entry)
    }

    /// Makes a free row ours: the owner's mark decides, the bit only guides.
    fn claim(&self, mark: u32) -> Option<u32> {
        let start = self.first_free.load(Relaxed) as usize;
        let words = self.used.len();
        for at in (0..words).map(|i| (start + i) % words) {
            loop {
                let word = self.used[at].load(Relaxed);
                let number = at * 64 + word.trailing_ones() as usize;
                if word == u64::MAX || number >= self.rows.len() {
                    break;
                }
                let won = self.rows[number].owner.compare_exchange(0, mark, AcqRel, Relaxed).is_ok();
                // Also when another process won: it may have been killed before it set the bit.
                self.used[at].fetch_or(bit(number), AcqRel);
                if won {
                    self.high_water.fetch_max(number as u32 + 1, Release);
                    if at != start {
                        let _ = self.first_free.compare_exchange(start as u32, at as u32, Relaxed, Relaxed);
                    }
                    return Some(number as u32);
                }
                if self.rows[number].owner.load(Acquire) == 0 {
                    // Freed in between, its bit cleared before ours was set.
                    self.unmark(number);
                }
            }
        }
        None
    }

    fn clear(&self, number: u32) {
        let session = self.rows[number as usize].session.load(Relaxed);
        if session != 0 {
            for place in self.places(session) {
                if self.index[place].compare_exchange(number + 1, 0, AcqRel, Relaxed).is_ok() {
                    break;
                }
            }
        }
        self.free(number);
    }

    fn free(&self, number: u32) {
        let row = &self.rows[number as usize];
        row.session.store(0, Release);
        row.owner.store(0, Release);
        self.unmark(number as usize);
    }

    fn unmark(&self, number: usize) {
        self.used[number / 64].fetch_and(!bit(number), AcqRel);
        self.first_free.fetch_min((number / 64) as u32, Relaxed);
    }

    /// Where in the index a session may stand: first beside the sessions before and after it, then anywhere.
    fn places(&self, session: u64) -> impl Iterator<Item = usize> {
        let mask = self.index.len() as u64 - 1;
        let beside = (session >> 12).wrapping_add((session & 0xfff).wrapping_mul(0x9e37_79b9));
        (0..PROBES).map(move |n| (if n == 0 { beside } else { mix(session.wrapping_add(n << 56)) } & mask) as usize)
    }
}

fn bit(number: usize) -> u64 {
    1 << (number % 64)
}

/// The finaliser of `SplitMix64`: every bit of the input changes half the bits of the output.
fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn pack(peer: Peer) -> (u32, [u64; 2], u16) {
    match peer {
        Peer::Unix => (0, [0, 0], 0),
        Peer::Tcp(SocketAddr::V4(addr)) => (4, [u64::from(addr.ip().to_bits()), 0], addr.port()),
        Peer::Tcp(SocketAddr::V6(addr)) => {
            let bits = addr.ip().to_bits();
            (6, [(bits >> 64) as u64, bits as u64], addr.port())
        }
    }
}

fn unpack(family: u32, address: [u64; 2], port: u16) -> Peer {
    let ip = match family {
        4 => IpAddr::V4(Ipv4Addr::from_bits(address[0] as u32)),
        6 => IpAddr::V6(Ipv6Addr::from_bits(u128::from(address[0]) << 64 | u128::from(address[1]))),
        _ => return Peer::Unix,
    };
    Peer::Tcp(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The process in a slot, of the worker whose id is in the low bits.
    fn owner(slot: usize, session: i64) -> Owner {
        Owner { slot, worker: (session & 0xfff) as u16 }
    }

    fn peer(n: u64) -> Peer {
        Peer::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::from_bits(n as u32)), (n % 60_000) as u16))
    }

    fn session(number: i64, worker: i64) -> i64 {
        number << 12 | worker
    }

    #[test]
    fn an_entry_comes_back_as_it_went_in() {
        let table = ConnTable::new(10).unwrap();
        for (n, peer) in [peer(9), Peer::Tcp("[2001:db8::1]:443".parse().unwrap()), Peer::Unix].into_iter().enumerate()
        {
            let id = session(n as i64 + 1, 3);
            let handle = table.insert(owner(5, id), id, peer, 80, 1000).unwrap();
            assert!(!table.get(id).unwrap().full, "a row's flags are not inherited");
            table.touch(&handle, 2000, 7);
            table.set_flags(&handle, ConnFlags { websocket: true, full: false });
            let entry = table.get(id).unwrap();
            assert_eq!((entry.peer, entry.worker, entry.server_port, entry.requests), (peer, 3, 80, 7));
            assert_eq!((entry.slot, entry.websocket, entry.full), (5, true, false));
            table.set_flags(&handle, ConnFlags { websocket: false, full: true });
            let entry = table.get(id).unwrap();
            assert_eq!((entry.websocket, entry.full), (false, true));
            assert_eq!((entry.connected_at, entry.last_recv_at), (1000, 2000));
            table.remove(handle);
            assert_eq!((table.get(id), table.len()), (None, 0));
        }
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(-5), None);
    }

    #[test]
    fn a_full_table_refuses_and_takes_again_when_a_row_is_free() {
        let table = ConnTable::new(100).unwrap();
        let mut handles: Vec<_> =
            (1..=100).map(|n| table.insert(owner(0, session(n, 0)), session(n, 0), peer(1), 80, 0).unwrap()).collect();
        assert_eq!(table.insert(owner(0, session(101, 0)), session(101, 0), peer(1), 80, 0), None);
        table.remove(handles.remove(40));
        assert!(table.insert(owner(0, session(102, 0)), session(102, 0), peer(1), 80, 0).is_some());
        assert_eq!(table.len(), 100);
    }

    #[test]
    fn sessions_are_listed_in_order_and_in_pages() {
        let table = ConnTable::new(1000).unwrap();
        for n in (1..=300).rev() {
            let _ = table.insert(owner(0, session(n, n % 4)), session(n, n % 4), peer(1), 80, 0).unwrap();
        }
        let first = table.sessions(0, 100);
        let second = table.sessions(first[99], 1000);
        assert_eq!((first.len(), second.len()), (100, 200));
        assert!(first.iter().chain(&second).is_sorted());
    }

    #[test]
    fn a_dead_owner_is_purged_and_others_stay() {
        let table = ConnTable::new(64).unwrap();
        for n in 1..=20 {
            let _ =
                table.insert(owner((n % 2) as usize, session(n, n % 2)), session(n, n % 2), peer(1), 80, 0).unwrap();
        }
        assert_eq!((table.purge(1), table.len()), ((1..=20).step_by(2).map(|n| session(n, 1)).collect(), 10));
        assert!(table.sessions(0, 100).iter().all(|s| s & 1 == 0));
        assert!(table.purge(1).is_empty());
    }

    #[test]
    fn a_kill_between_two_stores_loses_no_row() {
        let table = ConnTable::new(64).unwrap();
        // Killed after the claim: owner set, neither bit nor session.
        table.rows[0].owner.store(8, Relaxed);
        // Killed while freeing: owner clear, bit set.
        table.used[0].fetch_or(0b10, Relaxed);
        assert!(table.purge(7).is_empty(), "a row without a session was nobody's connection");
        let taken = (1..=64)
            .filter(|n| table.insert(owner(0, session(*n, 0)), session(*n, 0), peer(1), 80, 0).is_some())
            .count();
        assert_eq!(taken, 64);
    }

    #[test]
    fn threads_never_see_a_mixed_entry() {
        let table = ConnTable::new(256).unwrap();
        std::thread::scope(|scope| {
            for worker in 0..3i64 {
                scope.spawn(move || {
                    let mut held = std::collections::VecDeque::new();
                    for n in 1..=20_000 {
                        let id = session(n, worker);
                        held.push_back(
                            table
                                .insert(owner(worker as usize, id), id, peer(id as u64), worker as u16, id as u64)
                                .unwrap(),
                        );
                        assert!(table.contains(id));
                        if held.len() > 60 {
                            table.remove(held.pop_front().unwrap());
                        }
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..400 {
                    for id in table.sessions(0, 1000) {
                        if let Some(entry) = table.get(id) {
                            assert_eq!((entry.peer, entry.connected_at), (peer(id as u64), id as u64));
                            assert_eq!(entry.server_port, entry.worker);
                        }
                    }
                }
            });
        });
        assert_eq!(table.len(), 180);
    }
}
