//! Other servers, through a broker.
//!
//! Every process of every server is a client of the broker of its own. It has subscribed what it needs: the topics and
//! users of its connections, a subject for all, and one for itself. A message says which server it comes from, and that
//! server's own processes pass over it: they have it through shared memory.
//!
//! Who is there is known from greetings: each process greets now and then. A question goes to all, and is answered by
//! all; one that owes an answer is not waited for again until it greets. The count of `sendToUser()` is asked for
//! behind the message: brokers keep the order of one connection's messages, so whoever hears the question has had the
//! message, if it was for it.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::Duration;

use apus_client::broker::{Broker, BrokerUrl, Published};
use apus_options::Settings;
use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Routing;
use super::inbox::Origin;
use super::parts::{Assembler, Cut};
use super::record::{Order, PART, Reader, VERSION};

/// How often a process greets.
const GREET: Duration = Duration::from_secs(3);
/// A process that has not been heard for so long is gone.
const FORGET: Duration = Duration::from_secs(10);
/// Bytes of one message to the broker; NATS allows 1 MiB unless it was told otherwise.
const LARGEST: usize = 512 * 1024;
/// Messages whose reach is remembered until it is asked for.
const REACHED: usize = 4096;
/// Time for the last messages of a process that ends.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Messages taken at one go before the loop turns to other things.
const TURN: usize = 256;

/// What a subject is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    User,
    Topic,
}

struct Peer {
    node: u64,
    heard: Instant,
    /// It owed an answer, and has not greeted since.
    silent: bool,
}

pub(super) struct Cluster {
    broker: Broker,
    prefix: String,
    node: u64,
    /// This process, among all of all servers.
    me: u64,
    peers: RefCell<HashMap<u64, Peer>>,
    /// How many connections a message reached: process, number, count.
    reached: RefCell<VecDeque<(u64, u64, usize)>>,
    parts: RefCell<Assembler<u64>>,
    cuts: Cell<u32>,
    /// Wakes the greeter: there is a connection.
    connected: Rc<Notify>,
}

impl Cluster {
    /// `None` without the setting. The settings were looked at by `prepare()`.
    pub(super) fn open(settings: &Settings, node: u64, limit: usize) -> Option<Self> {
        if settings.broker.is_empty() {
            return None;
        }
        let url = BrokerUrl::parse(&settings.broker).ok()?;
        let (shown, connected) = (url.to_string(), Rc::new(Notify::new()));
        let wake = Rc::clone(&connected);
        let room = (limit * 2).max(16 << 20);
        let options = super::broker::options(settings, shown, room, move || wake.notify_one());
        let me = RandomState::new().hash_one(std::process::id());
        let cluster = Self {
            broker: Broker::open(url, options),
            prefix: settings.broker_prefix.clone(),
            node,
            me,
            peers: RefCell::default(),
            reached: RefCell::default(),
            parts: RefCell::new(Assembler::new(limit)),
            cuts: Cell::new(0),
            connected,
        };
        cluster.broker.subscribe(&cluster.subject_of_all());
        cluster.broker.subscribe(&cluster.subject_of(me));
        Some(cluster)
    }

    fn subject_of_all(&self) -> String {
        format!("{}.all", self.prefix)
    }

    fn subject_of(&self, process: u64) -> String {
        format!("{}.p.{process:016x}", self.prefix)
    }

    fn subject(&self, scope: Scope, name: &[u8]) -> String {
        let room = match scope {
            Scope::User => 'u',
            Scope::Topic => 't',
        };
        format!("{}.{room}.{}", self.prefix, escaped(name))
    }

    pub(super) fn want(&self, scope: Scope, name: &[u8]) {
        self.broker.subscribe(&self.subject(scope, name));
    }

    pub(super) fn unwant(&self, scope: Scope, name: &[u8]) {
        self.broker.unsubscribe(&self.subject(scope, name));
    }

    /// Sends an order to whoever has subscribed; false when it was dropped.
    fn send(&self, subject: &str, order: &Order<'_>) -> bool {
        let (kind, head, tail) = order.encode();
        if head.bytes().len() + tail.len() <= LARGEST {
            return self.publish(subject, kind, &[head.bytes(), tail]);
        }
        self.cuts.set(self.cuts.get().wrapping_add(1));
        Cut::new(self.cuts.get(), kind, head.bytes(), tail, LARGEST)
            .all(|part| self.publish(subject, PART, &[&part.head, part.slices[0], part.slices[1]]))
    }

    fn publish(&self, subject: &str, kind: u8, parts: &[&[u8]]) -> bool {
        let mut message = Vec::with_capacity(18 + parts.iter().map(|part| part.len()).sum::<usize>());
        message.extend_from_slice(&[VERSION, kind]);
        message.extend_from_slice(&self.node.to_le_bytes());
        message.extend_from_slice(&self.me.to_le_bytes());
        for part in parts {
            message.extend_from_slice(part);
        }
        self.broker.publish(subject, Bytes::from(message)) == Published::Queued
    }

    /// Sends to those who have a name.
    pub(super) fn send_to(&self, scope: Scope, name: &[u8], order: &Order<'_>) -> bool {
        self.send(&self.subject(scope, name), order)
    }

    /// Sends to all.
    pub(super) fn send_to_all(&self, order: &Order<'_>) -> bool {
        self.send(&self.subject_of_all(), order)
    }

    pub(super) fn answer(&self, process: u64, number: u64, body: &[u8]) {
        self.send(&self.subject_of(process), &Order::Answer { number, body });
    }

