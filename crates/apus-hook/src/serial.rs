//! Functions whose C code keeps something in globals that cannot be swapped: one coroutine at a time is in those of a
//! group.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use apus_coro::{TaskId, Wait};
use apus_zend::state::{Group, Serial};
use tokio::sync::Notify;

use apus_runtime::exception;
use apus_runtime::runtime::State;
use apus_runtime::wait::{may_wait, wait};

/// A group that somebody is in.
struct Held {
    owner: TaskId,
    /// Calls inside calls of the owner.
    depth: u32,
    left: Rc<Notify>,
}

#[derive(Default)]
struct Table {
    held: HashMap<Group, Held>,
    waiting: HashMap<TaskId, Group>,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// What is to be done by who wants into a group.
enum Turn {
    Enter,
    Wait(Rc<Notify>),
    /// The owner waits, in the end, for the one who asks.
    Circle(TaskId),
}

impl Table {
    /// Whether coroutine `me`, if it waited for `owner`, would wait for itself.
    fn would_wait_for_itself(&self, me: TaskId, mut owner: TaskId) -> bool {
        while owner != me {
            match self.waiting.get(&owner).and_then(|group| self.held.get(group)) {
                Some(held) => owner = held.owner,
                None => return false,
            }
        }
        true
    }

    fn ask(&mut self, state: &State, group: Group, me: TaskId) -> Turn {
        // An owner that is gone is one of the process that this one was forked from.
        let stale = |held: &Held| held.owner >= 0 && state.engine.find(held.owner).is_none();
        match self.held.get_mut(&group) {
            Some(held) if held.owner == me => {
                held.depth += 1;
                Turn::Enter
            }
            Some(held) if !stale(held) => {
                let (owner, left) = (held.owner, Rc::clone(&held.left));
                if self.would_wait_for_itself(me, owner) { Turn::Circle(owner) } else { Turn::Wait(left) }
            }
            _ => {
                self.held.insert(group, Held { owner: me, depth: 1, left: Rc::default() });
                Turn::Enter
            }
        }
    }
}

/// What a wait for a group is called.
fn name(group: Group) -> &'static str {
    match group {
        Group::Multisort => "array_multisort() of another coroutine",
        Group::Collator => "Collator::sort() of another coroutine",
        Group::Soap => "a SOAP call of another coroutine",
        Group::Imap => "an IMAP function of another coroutine",
        Group::Snmp => "an SNMP function of another coroutine",
        Group::Readline => "readline of another coroutine",
    }
}

/// Who is in which group, of the coroutines of this thread.
pub(super) struct Groups;

impl Groups {
    /// `false`: the wait was broken off.
    fn wait_for(state: &State, me: TaskId, group: Group, left: &Notify) -> bool {
        let notified = left.notified();
        TABLE.with(|table| table.borrow_mut().waiting.insert(me, group));
        let waited = wait(state, Wait::Inside(name(group)), notified);
        TABLE.with(|table| table.borrow_mut().waiting.remove(&me));
        matches!(waited, Ok(Some(())))
    }
}

impl Serial for Groups {
    fn enter(group: Group) -> bool {
        // Without an engine there are no coroutines; whoever is in a group then is alone.
        let Some(state) = State::existing() else { return true };
        let me = state.engine.current_id();
        loop {
            let left = match TABLE.with(|table| table.borrow_mut().ask(&state, group, me)) {
                Turn::Enter => return true,
                Turn::Wait(left) if may_wait(&state) => left,
                Turn::Wait(_) => {
                    let text = format!("this code cannot wait for {}", name(group));
                    let _ = exception::throw(exception::code::coroutine::CANNOT_SWITCH, &text);
                    return false;
                }
                Turn::Circle(owner) => {
                    let text = format!("{} (coroutine {owner}) waits for this coroutine", name(group));
                    let _ = exception::throw(exception::code::coroutine::CANNOT_SWITCH, &text);
                    return false;
                }
            };
            if !Self::wait_for(&state, me, group, &left) {
                return false;
            }
        }
    }

    fn leave(group: Group) {
        let left = TABLE.with(|table| {
            let mut table = table.borrow_mut();
            let held = table.held.get_mut(&group)?;
            held.depth -= 1;
            if held.depth > 0 { None } else { table.held.remove(&group).map(|held| held.left) }
        });
        if let Some(left) = left {
            left.notify_waiters();
        }
    }
}
