//! What comes from the other processes of this server.

use std::rc::Rc;

use apus_process::log;
use bytes::Bytes;
use tokio::io::Interest;

use super::Routing;
use super::dispatch::Parcel;
use super::outbox::PostOutcome;
use super::questions::Respondent;
use super::record::{Body, Order, PART, Question};
use crate::descriptor;

/// Bytes taken at one go before the loop turns to other things.
const TURN: usize = 64 * 1024;

/// Where an order came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A process of this server: its slot.
    Slot(usize),
    /// A process of another server.
    Remote(u64),
}

impl Routing {
    /// Hears the other processes until the routing stops.
    pub(super) async fn hear_ipc(self: Rc<Self>) {
        let watch =
            self.worker.ipc().fd().try_clone_to_owned().and_then(|fd| descriptor::watch(fd, Interest::READABLE));
        let Ok(watch) = watch else {
            log::error(format_args!("worker {} cannot hear the other workers", self.worker.id));
            return;
        };
        loop {
            let Ok(mut ready) = watch.readable().await else { return };
            ready.clear_ready();
            self.worker.ipc().clear_signal();
            // The notifier also says that there is room elsewhere, and those who wait for it must not wait for the end
            // of our messages.
            self.outbox.rooms();
            self.take_all().await;
            let gone = self.gone_in_midst();
            if !gone.is_empty() {
                // What they sent before they went may have come since.
                self.take_all().await;
                self.drop_halves(&gone);
            }
        }
    }

    /// Others find nobody here from now on; what they posted before is still performed.
    pub(super) async fn retire(self: Rc<Self>) {
        self.worker.ipc().retire();
        while self.take_ipc() {
            tokio::task::yield_now().await;
        }
    }

    /// Takes some of what came; whether there is more.
    fn take_ipc(self: &Rc<Self>) -> bool {
        let turn = self.control.write_turn();
        let more = self.worker.ipc().take(TURN, |from, kind, bytes| self.receive(from, kind, bytes));
        drop(turn);
        self.give_pipe_messages();
        self.give_dispatched();
        more
    }

    fn receive(self: &Rc<Self>, from: usize, kind: u8, bytes: &[u8]) {
        if kind != PART {
            return self.perform(Origin::Slot(from), kind, bytes, None);
        }
        if !self.part_pids.borrow().contains_key(&from) {
            let pid = self.pid_of(from).unwrap_or(0);
            self.part_pids.borrow_mut().insert(from, pid);
        }
        let whole = self.parts.borrow_mut().take(from, bytes);
        if let Some((kind, whole)) = whole {
            let whole = Bytes::from(whole);
            self.perform(Origin::Slot(from), kind, &whole, Some(&whole));
        }
    }

    /// Takes what came, turn by turn.
    async fn take_all(self: &Rc<Self>) {
        while self.take_ipc() {
            tokio::task::yield_now().await;
            self.outbox.rooms();
        }
    }

    /// The processes that have begun a long record and are gone: slot and process id.
    fn gone_in_midst(&self) -> Vec<(usize, u32)> {
        let mut pids = self.part_pids.borrow_mut();
        if !pids.is_empty() {
            let begun: Vec<usize> = self.parts.borrow().senders().collect();
            pids.retain(|slot, _| begun.contains(slot));
        }
        pids.iter().map(|(slot, pid)| (*slot, *pid)).filter(|(slot, pid)| self.pid_of(*slot) != Some(*pid)).collect()
    }

    /// Drops what these have begun and not ended.
    fn drop_halves(&self, gone: &[(usize, u32)]) {
        let mut pids = self.part_pids.borrow_mut();
        for (slot, pid) in gone {
            // Another process may have the slot since, and have begun a record of its own.
            if pids.get(slot) == Some(pid) {
                self.parts.borrow_mut().forget(*slot);
                pids.remove(slot);
            }
        }
    }

    /// Does what a record says. `whole` is its memory, where that may be kept.
    pub(super) fn perform(self: &Rc<Self>, from: Origin, kind: u8, bytes: &[u8], whole: Option<&Bytes>) {
        let Some(order) = Order::decode(kind, bytes) else { return };
        let keep = |payload: &[u8]| match whole {
            Some(whole) => whole.slice_ref(payload),
            None => Bytes::copy_from_slice(payload),
        };
        match order {
            Order::Push { fd, how, payload } => self.deliver_frame(fd, how, payload),
            Order::Send { fd, payload } => self.deliver_bytes(fd, payload),
            Order::Reply { fd, reply } => self.deliver_reply(fd, reply),
            Order::Close { fd, reset, code, reason } => self.deliver_close(fd, reset, code, reason),
            Order::Reading { fd, step } => self.deliver_step(fd, step),
            Order::Pipe { worker, serialized, value } => self.keep_pipe_message(worker, serialized, value),
            Order::Dispatch { fd, port, client_port, address, payload } => {
                // Only processes of this server have the same ports.
                if matches!(from, Origin::Slot(_)) {
                    let from = (String::from_utf8_lossy(address).into_owned(), client_port);
                    self.keep_dispatched(Parcel { fd, port, from, data: payload.to_vec() });
                }
            }
            Order::Name { number, fd, change, name } => {
                let body = Body::of_count(self.change(fd, change, name));
                self.answer(from, number, &body);
            }
            Order::ToUser { number, how, user, payload } => {
                let members = self.users.borrow().members(user);
                let reached = if members.is_empty() { 0 } else { self.reach(&members, how, keep(payload)) };
                match (from, &self.cluster) {
                    // Counted, and told when the question for it comes.
                    (Origin::Remote(process), Some(cluster)) => cluster.note_reached(process, number, reached),
                    _ => self.answer(from, number, &Body::of_count(reached)),
                }
            }
            Order::Publish { how, topic, payload } => {
                let members = self.topics.borrow().members(topic);
                if !members.is_empty() {
                    self.reach(&members, how, keep(payload));
                }
            }
            Order::Ask { number, question: Question::Command, name, .. } => self.perform_command(from, number, name),
            Order::Ask { number, question, limit, name } => {
                let body = self.local_answer(from, number, question, limit as usize, name);
                self.answer(from, number, &body);
            }
            Order::Errand { number, errand, name, payload } => {
                // Only processes of this server have no connections of their own.
                if let Origin::Slot(slot) = from {
                    self.run_errand(slot, number, errand, name, keep(payload));
                }
            }
            Order::Answer { number, body } => {
                let respondent = match from {
                    Origin::Slot(slot) => Respondent::Slot(slot, 0),
                    Origin::Remote(process) => Respondent::Remote(process),
                };
                self.questions.answered(number, respondent, Body::decode(body).unwrap_or_default());
            }
            Order::Hello | Order::Bye => {}
        }
    }

    /// Answers a question. Where the asker's ring is full a task does it, for the inbox never waits.
    pub(super) fn answer(self: &Rc<Self>, to: Origin, number: u64, body: &Body) {
        let body = body.encode();
        match to {
            Origin::Remote(process) => {
                if let Some(cluster) = &self.cluster {
                    cluster.answer(process, number, &body);
                }
            }
            Origin::Slot(slot) => {
                if self.outbox.post_now(slot, &Order::Answer { number, body: &body }) == PostOutcome::Full {
                    let routing = Rc::clone(self);
                    self.state.spawn(async move {
                        routing.outbox.post(slot, &Order::Answer { number, body: &body }).await;
                    });
                }
            }
        }
    }
}
