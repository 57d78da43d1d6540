//! The tasks that have not ended, by their ids; and some that have, whose memory is used again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::task::{Task, TaskId};
use crate::Switch;

/// Ids are counted, so they are their own hash.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_i64(&mut self, id: i64) {
        // hashbrown takes its control byte from the top bits.
        self.0 = (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Tasks that are found by the lowest bits of their ids alone.
const RECENT: usize = 256;
/// Ended tasks kept at most.
const SPARES: usize = 64;

/// Most tasks end before [`RECENT`] others have been made: each of the last has a place of its own, and only what is
/// still alive when a later one needs the place moves to the map.
pub(crate) struct Tasks<S: Switch> {
    recent: Box<[Option<Rc<Task<S>>>; RECENT]>,
    others: HashMap<TaskId, Rc<Task<S>>, BuildHasherDefault<IdHasher>>,
    live: usize,
    spares: Vec<Rc<Task<S>>>,
}

impl<S: Switch> Tasks<S> {
    pub(crate) fn new() -> Self {
        let recent = Box::new([const { None }; RECENT]);
        Self { recent, others: HashMap::default(), live: 0, spares: Vec::with_capacity(SPARES) }
    }

    fn place(id: TaskId) -> usize {
        id as usize % RECENT
    }

    #[inline]
    pub(crate) fn insert(&mut self, task: Rc<Task<S>>) {
        self.live += 1;
        if let Some(older) = self.recent[Self::place(task.id())].replace(task) {
            self.others.insert(older.id(), older);
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: TaskId) -> Option<&Rc<Task<S>>> {
        self.recent[Self::place(id)].as_ref().filter(|task| task.id() == id).or_else(|| self.others.get(&id))
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: TaskId) -> Option<Rc<Task<S>>> {
        let place = &mut self.recent[Self::place(id)];
        let removed =
            if place.as_ref().is_some_and(|task| task.id() == id) { place.take() } else { self.others.remove(&id) };
        self.live -= usize::from(removed.is_some());
        removed
    }

    pub(crate) fn len(&self) -> usize {
        self.live
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = TaskId> {
        self.recent.iter().flatten().map(|task| task.id()).chain(self.others.keys().copied())
    }

    /// Keeps a task that has ended, with what it carries; gives it back when there are enough.
    #[must_use]
    pub(crate) fn keep(&mut self, task: Rc<Task<S>>) -> Option<Rc<Task<S>>> {
        if self.spares.len() == SPARES {
            return Some(task);
        }
        self.spares.push(task);
        None
    }

    /// One that was kept, if nobody else knows it any more.
    #[inline]
    pub(crate) fn spare(&mut self) -> Option<Rc<Task<S>>> {
        self.spares.pop().filter(|task| Rc::strong_count(task) == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::no_stacks::NoStacks;

    #[test]
    fn tasks_are_found_however_many_came_after_them() {
        let mut tasks = Tasks::<NoStacks>::new();
        let many = 3 * RECENT as TaskId;
        for id in 1..=many {
            tasks.insert(Task::new(0, id, -1, ()));
        }
        assert_eq!(tasks.len(), many as usize);
        assert!((1..=many).all(|id| tasks.get(id).is_some_and(|task| task.id() == id)));
        assert!(tasks.get(0).is_none() && tasks.get(-1).is_none() && tasks.get(many + 1).is_none());
        let mut ids: Vec<_> = tasks.ids().collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..=many).collect::<Vec<_>>());
        for id in (1..=many).filter(|id| id % 3 != 0) {
            assert_eq!(tasks.remove(id).map(|task| task.id()), Some(id));
            assert!(tasks.remove(id).is_none() && tasks.get(id).is_none());
        }
        assert_eq!(tasks.len(), RECENT);
        assert!((1..=many).all(|id| tasks.get(id).is_some() == (id % 3 == 0)));
    }

    #[test]
    fn a_task_that_somebody_still_knows_is_not_used_again() {
        let mut tasks = Tasks::<NoStacks>::new();
        let known = Task::new(0, 1, -1, ());
        assert!(tasks.keep(Rc::clone(&known)).is_none());
        assert!(tasks.spare().is_none());
        assert!(tasks.keep(known).is_none());
        assert!(tasks.spare().is_some() && tasks.spare().is_none());
    }
}
