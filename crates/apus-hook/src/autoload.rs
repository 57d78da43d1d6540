//! Two coroutines that need the same class: the second waits until the first one's autoloader has ended.
//!
//! PHP marks a class that is being autoloaded, and says that it does not exist to whoever asks for it meanwhile.
//! Coroutines have a mark each (`shim/ambient.c`), and would both run the autoloader, which declares the class twice. A
//! class whose declaration waits for what it extends is being loaded, too, whoever has asked for its file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use apus_coro::{TaskId, Wait};
use apus_zend::autoload::{Autoload, Turn};
use tokio::sync::Notify;

use apus_runtime::runtime::State;

type Name = Rc<[u8]>;

#[derive(Default)]
struct Table {
    /// Which coroutine loads a class, and how others learn that it has ended.
    loading: HashMap<Name, (TaskId, Rc<Notify>)>,
    /// For which class a coroutine waits.
    waiting: HashMap<TaskId, Name>,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

impl Table {
    /// Whether coroutine `me`, if it waited for `owner`, would wait for itself.
    fn would_wait_for_itself(&self, me: TaskId, mut owner: TaskId) -> bool {
        while owner != me {
            let next = self.waiting.get(&owner).and_then(|name| self.loading.get(name));
            match next {
                Some(&(next, _)) => owner = next,
                None => return false,
            }
        }
        true
    }
}

/// What the coroutines of this thread are loading.
pub(super) struct Loading;

impl Loading {
    fn wait_for(state: &State, me: TaskId, name: &Name, ended: &Notify) -> Turn {
        let notified = ended.notified();
        TABLE.with(|table| table.borrow_mut().waiting.insert(me, Rc::clone(name)));
        let waited = apus_runtime::wait::wait(state, Wait::Inside("the autoloader of another coroutine"), notified);
        TABLE.with(|table| table.borrow_mut().waiting.remove(&me));
        match waited {
            Ok(Some(())) => Turn::Loaded,
            // Cancelled without an exception: the class is needed all the same.
            Ok(None) => Turn::Nested,
            Err(_) => Turn::Failed,
        }
    }
}

impl Autoload for Loading {
    fn begin(name: &[u8]) -> Turn {
        let Some((state, me)) = State::existing().map(|state| (Rc::clone(&state), state.engine.current_id())) else {
            return Turn::Nested;
        };
        if me < 0 || !apus_zend::engine::can_switch() {
            return Turn::Nested;
        }
        let name: Name = name.into();
        let busy = TABLE.with(|table| {
            let mut table = table.borrow_mut();
            match table.loading.get(&name) {
                Some((owner, _)) if table.would_wait_for_itself(me, *owner) => Err(Turn::Nested),
                Some((_, ended)) => Ok(Rc::clone(ended)),
                None => {
                    table.loading.insert(Rc::clone(&name), (me, Rc::default()));
                    Err(Turn::Ours)
                }
            }
        });
        match busy {
            Ok(ended) => Self::wait_for(&state, me, &name, &ended),
            Err(turn) => turn,
        }
    }

    fn claim(name: &[u8]) -> bool {
        let me = State::existing().map_or(-1, |state| state.engine.current_id());
        me >= 0
            && TABLE.with(|table| {
                let mut table = table.borrow_mut();
                let free = !table.loading.contains_key(name);
                if free {
                    table.loading.insert(name.into(), (me, Rc::default()));
                }
                free
            })
    }

    fn end(name: &[u8]) {
        let ended = TABLE.with(|table| table.borrow_mut().loading.remove(name));
        if let Some((_, ended)) = ended {
            ended.notify_waiters();
        }
    }
}
