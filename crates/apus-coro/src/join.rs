//! Waiting for other tasks to end.

use std::future::Future;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::task::State;
use crate::{Engine, Switch, Task, TaskId};

impl<S: Switch> Engine<S> {
    /// Resolves when every task of `ids` has ended; unknown ids count as ended.
    pub fn all_ended(self: &Rc<Self>, ids: &[TaskId]) -> impl Future<Output = ()> + use<S> {
        let mut left: Vec<Rc<Task<S>>> = ids.iter().filter_map(|&id| self.find(id)).collect();
        std::future::poll_fn(move |cx| poll_all(&mut left, cx))
    }
}

fn poll_all<S: Switch>(left: &mut Vec<Rc<Task<S>>>, cx: &Context<'_>) -> Poll<()> {
    while let Some(task) = left.last() {
        if task.state.get() == State::Ended {
            left.pop();
            continue;
        }
        let mut joiners = task.joiners.borrow_mut();
        if !joiners.iter().any(|waker| waker.will_wake(cx.waker())) {
            joiners.push(cx.waker().clone());
        }
        return Poll::Pending;
    }
    Poll::Ready(())
}
