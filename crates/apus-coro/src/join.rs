//! Waiting for other tasks to end.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::engine::task::State;
use crate::{Engine, Switch, Task, TaskId};

impl<S: Switch> Engine<S> {
    /// Resolves when every task of `ids` has ended; unknown ids count as ended.
    pub fn all_ended(self: &Rc<Self>, ids: &[TaskId]) -> AllEnded<S> {
        AllEnded { left: ids.iter().filter_map(|&id| self.find(id)).collect(), registered: None }
    }
}

/// Future of [`Engine::all_ended`]. It waits for one task at a time, the last of `left`.
pub struct AllEnded<S: Switch> {
    left: Vec<Rc<Task<S>>>,
    /// The key of our waker among the last task's joiners.
    registered: Option<u64>,
}

impl<S: Switch> AllEnded<S> {
    fn unregister(&mut self) {
        if let (Some(key), Some(task)) = (self.registered.take(), self.left.last()) {
            task.joiners.borrow_mut().retain(|(other, _)| *other != key);
        }
    }
}

impl<S: Switch> Unpin for AllEnded<S> {}

impl<S: Switch> Future for AllEnded<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.unregister();
        while let Some(task) = self.left.last() {
            if task.state.get() == State::Ended {
                self.left.pop();
                continue;
            }
            let key = task.next_joiner.get();
            task.next_joiner.set(key + 1);
            task.joiners.borrow_mut().push((key, cx.waker().clone()));
            self.registered = Some(key);
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl<S: Switch> Drop for AllEnded<S> {
    /// One that was given up (a time-out) leaves nothing at a task that lives on.
    fn drop(&mut self) {
        self.unregister();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::no_stacks::NoStacks;
    use std::task::Waker;

    #[test]
    fn joins_that_are_given_up_leave_nothing_behind() {
        let engine = Engine::new(NoStacks);
        let task = engine.create(());
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            let mut join = engine.all_ended(&[task.id()]);
            assert!(Pin::new(&mut join).poll(&mut cx).is_pending());
            assert!(Pin::new(&mut join).poll(&mut cx).is_pending());
            assert_eq!(task.joiners.borrow().len(), 1);
        }
        assert_eq!(task.joiners.borrow().len(), 0);
    }
}
