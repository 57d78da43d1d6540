//! Users and topics of this worker's connections, and what it knows of them.

use std::rc::Rc;

use apus_net::{Added, Removed};

use super::Routing;
use super::cluster::Scope;
use super::inbox::Origin;
use super::record::{Body, Change, Question, Row};

/// The connection is not there (any more).
pub(super) const NO_CONNECTION: usize = 0;
/// It is done, or was so before.
pub(super) const CHANGED: usize = 1;
/// The connection has as many topics as it may.
pub(super) const TOO_MANY: usize = 2;

impl Routing {
    /// Changes a name of a connection of this worker: one of the numbers above.
    pub(super) fn change(&self, fd: i64, change: Change, name: &[u8]) -> usize {
        if !self.control.contains(fd) {
            return NO_CONNECTION;
        }
        match change {
            Change::Bind => self.bind(fd, name),
            Change::Unbind => self.unbind(fd),
            Change::Subscribe => return self.subscribe(fd, name),
            Change::Unsubscribe => self.unsubscribe(fd, name),
        }
        CHANGED
    }

    fn bind(&self, fd: i64, user: &[u8]) {
        if self.users.borrow().names(fd).first().is_some_and(|known| **known == *user) {
            return;
        }
        self.unbind(fd);
        if self.users.borrow_mut().add(fd, user) == Added::First {
            self.worker.users().add(Self::hash(user));
            self.want(Scope::User, user);
        }
    }

    fn unbind(&self, fd: i64) {
        let vanished = self.users.borrow_mut().clear(fd);
        for user in vanished {
            self.worker.users().remove(Self::hash(&user));
            self.unwant(Scope::User, &user);
        }
    }

    fn subscribe(&self, fd: i64, topic: &[u8]) -> usize {
        let added = self.topics.borrow_mut().add(fd, topic);
        if added == Added::First {
            self.worker.topics().add(Self::hash(topic));
            self.want(Scope::Topic, topic);
        }
        if added == Added::TooMany { TOO_MANY } else { CHANGED }
    }

    fn unsubscribe(&self, fd: i64, topic: &[u8]) {
        let vanished = if topic.is_empty() {
            self.topics.borrow_mut().clear(fd)
        } else if self.topics.borrow_mut().remove(fd, topic) == Removed::Last {
            vec![Rc::from(topic)]
        } else {
            Vec::new()
        };
        for topic in vanished {
            self.worker.topics().remove(Self::hash(&topic));
            self.unwant(Scope::Topic, &topic);
        }
    }

    /// A connection is closed.
    pub(super) fn forget(&self, fd: i64) {
        self.unbind(fd);
        self.unsubscribe(fd, b"");
    }

    fn want(&self, scope: Scope, name: &[u8]) {
        if let Some(cluster) = &self.cluster {
            cluster.want(scope, name);
        }
    }

    fn unwant(&self, scope: Scope, name: &[u8]) {
        if let Some(cluster) = &self.cluster {
            cluster.unwant(scope, name);
        }
    }

    /// What this worker answers to a question.
    pub(super) fn local_answer(
        &self,
        from: Origin,
        number: u64,
        question: Question,
        limit: usize,
        name: &[u8],
    ) -> Body {
        match question {
            Question::Online => Body::of_count(self.users.borrow().count(name)),
            Question::Subscribers => Body::of_count(self.topics.borrow().count(name)),
            Question::Connections => {
                let members = self.users.borrow().members(name);
                self.rows(members, limit)
            }
            Question::Presence => {
                let members = self.topics.borrow().members(name);
                self.rows(members, limit)
            }
            Question::Reached => match (from, &self.cluster) {
                (Origin::Remote(process), Some(cluster)) => {
                    Body { count: cluster.take_reached(process, number), ..Body::default() }
                }
                _ => Body::default(),
            },
            // A task answers it.
            Question::Command => Body::default(),
        }
    }

    fn rows(&self, mut members: Vec<i64>, limit: usize) -> Body {
        let count = members.len();
        members.sort_unstable();
        members.truncate(limit);
        let users = self.users.borrow();
        let row = |fd| Row { fd, worker: self.worker.id, user: users.names(fd).first().map(|user| Box::from(&**user)) };
        Body { count: count as u64, rows: members.into_iter().map(row).collect(), ..Body::default() }
    }
}
