use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::rc::Rc;

use super::*;
use crate::config::Config;
use crate::file_part::FileState;
use crate::worker::{NoMetrics, Worker};

/// Takes so many bytes in all, so many in one call, and never a file by itself.
struct Peer {
    room: usize,
    at_once: usize,
    got: Vec<u8>,
    calls: usize,
    waits: bool,
}

impl Peer {
    fn new(room: usize, at_once: usize) -> Self {
        Self { room, at_once, got: Vec::new(), calls: 0, waits: false }
    }
}

impl Sink for Peer {
    fn write(&mut self, slices: &[IoSlice<'_>], _more: bool) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let room = self.room.min(self.at_once);
        if room == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).take(room).collect();
        self.room -= bytes.len();
        self.got.extend_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn waits(&self) -> bool {
        self.waits
    }
}

fn file(bytes: &[u8]) -> FilePart {
    let mut name = std::env::temp_dir();
    name.push(format!("apus-output-{}-{:?}", std::process::id(), std::thread::current().id()));
    File::create(&name).unwrap().write_all(bytes).unwrap();
    let opened = File::open(&name).unwrap();
    std::fs::remove_file(name).unwrap();
    FilePart::new(opened, 0, bytes.len() as u64, Rc::new(FileState::default()))
}

/// Queues a bit of everything; what the peer is to get.
fn fill(queue: &mut OutputQueue, pool: &Pool) -> Vec<u8> {
    let large: Vec<u8> = (0..GATHER + 1000).map(|n| (n % 251) as u8).collect();
    queue.buffer(pool).extend_from_slice(b"head");
    queue.append([b"[", b"one]"], 0, pool);
    queue.share(Bytes::from_static(b"shared"));
    queue.share(Bytes::new());
    queue.lend(Box::new(b"xxlent".to_vec()), 2);
    queue.attach(file(b"of a file"));
    queue.append([b"?behind", b" it"], 1, pool);
    queue.append([&large, b"!"], 7, pool);
    queue.append([b"end", b""], 0, pool);
    [&b"head[one]sharedlentof a filebehind it"[..], &large[7..], b"!end"].concat()
}

#[test]
fn all_arrives_in_order_however_little_is_taken_at_a_time() {
    let pool = Pool::default();
    for at_once in [1, 3, 17, 4096, usize::MAX] {
        let mut queue = OutputQueue::default();
        let whole = fill(&mut queue, &pool);
        assert_eq!(queue.bytes(), whole.len() - b"of a file".len());
        let mut peer = Peer::new(usize::MAX, at_once);
        while !queue.is_empty() {
            let sent = queue.send(&mut peer, &pool).unwrap();
            assert_eq!(queue.is_blocked(), sent == Sent::Blocked);
            queue.unblock();
        }
        assert!(peer.got == whole, "{at_once} bytes at a time");
        assert_eq!((queue.bytes(), queue.written, queue.pieces.capacity()), (0, whole.len() as u64, 0));
    }
}

#[test]
fn a_tail_follows_what_waits() {
    let pool = Pool::default();
    let mut queue = OutputQueue::default();
    queue.buffer(&pool).extend_from_slice(b"head");
    let mut peer = Peer::new(6, usize::MAX);
    assert_eq!(queue.send_memory(&mut peer, b"tail", &pool).unwrap(), (2, Sent::Blocked));
    assert_eq!((queue.bytes(), &peer.got[..]), (0, &b"headta"[..]));
    queue.lend(Box::new(b"tail"), 2);
    peer.room = usize::MAX;
    assert_eq!(queue.send_memory(&mut peer, b"!", &pool).unwrap(), (1, Sent::All));
    assert_eq!(peer.got, b"headtail!");
    queue.attach(file(b"file"));
    assert_eq!(queue.send_memory(&mut peer, b"not yet", &pool).unwrap().0, 0, "nothing overtakes a file");
}

#[test]
fn the_worker_knows_what_waits_for_all() {
    let worker = Worker::new(Rc::new(NoMetrics::default()));
    let config = Config { max_output: 10, max_buffered: 15, ..Config::default() };
    let mut queues = [OutputQueue::default(), OutputQueue::default()];
    for queue in &mut queues {
        queue.append([&[0; 8], b""], 0, &worker.pool);
        assert!(!is_over_bound(queue.bytes(), &config, &worker));
        queue.count(&worker);
    }
    assert_eq!(worker.output_bytes(), 16);
    assert!(
        is_over_bound(8, &config, &worker)
            && !is_over_bound(0, &config, &worker)
            && is_over_bound(10, &config, &worker)
    );
    queues[0].flush(&mut Peer::new(3, 3), &worker).unwrap();
    assert_eq!((worker.output_bytes(), worker.counters.bytes_out.get()), (13, 3));
    queues[0].give_up(&worker);
    queues[1].give_up(&worker);
    assert_eq!(worker.output_bytes(), 0);
}

#[test]
fn full_is_left_under_the_low_watermark_only() {
    let config = Config { high_watermark: 80, low_watermark: 40, ..Config::default() };
    let mut full = false;
    for (waiting, expected) in [(79, false), (80, true), (41, true), (40, false), (79, false)] {
        full = is_full(full, waiting, &config);
        assert_eq!(full, expected, "{waiting}");
    }
}

#[test]
fn what_the_kernel_had_before_counts_as_taken() {
    let config = Config { send_timeout: 1000, min_rate: 10, ..Config::default() };
    let mut queue = OutputQueue::default();
    assert!(!queue.is_stalled(0, &config, || 300_000), "nothing waits");
    queue.append([b"waits", b""], 0, &Pool::default());
    assert!(!queue.is_stalled(100, &config, || 300_000), "a window begins");
    assert!(!queue.is_stalled(1099, &config, || 300_000), "it is not over");
    assert!(!queue.is_stalled(1100, &config, || 299_990), "the peer took just enough");
    assert!(queue.is_stalled(2100, &config, || 299_981), "one byte too few");
}

#[test]
fn a_file_is_not_read_while_the_sink_holds_bytes_back() {
    let (mut queue, pool, mut peer) = (OutputQueue::default(), Pool::default(), Peer::new(1000, 1000));
    queue.attach(file(b"of a file"));
    peer.waits = true;
    assert_eq!(queue.send(&mut peer, &pool).unwrap(), Sent::Blocked);
    assert_eq!((queue.bytes(), queue.is_blocked(), queue.is_empty()), (0, true, false));
    peer.waits = false;
    queue.unblock();
    assert_eq!(queue.send(&mut peer, &pool).unwrap(), Sent::All);
    assert_eq!(peer.got, b"of a file");
}
