//! What a broker's handle and its task share.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::url::{BrokerUrl, Dialect, Host, MAX_HOSTS};
use super::{BrokerOptions, Published, Received, Report, nats, redis};

/// What a queued message counts beside its bytes: about what it occupies.
const OVERHEAD: usize = 64;
/// Bytes encoded at one go, unless one message is larger.
const BATCH: usize = 64 * 1024;
/// The shortest time between two reports of the same trouble.
const REPORT_EVERY: Duration = Duration::from_secs(5);

struct Publication {
    subject: Rc<str>,
    payload: Bytes,
}

impl Publication {
    fn weight(&self) -> usize {
        weight(self.subject.len(), self.payload.len())
    }
}

fn weight(subject: usize, payload: usize) -> usize {
    OVERHEAD + subject + payload
}

/// What is subscribed: what the program wants, and what this connection has been told.
#[derive(Default)]
struct Subjects {
    /// Wanted subjects with the number that NATS knows them by.
    wanted: HashMap<Rc<str>, u64>,
    /// Told to the broker over this connection, with the number.
    told: HashMap<Rc<str>, u64>,
    /// Those whose two states may differ, each once, in the order of the changes.
    changed: VecDeque<Rc<str>>,
    in_changed: HashSet<Rc<str>>,
    last_number: u64,
    /// Counts changes, for those who wait until they are confirmed.
    version: u64,
}

impl Subjects {
    fn note(&mut self, subject: Rc<str>) {
        self.version += 1;
        if self.in_changed.insert(Rc::clone(&subject)) {
            self.changed.push_back(subject);
        }
    }

    fn next_change(&mut self) -> Option<Rc<str>> {
        let subject = self.changed.pop_front()?;
        self.in_changed.remove(&subject);
        Some(subject)
    }

    /// A fresh connection has been told nothing.
    fn begin(&mut self) {
        self.told.clear();
        self.changed = self.wanted.keys().cloned().collect();
        self.in_changed = self.wanted.keys().cloned().collect();
        self.version = self.version.max(1);
    }
}

pub(super) struct Shared {
    pub(super) url: BrokerUrl,
    pub(super) options: BrokerOptions,
    subjects: RefCell<Subjects>,
    queue: RefCell<VecDeque<Publication>>,
    queued: Cell<usize>,
    /// Messages that were encoded and may not have left.
    in_flight: Cell<u64>,
    received: RefCell<VecDeque<Received>>,
    received_bytes: Cell<usize>,
    pub(super) connected: Cell<bool>,
    /// The limit that the broker told.
    max_payload: Cell<usize>,
    /// Versions that pings on their way will confirm.
    pings: RefCell<VecDeque<u64>>,
    confirmed: Cell<u64>,
    pub(super) dropped: Cell<u64>,
    reported: Cell<(u64, Option<Instant>)>,
    /// Why there is no connection, as far as it was told.
    lost: RefCell<Vec<String>>,
    /// When the last connection broke.
    lost_at: Cell<Option<Instant>>,
    /// When the broker said something last.
    pub(super) heard: Cell<Instant>,
    /// Counts attempts that failed: each begins with another of the hosts.
    turn: Cell<usize>,
    /// What the broker refused last, and when that was told.
    refusal: RefCell<Option<(String, Instant)>>,
    ping_wanted: Cell<bool>,
    pong_wanted: Cell<bool>,
    /// Wakes the task: there is something to send.
    work: Notify,
    /// Wakes [`Shared::receive`].
    arrived: Notify,
    /// Wakes the task: there is room for messages again.
    room: Notify,
    /// Wakes those who wait in `synced` or `flushed`.
    progress: Notify,
}

impl Shared {
    pub(super) fn new(url: BrokerUrl, options: BrokerOptions) -> Self {
        let max_payload = Cell::new(options.max_payload);
        Self {
            url,
            options,
            subjects: RefCell::default(),
            queue: RefCell::default(),
            queued: Cell::new(0),
            in_flight: Cell::new(0),
            received: RefCell::default(),
            received_bytes: Cell::new(0),
            connected: Cell::new(false),
            max_payload,
            pings: RefCell::default(),
            confirmed: Cell::new(0),
            dropped: Cell::new(0),
            reported: Cell::new((0, None)),
            lost: RefCell::default(),
            lost_at: Cell::new(None),
            heard: Cell::new(Instant::now()),
            // The processes spread over the servers. Forked processes have the same random keys.
            turn: Cell::new(RandomState::new().hash_one(std::process::id()) as usize % MAX_HOSTS),
            refusal: RefCell::default(),
            ping_wanted: Cell::new(false),
            pong_wanted: Cell::new(false),
            work: Notify::new(),
            arrived: Notify::new(),
            room: Notify::new(),
            progress: Notify::new(),
        }
    }

