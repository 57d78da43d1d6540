//! Messages for users and topics, and questions about them, over all workers and servers.

use std::rc::Rc;
use std::time::Duration;

use apus_coro::Wait;
use apus_zend::Raise;
use bytes::Bytes;

use super::Routing;
use super::cluster::Scope;
use super::outbox::PostOutcome;
use super::questions::{Question as Asked, Respondent};
use super::record::{Body, How, Order, Question, Row};
use super::remote::Forwarded;
use crate::wait::{expect_suspendable, wait};

/// The time that others have for their answers.
const LIMIT: Duration = Duration::from_secs(2);
/// How often it is looked whether those who are to answer are alive.
const LOOK: Duration = Duration::from_millis(50);

/// What is asked of whom.
pub(super) struct Inquiry<'a> {
    pub(super) what: &'static str,
    pub(super) question: Question,
    pub(super) name: &'a [u8],
    pub(super) limit: usize,
    /// Whether other servers are asked, too.
    pub(super) everywhere: bool,
    /// The slots of other processes that may know something.
    pub(super) slots: Vec<usize>,
}

impl Inquiry<'_> {
    /// Whether it is enough that one has an answer.
    fn is_settled_by_one(&self) -> bool {
        self.question == Question::Online && self.limit == 1
    }

    /// What all know together.
    fn found(&self, own: Body, others: Vec<(u64, Body)>) -> (u64, Vec<Found>) {
        let bodies = std::iter::once((0, own)).chain(others).collect::<Vec<_>>();
        let count = bodies.iter().map(|(_, body)| body.count).sum();
        let rows = bodies.into_iter().flat_map(|(node, body)| body.rows.into_iter().map(move |row| (node, row)));
        (count, rows.take(self.limit).collect())
    }
}

/// A row of an answer, and the server it came from (0: this one).
pub(super) type Found = (u64, Row);

impl Routing {
    /// Asks the others, and adds what this process knows. `None` when the wait was cancelled.
    pub(super) fn inquire(self: &Rc<Self>, inquiry: &Inquiry<'_>) -> Result<Option<(u64, Vec<Found>)>, Raise> {
        let own = self.own_answer(inquiry);
        if !self.is_open(inquiry, &own) {
            return Ok(Some(inquiry.found(own, Vec::new())));
        }
        let answers = wait(&self.state, Wait::Outside(inquiry.what), self.ask_others(inquiry))?;
        Ok(answers.map(|answers| inquiry.found(own, answers)))
    }

    /// The same for a task of the loop.
    pub(super) async fn inquired(&self, inquiry: &Inquiry<'_>) -> (u64, Vec<Found>) {
        let own = self.own_answer(inquiry);
        let answers = if self.is_open(inquiry, &own) { self.ask_others(inquiry).await } else { Vec::new() };
        inquiry.found(own, answers)
    }

    fn own_answer(&self, inquiry: &Inquiry<'_>) -> Body {
        self.local_answer(super::inbox::Origin::Slot(0), 0, inquiry.question, inquiry.limit, inquiry.name)
    }

    /// Whether others may know more than this process.
    fn is_open(&self, inquiry: &Inquiry<'_>, own: &Body) -> bool {
        let nobody = inquiry.slots.is_empty() && !(inquiry.everywhere && self.has_remote_parties());
        !(nobody || inquiry.is_settled_by_one() && own.count > 0)
    }

    async fn ask_others(&self, inquiry: &Inquiry<'_>) -> Vec<(u64, Body)> {
        let remote = if inquiry.everywhere { self.remote_parties() } else { Vec::new() };
        let (question, limit, name) = (inquiry.question, inquiry.limit as u32, inquiry.name);
        let ask = |number| Order::Ask { number, question, limit, name };
        let enough = |answers: &[(Respondent, Body)]| {
            inquiry.is_settled_by_one() && answers.iter().any(|(_, body)| body.count > 0)
        };
        self.ask(&inquiry.slots, &remote, ask, |order| self.ask_all(order), enough).await
    }

    fn has_remote_parties(&self) -> bool {
        !self.remote_parties().is_empty()
    }

    fn remote_parties(&self) -> Vec<u64> {
        self.cluster.as_ref().map(super::cluster::Cluster::parties).unwrap_or_default()
    }

    fn ask_all(&self, order: &Order<'_>) {
        if let Some(cluster) = &self.cluster {
            cluster.send_to_all(order);
        }
    }

    /// Has orders answered: those of `slots` over their rings, those of other servers by what `tell` does. Each answer
    /// with the server it came from.
    pub(super) async fn ask<'a>(
        &self,
        slots: &[usize],
        remote: &[u64],
        order: impl Fn(u64) -> Order<'a>,
        tell: impl Fn(&Order<'a>),
        enough: impl Fn(&[(Respondent, Body)]) -> bool,
    ) -> Vec<(u64, Body)> {
        let here = slots.iter().filter_map(|slot| Some(Respondent::Slot(*slot, self.pid_of(*slot)?)));
        let there = remote.iter().map(|process| Respondent::Remote(*process));
        let question = self.questions.begin(here.chain(there));
        let order = order(question.number);
        let work = async {
            if !remote.is_empty() {
                tell(&order);
            }
            self.post_to_all(slots, &order, &question).await;
            loop {
                tokio::select! {
                    () = question.settled(&enough) => break,
                    () = tokio::time::sleep(LOOK) => self.look_for_the_dead(),
                }
            }
        };
        let in_time = tokio::time::timeout(LIMIT, work).await.is_ok();
        let (answers, missing) = question.result();
        if let Some(cluster) = self.cluster.as_ref().filter(|_| !in_time) {
            for respondent in missing {
                if let Respondent::Remote(process) = respondent {
                    cluster.owes(process);
                }
            }
        }
        answers.into_iter().map(|(respondent, body)| (self.node_behind(respondent), body)).collect()
    }

