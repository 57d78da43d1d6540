//! What a worker does for processes that have no connections: those that run scripts (`guest`).

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use super::Routing;
use super::inbox::Origin;
use super::outbox::PostOutcome;
use super::record::{Body, Errand, How, Order, Question};
use super::users::Inquiry;

/// How long it may take; whoever asked waits a little longer.
pub(super) const LIMIT: Duration = Duration::from_secs(2);
/// Connections of one user that are closed at most.
const MOST: usize = 100_000;

impl Routing {
    /// Does it in a task of its own, for the inbox never waits, and answers. A process has one under way at a time.
    pub(super) fn run_errand(self: &Rc<Self>, slot: usize, number: u64, errand: Errand, name: &[u8], payload: Bytes) {
        let (routing, name) = (Rc::clone(self), name.to_vec());
        self.state.spawn(async move {
            let done = tokio::time::timeout(LIMIT, routing.errand(errand, &name, payload)).await;
            routing.answer(Origin::Slot(slot), number, &Body::of_count(done.unwrap_or(0) as usize));
        });
    }

    async fn errand(&self, errand: Errand, name: &[u8], payload: Bytes) -> u64 {
        match errand {
            Errand::Publish(how) => u64::from(self.publish_everywhere(name, how, payload).await),
            Errand::ToUser(how) => {
                self.reach_user_here(name, how, || payload.clone())
                    + self.reach_user_elsewhere(name, how, &payload).await
            }
            Errand::Online => self.counted(Question::Online, 1, name, self.user_slots(name)).await,
            Errand::Subscribers => self.counted(Question::Subscribers, 0, name, self.topic_slots(name)).await,
            Errand::Disconnect(code) => self.disconnect_user(name, code, &payload).await,
        }
    }

    /// Sends a message to all subscribers of a topic, and waits for room where there is none.
    async fn publish_everywhere(&self, topic: &[u8], how: How, payload: Bytes) -> bool {
        let order = Order::Publish { how, topic, payload: &payload };
        let mut all = self.publish_here(&order, topic, how, || payload.clone());
        for slot in self.topic_slots(topic) {
            // A process that has just gone has no subscribers.
            all &= matches!(self.outbox.post(slot, &order).await, PostOutcome::Done | PostOutcome::Gone);
        }
        all
    }

    async fn counted(&self, question: Question, limit: usize, name: &[u8], slots: Vec<usize>) -> u64 {
        self.inquired(&Inquiry { what: "Push", question, name, limit, everywhere: true, slots }).await.0
    }

    /// Closes the connections that a user has at this server.
    async fn disconnect_user(&self, user: &[u8], code: u16, reason: &[u8]) -> u64 {
        let (question, slots) = (Question::Connections, self.user_slots(user));
        let inquiry = Inquiry { what: "Push", question, name: user, limit: MOST, everywhere: false, slots };
        let (_, rows) = self.inquired(&inquiry).await;
        let mut closed = 0;
        for (_, row) in rows {
            if let Some(message_conn) = self.control.message_conn(row.fd) {
                closed += u64::from(message_conn.close(code, &String::from_utf8_lossy(reason)));
            } else if let Some(entry) = self.elsewhere(row.fd) {
                let order = Order::Close { fd: row.fd, reset: false, code, reason };
                closed += u64::from(self.outbox.post(entry.slot, &order).await == PostOutcome::Done);
            }
        }
        closed
    }
}