    /// The processes of other servers that answer questions; none while there is no connection.
    pub(super) fn parties(&self) -> Vec<u64> {
        if !self.broker.is_connected() {
            return Vec::new();
        }
        let peers = self.peers.borrow();
        peers.iter().filter(|(_, peer)| !peer.silent && peer.heard.elapsed() < FORGET).map(|(id, _)| *id).collect()
    }

    /// The server that a process belongs to.
    pub(super) fn node_of(&self, process: u64) -> u64 {
        self.peers.borrow().get(&process).map_or(0, |peer| peer.node)
    }

    /// A process owes an answer: it is not waited for until it greets.
    pub(super) fn owes(&self, process: u64) {
        if let Some(peer) = self.peers.borrow_mut().get_mut(&process) {
            peer.silent = true;
        }
    }

    pub(super) fn note_reached(&self, process: u64, number: u64, count: usize) {
        let mut reached = self.reached.borrow_mut();
        if reached.len() >= REACHED {
            reached.pop_front();
        }
        reached.push_back((process, number, count));
    }

    pub(super) fn take_reached(&self, process: u64, number: u64) -> u64 {
        let mut reached = self.reached.borrow_mut();
        let found = reached.iter().position(|(by, known, _)| (*by, *known) == (process, number));
        found.and_then(|at| reached.remove(at)).map_or(0, |(_, _, count)| count as u64)
    }

    /// A process was heard; whether for the first time.
    fn heard(&self, process: u64, node: u64) -> bool {
        let peer = Peer { node, heard: Instant::now(), silent: false };
        self.peers.borrow_mut().insert(process, peer).is_none()
    }

    fn forget_gone(&self) {
        self.peers.borrow_mut().retain(|_, peer| peer.heard.elapsed() < FORGET);
        let mut parts = self.parts.borrow_mut();
        let peers = self.peers.borrow();
        let gone: Vec<u64> = parts.senders().filter(|process| !peers.contains_key(process)).collect();
        for process in gone {
            parts.forget(process);
        }
    }

    /// Says good-bye, and waits a moment until what was said has left.
    pub(super) async fn leave(&self) {
        if self.broker.is_connected() {
            self.send_to_all(&Order::Bye);
            let _ = tokio::time::timeout(LAST_WORDS, self.broker.flushed()).await;
        }
    }
}

/// A name as a part of a subject: messages, digits, - and _ as they are, every other byte as %XX.
fn escaped(name: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(name.len());
    for &byte in name {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            out.push(char::from(byte));
        } else {
            // Writing to memory does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

impl Routing {
    /// Hears other servers until the routing stops.
    pub(super) async fn hear_broker(self: Rc<Self>) {
        let Some(cluster) = &self.cluster else { return };
        loop {
            let mut next = Some(cluster.broker.receive().await);
            let turn = self.control.write_turn();
            for _ in 0..TURN {
                let Some(message) = next.take() else { break };
                self.receive_remote(cluster, &message.payload);
                next = cluster.broker.try_receive();
            }
            if let Some(message) = next {
                self.receive_remote(cluster, &message.payload);
            }
            drop(turn);
            tokio::task::yield_now().await;
        }
    }

    fn receive_remote(self: &Rc<Self>, cluster: &Cluster, message: &Bytes) {
        let mut at = Reader(message);
        let (Some(VERSION), Some(kind), Some(node), Some(process)) = (at.u8(), at.u8(), at.u64(), at.u64()) else {
            return;
        };
        if node == cluster.node {
            return;
        }
        let body = message.slice_ref(at.rest());
        if cluster.heard(process, node) {
            cluster.send(&cluster.subject_of(process), &Order::Hello);
        }
        if kind == PART {
            let whole = cluster.parts.borrow_mut().take(process, &body);
            if let Some((kind, whole)) = whole {
                self.perform_remote(cluster, process, kind, &Bytes::from(whole));
            }
            return;
        }
        self.perform_remote(cluster, process, kind, &body);
    }

    fn perform_remote(self: &Rc<Self>, cluster: &Cluster, process: u64, kind: u8, body: &Bytes) {
        match Order::decode(kind, body) {
            Some(Order::Bye) => {
                cluster.peers.borrow_mut().remove(&process);
                self.questions.lost(super::questions::Respondent::Remote(process));
            }
            // Other servers have no say over single connections.
            Some(Order::ToUser { .. } | Order::Publish { .. } | Order::Ask { .. } | Order::Answer { .. }) => {
                self.perform(Origin::Remote(process), kind, body, Some(body));
            }
            _ => {}
        }
    }

    /// Greets other servers when there is a connection, and now and then.
    pub(super) async fn greet_cluster(self: Rc<Self>) {
        let Some(cluster) = &self.cluster else { return };
        loop {
            if cluster.broker.is_connected() {
                cluster.send_to_all(&Order::Hello);
            }
            cluster.forget_gone();
            tokio::select! {
                () = cluster.connected.notified() => {}
                () = tokio::time::sleep(GREET) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parts_of_subjects() {
        assert_eq!(escaped(b"room-1_A"), "room-1_A");
        assert_eq!(escaped(b"a.b *>\xff%"), "a%2Eb%20%2A%3E%FF%25");
        let longest = format!("{}.t.{}", "p".repeat(super::super::MAX_PREFIX), escaped(&[b'.'; apus_net::MAX_NAME]));
        assert!(Broker::is_subject(&longest));
    }
}