    fn node_behind(&self, respondent: Respondent) -> u64 {
        match (respondent, &self.cluster) {
            (Respondent::Remote(process), Some(cluster)) => cluster.node_of(process),
            _ => 0,
        }
    }

    /// Posts to everyone, to those first whose rings have room.
    async fn post_to_all(&self, slots: &[usize], order: &Order<'_>, question: &Asked<'_>) {
        let mut later = Vec::new();
        for &slot in slots {
            match if self.outbox.is_short(order) { self.outbox.post_now(slot, order) } else { PostOutcome::Full } {
                PostOutcome::Done => {}
                PostOutcome::Full => later.push(slot),
                PostOutcome::Gone | PostOutcome::TooLarge => question.skip(slot),
            }
        }
        for slot in later {
            if self.outbox.post(slot, order).await != PostOutcome::Done {
                question.skip(slot);
            }
        }
    }

    fn look_for_the_dead(&self) {
        for respondent in self.questions.awaited() {
            if let Respondent::Slot(slot, pid) = respondent
                && self.pid_of(slot) != Some(pid)
            {
                self.questions.lost(respondent);
            }
        }
    }

    /// Has one process do something that is answered with a number. `None` when the wait was cancelled.
    pub(super) fn ask_one<'a>(
        self: &Rc<Self>,
        what: &'static str,
        slot: usize,
        order: impl Fn(u64) -> Order<'a>,
    ) -> Result<Option<u64>, Raise> {
        let slots = [slot];
        let asking = self.ask(&slots, &[], order, |_| {}, |_| false);
        let answers = wait(&self.state, Wait::Outside(what), asking)?;
        Ok(answers.map(|answers| answers.first().map_or(0, |(_, body)| body.count)))
    }

    /// Sends a message to all connections of a user: how many it reached.
    pub(super) fn send_to_user(self: &Rc<Self>, user: &[u8], how: How, payload: &[u8]) -> Result<i64, Raise> {
        const WHAT: &str = "Server::sendToUser()";
        let elsewhere = !self.user_slots(user).is_empty() || self.has_remote_parties();
        if elsewhere {
            // Before anything is sent: outside a coroutine the count cannot be waited for.
            expect_suspendable(&self.state, WHAT)?;
        }
        let mut reached = self.reach_user_here(user, how, || Bytes::copy_from_slice(payload));
        if elsewhere {
            reached +=
                wait(&self.state, Wait::Outside(WHAT), self.reach_user_elsewhere(user, how, payload))?.unwrap_or(0);
        }
        Ok(reached as i64)
    }

    /// Sends a message to a user's connections of this process: how many it reached.
    pub(super) fn reach_user_here(&self, user: &[u8], how: How, payload: impl FnOnce() -> Bytes) -> u64 {
        let members = self.users.borrow().members(user);
        if members.is_empty() { 0 } else { self.reach(&members, how, payload()) as u64 }
    }

    /// The same of all others.
    pub(super) async fn reach_user_elsewhere(&self, user: &[u8], how: How, payload: &[u8]) -> u64 {
        let (slots, remote) = (self.user_slots(user), self.remote_parties());
        if slots.is_empty() && remote.is_empty() {
            return 0;
        }
        let order = |number| Order::ToUser { number, how, user, payload };
        let tell = |order: &Order<'_>| {
            let (Some(cluster), Order::ToUser { number, .. }) = (&self.cluster, order) else { return };
            cluster.send_to(Scope::User, user, order);
            cluster.send_to_all(&Order::Ask { number: *number, question: Question::Reached, limit: 0, name: b"" });
        };
        let answers = self.ask(&slots, &remote, order, tell, |_| false).await;
        answers.iter().map(|(_, body)| body.count).sum()
    }

    /// Sends a message to all subscribers of a topic.
    pub(super) fn publish(self: &Rc<Self>, topic: &[u8], how: How, payload: &[u8]) -> Result<bool, Raise> {
        let order = Order::Publish { how, topic, payload };
        let sent = self.publish_here(&order, topic, how, || Bytes::copy_from_slice(payload));
        let mut all = sent || Forwarded::QueueFull.told();
        for slot in self.topic_slots(topic) {
            match self.post("Server::publish()", slot, &order, true)? {
                // A process that has just gone has no subscribers.
                Forwarded::Done | Forwarded::NotExist => {}
                failed => all = failed.told(),
            }
        }
        Ok(all)
    }
    /// Sends a message to subscribers of a topic that this process has, and to the other servers; whether these could
    /// be told.
    pub(super) fn publish_here(
        &self,
        order: &Order<'_>,
        topic: &[u8],
        how: How,
        payload: impl FnOnce() -> Bytes,
    ) -> bool {
        let members = self.topics.borrow().members(topic);
        if !members.is_empty() {
            self.reach(&members, how, payload());
        }
        self.cluster.as_ref().is_none_or(|cluster| cluster.send_to(Scope::Topic, topic, order))
    }
}