    /// The hosts, beginning with the one whose turn it is.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &Host> {
        let hosts = &self.url.hosts;
        let (before, from) = hosts.split_at(self.turn.get() % hosts.len());
        from.iter().chain(before)
    }

    /// The host whose turn it is.
    pub(super) fn host(&self) -> &Host {
        let hosts = &self.url.hosts;
        &hosts[self.turn.get() % hosts.len()]
    }

    pub(super) fn want(&self, subject: &str) {
        let subjects = &mut *self.subjects.borrow_mut();
        if subjects.wanted.contains_key(subject) {
            return;
        }
        let subject: Rc<str> = subject.into();
        subjects.last_number += 1;
        subjects.wanted.insert(Rc::clone(&subject), subjects.last_number);
        subjects.note(subject);
        self.work.notify_one();
    }

    pub(super) fn unwant(&self, subject: &str) {
        let subjects = &mut *self.subjects.borrow_mut();
        if let Some((subject, _)) = subjects.wanted.remove_entry(subject) {
            subjects.note(subject);
            self.work.notify_one();
        }
    }

    pub(super) fn publish(&self, subject: Rc<str>, payload: Bytes) -> Published {
        if payload.len() > self.max_payload.get() {
            self.count_dropped(1);
            return Published::TooLarge;
        }
        let queued = self.queued.get() + weight(subject.len(), payload.len());
        if queued > self.options.max_queued {
            self.count_dropped(1);
            return Published::Dropped;
        }
        self.queued.set(queued);
        self.queue.borrow_mut().push_back(Publication { subject, payload });
        self.work.notify_one();
        Published::Queued
    }

    pub(super) fn try_receive(&self) -> Option<Received> {
        let received = self.received.borrow_mut().pop_front()?;
        let left = self.received_bytes.get() - weight(received.subject.len(), received.payload.len());
        self.received_bytes.set(left);
        self.room.notify_one();
        Some(received)
    }

    pub(super) async fn receive(&self) -> Received {
        loop {
            if let Some(received) = self.try_receive() {
                return received;
            }
            self.arrived.notified().await;
        }
    }

    pub(super) async fn synced(&self) {
        let version = self.subjects.borrow().version;
        self.until(|| self.connected.get() && self.confirmed.get() >= version).await;
    }

    pub(super) async fn flushed(&self) {
        self.until(|| self.queued.get() == 0 && self.in_flight.get() == 0).await;
    }

    async fn until(&self, done: impl Fn() -> bool) {
        loop {
            // Registered before the question: a step in between is not missed.
            let progress = self.progress.notified();
            if done() {
                return;
            }
            progress.await;
        }
    }

    fn count_dropped(&self, count: u64) {
        if count == 0 {
            return;
        }
        self.dropped.set(self.dropped.get() + count);
        let (_, last) = self.reported.get();
        if last.is_none_or(|last| last.elapsed() >= REPORT_EVERY) {
            self.report_dropped();
        }
    }

    pub(super) fn report_dropped(&self) {
        let ((told, _), dropped) = (self.reported.get(), self.dropped.get());
        if dropped > told {
            self.reported.set((dropped, Some(Instant::now())));
            (self.options.report)(&Report::Dropped(dropped - told));
        }
    }

    /// The broker refuses something. It may do so for each message: the same is told once in a while.
    pub(super) fn refused(&self, what: String) {
        let mut refusal = self.refusal.borrow_mut();
        if refusal.as_ref().is_some_and(|(last, told)| *last == what && told.elapsed() < REPORT_EVERY) {
            return;
        }
        *refusal = Some((what.clone(), Instant::now()));
        drop(refusal);
        (self.options.report)(&Report::Refused(what));
    }

    /// A connection is logged in.
    pub(super) fn begin(&self, max_payload: Option<usize>) {
        let limit = max_payload.unwrap_or(usize::MAX).min(self.options.max_payload);
        self.max_payload.set(limit);
        self.subjects.borrow_mut().begin();
        self.confirmed.set(0);
        self.pings.borrow_mut().clear();
        self.ping_wanted.set(true);
        self.pong_wanted.set(false);
        self.connected.set(true);
        self.lost.borrow_mut().clear();
        let report = self.lost_at.take().map_or(Report::Connected, |at| Report::Reconnected(at.elapsed()));
        (self.options.report)(&report);
        self.report_dropped();
        self.work.notify_one();
    }

    /// The connection is over, or could not be made.
    pub(super) fn end(&self, why: String) {
        if self.connected.replace(false) {
            self.lost_at.set(Some(Instant::now()));
        }
        self.turn.set(self.turn.get().wrapping_add(1));
        self.count_dropped(self.in_flight.replace(0));
        self.progress.notify_waiters();
        let mut lost = self.lost.borrow_mut();
        // Several hosts may fail in turn, each in its own way.
        if lost.len() < MAX_HOSTS && !lost.contains(&why) {
            lost.push(why.clone());
            drop(lost);
            (self.options.report)(&Report::Lost(why));
        }
    }

    pub(super) fn want_ping(&self) {
        self.ping_wanted.set(true);
        self.work.notify_one();
    }

    pub(super) fn want_pong(&self) {
        self.pong_wanted.set(true);
        self.work.notify_one();
    }

    pub(super) fn ponged(&self) {
        if let Some(version) = self.pings.borrow_mut().pop_front() {
            self.confirmed.set(self.confirmed.get().max(version));
            self.progress.notify_waiters();
        }
    }

    pub(super) fn arrived(&self, subject: Rc<str>, payload: Bytes) {
        self.received_bytes.set(self.received_bytes.get() + weight(subject.len(), payload.len()));
        self.received.borrow_mut().push_back(Received { subject, payload });
        self.arrived.notify_one();
    }

    /// Whether so much has come that nothing more is to be read.
    pub(super) fn is_full(&self) -> bool {
        self.received_bytes.get() >= self.options.max_received
    }

    pub(super) async fn until_room(&self) {
        while self.is_full() {
            self.room.notified().await;
        }
    }

    pub(super) async fn until_work(&self) {
        self.work.notified().await;
    }

    /// Encodes what is to be sent next. What it takes from the queue counts as in flight until [`Shared::sent`].
    pub(super) fn encode(&self, out: &mut BytesMut) {
        if self.pong_wanted.replace(false) {
            nats::pong(out);
        }
        self.encode_changes(out);
        if self.ping_wanted.replace(false) {
            match self.url.dialect {
                Dialect::Redis => redis::ping(out),
                Dialect::Nats => nats::ping(out),
            }
            self.pings.borrow_mut().push_back(self.told_version());
        }
        self.encode_queue(out);
    }

    /// The version that is told when nothing is left to tell.
    fn told_version(&self) -> u64 {
        let subjects = self.subjects.borrow();
        if subjects.changed.is_empty() { subjects.version } else { 0 }
    }

    fn encode_changes(&self, out: &mut BytesMut) {
        let subjects = &mut *self.subjects.borrow_mut();
        let mut some = false;
        while out.len() < BATCH {
            let Some(subject) = subjects.next_change() else { break };
            some = true;
            let (wanted, told) = (subjects.wanted.get(&subject).copied(), subjects.told.get(&subject).copied());
            match (wanted, told, self.url.dialect) {
                (Some(_), None, Dialect::Redis) => redis::subscribe(out, &subject),
                (Some(number), None, Dialect::Nats) => nats::subscribe(out, &subject, number),
                (None, Some(_), Dialect::Redis) => redis::unsubscribe(out, &subject),
                (None, Some(number), Dialect::Nats) => nats::unsubscribe(out, number),
                // It changed and changed back: what the broker was told stands, with its number.
                (Some(_), Some(_), _) | (None, None, _) => continue,
            }
            match wanted {
                Some(number) => subjects.told.insert(subject, number),
                None => subjects.told.remove(&subject),
            };
        }
        if some {
            self.ping_wanted.set(true);
        }
    }

    fn encode_queue(&self, out: &mut BytesMut) {
        let mut queue = self.queue.borrow_mut();
        let mut too_large = 0;
        while out.len() < BATCH {
            let Some(publication) = queue.pop_front() else { break };
            self.queued.set(self.queued.get() - publication.weight());
            // Queued when the broker's limit was not known, or for another broker behind the same name.
            if publication.payload.len() > self.max_payload.get() {
                too_large += 1;
                continue;
            }
            self.in_flight.set(self.in_flight.get() + 1);
            match self.url.dialect {
                Dialect::Redis => redis::publish(out, &publication.subject, &publication.payload),
                Dialect::Nats => nats::publish(out, &publication.subject, &publication.payload),
            }
        }
        drop(queue);
        self.count_dropped(too_large);
    }

    /// All that was encoded has been handed to the kernel.
    pub(super) fn sent(&self) {
        self.in_flight.set(0);
        self.progress.notify_waiters();
    }
}
