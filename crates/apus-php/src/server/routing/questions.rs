//! Questions to other processes, and orders that are answered.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use tokio::sync::Notify;

use super::record::Body;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Respondent {
    /// A process of this server: its slot and process id.
    Slot(usize, u32),
    /// A process of another server.
    Remote(u64),
}

/// Those that are under way.
pub(super) struct Questions {
    next: Cell<u64>,
    open: RefCell<HashMap<u64, Rc<Open>>>,
}

struct Open {
    awaited: RefCell<HashSet<Respondent>>,
    answers: RefCell<Vec<(Respondent, Body)>>,
    progress: Notify,
}

/// A question under way; dropped, later answers to it are ignored.
pub(super) struct Question<'a> {
    questions: &'a Questions,
    pub(super) number: u64,
    open: Rc<Open>,
}

impl Questions {
    pub(super) fn new() -> Self {
        // A beginning of its own: what was asked by a process that had this slot before is not taken for ours. Forked
        // processes have the random keys of their parent, so the process id makes the difference.
        Self { next: Cell::new(RandomState::new().hash_one(std::process::id())), open: RefCell::default() }
    }

    /// Asks these parties, once the caller has sent them the number.
    pub(super) fn begin(&self, parties: impl IntoIterator<Item = Respondent>) -> Question<'_> {
        let number = self.next.get();
        self.next.set(number.wrapping_add(1));
        let awaited = RefCell::new(parties.into_iter().collect());
        let open = Rc::new(Open { awaited, answers: RefCell::default(), progress: Notify::new() });
        self.open.borrow_mut().insert(number, Rc::clone(&open));
        Question { questions: self, number, open }
    }

    /// An answer came. One that nobody waits for is ignored, and so is a second one. A process of this server is known
    /// by its slot alone: that of a successor does not know the number.
    pub(super) fn answered(&self, number: u64, by: Respondent, body: Body) {
        let Some(open) = self.open.borrow().get(&number).cloned() else { return };
        let mut awaited = open.awaited.borrow_mut();
        let found = awaited.iter().find(|respondent| same(**respondent, by)).copied();
        if let Some(respondent) = found {
            awaited.remove(&respondent);
            open.answers.borrow_mut().push((respondent, body));
            open.progress.notify_one();
        }
    }

    /// Parties that somebody waits for.
    pub(super) fn awaited(&self) -> HashSet<Respondent> {
        self.open.borrow().values().flat_map(|open| open.awaited.borrow().iter().copied().collect::<Vec<_>>()).collect()
    }

    /// A party will not answer any more.
    pub(super) fn lost(&self, respondent: Respondent) {
        for open in self.open.borrow().values() {
            if open.awaited.borrow_mut().remove(&respondent) {
                open.progress.notify_one();
            }
        }
    }
}

fn same(one: Respondent, other: Respondent) -> bool {
    match (one, other) {
        (Respondent::Slot(one, _), Respondent::Slot(other, _)) => one == other,
        _ => one == other,
    }
}

impl Question<'_> {
    /// The process of that slot could not be asked.
    pub(super) fn skip(&self, slot: usize) {
        self.open.awaited.borrow_mut().retain(|respondent| !same(*respondent, Respondent::Slot(slot, 0)));
    }

    /// Ready when all have answered, or `enough` of what has come suffices.
    pub(super) async fn settled(&self, enough: impl Fn(&[(Respondent, Body)]) -> bool) {
        while !self.open.awaited.borrow().is_empty() && !enough(&self.open.answers.borrow()) {
            self.open.progress.notified().await;
        }
    }

    /// What has come, and who has not answered.
    pub(super) fn result(&self) -> (Vec<(Respondent, Body)>, HashSet<Respondent>) {
        (self.open.answers.take(), self.open.awaited.take())
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.questions.open.borrow_mut().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_once_and_only_from_those_who_were_asked() {
        let questions = Questions::new();
        let one = questions.begin([Respondent::Slot(1, 100), Respondent::Remote(7)]);
        let two = questions.begin([Respondent::Slot(1, 100)]);
        assert_ne!(one.number, two.number);
        questions.answered(one.number, Respondent::Slot(1, 0), Body::of_count(3));
        questions.answered(one.number, Respondent::Slot(1, 0), Body::of_count(4));
        questions.answered(one.number, Respondent::Slot(2, 0), Body::of_count(5));
        questions.answered(one.number.wrapping_add(5), Respondent::Slot(1, 0), Body::of_count(6));
        let (answers, missing) = one.result();
        assert_eq!(answers, [(Respondent::Slot(1, 100), Body::of_count(3))]);
        assert_eq!(missing, HashSet::from([Respondent::Remote(7)]));
        assert_eq!(two.result().0, []);
    }

    #[test]
    fn nobody_waits_for_the_dead_or_for_the_forgotten() {
        let questions = Questions::new();
        let question = questions.begin([Respondent::Slot(1, 100), Respondent::Slot(2, 101)]);
        assert_eq!(questions.awaited().len(), 2);
        questions.lost(Respondent::Slot(1, 100));
        question.skip(2);
        assert!(questions.awaited().is_empty());
        drop(question);
        assert!(questions.open.borrow().is_empty());
    }
}
