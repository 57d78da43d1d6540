//! One connection, one coroutine: the second one that comes gets an exception instead of the first one's data.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{TaskId, Wait};
use apus_runtime::exception::{self, CONFLICT};
use apus_runtime::holder;
use apus_runtime::runtime::State;
use apus_runtime::swoole;
use apus_runtime::wait::{may_wait, wait};
use apus_zend::{autoload, engine, guard, hook, state};
use tokio::sync::Notify;

use super::autoload::Loading;
use super::reactor::Reactor;
use super::serial::Groups;

/// Functions that several coroutines may be in with the same descriptor: what comes of it belongs to one of them only.
const SHARING: &[&str] =
    &["stream_select()", "stream_socket_accept()", "socket_select()", "socket_accept()", "curl_multi_select()"];

/// Before a wait of a hooked call. `Err`: another coroutine waits for the same; an exception is pending.
pub(super) fn waiting(state: &State, fds: &[(RawFd, u32)]) -> Result<(), c_int> {
    let me = state.engine.current_id();
    for &(fd, events) in fds {
        let Some(other) = state.room::<Reactor>().waiting(fd, events) else { continue };
        let function = hook::running_function();
        // A watch that belongs to no coroutine (`Event::add()`) is nobody's wait.
        if other != me && other > 0 && !SHARING.contains(&function.as_str()) {
            throw(state, other, &function, &format!("a connection (descriptor {fd})"), CONNECTION_ADVICE);
            guard::broken_off();
            return Err(libc::EBUSY);
        }
    }
    Ok(())
}

const CONNECTION_ADVICE: &str =
    "give each coroutine a connection of its own, best from a pool; to end a wait, cancel its coroutine";
const TREE_ADVICE: &str = "change it when that call has returned, or give each coroutine a clone";

/// Under the names of Swoole: functions that end the waits of others on what they close.
const CLOSING: &[&str] = &["fclose()", "Redis::close()"];

fn throw(state: &State, other: i64, function: &str, what: &str, advice: &str) {
    if swoole::is_on() && function.starts_with("curl_") {
        let text = format!("This cURL handle is currently executing in coroutine#{other}, cannot be operated");
        let _ = engine::throw(swoole::error_class(), 0, &text);
        if let Some(task) = state.engine.find(other) {
            holder::note(&text, &task);
        }
        return;
    }
    let theirs = state
        .engine
        .find(other)
        .map_or_else(|| "another call".to_owned(), |task| task.data().fiber().running_function());
    let me = state.engine.current_id();
    let who = if me < 0 { "code outside coroutines".to_owned() } else { format!("coroutine {me}") };
    let _ = engine::throw(
        CONFLICT.get(),
        0,
        &format!("{who} calls {function} on {what} in which coroutine {other} waits in {theirs}: {advice}"),
    );
}

thread_local! {
    /// Wakes those who wait for something to be freed.
    static FREED: Rc<Notify> = Rc::default();
}

/// What the shim asks of this room.
struct Coroutines;

impl guard::Guard for Coroutines {
    fn conflict(other: TaskId, tree: bool) -> bool {
        let Some(state) = State::existing() else { return false };
        if state.engine.find(other).is_none() {
            return false;
        }
        let (what, advice) =
            if tree { ("a document", TREE_ADVICE) } else { ("a connection or stream", CONNECTION_ADVICE) };
        throw(&state, other, &hook::running_function(), what, advice);
        true
    }

    fn ends_wait(other: TaskId) -> bool {
        let Some(state) = State::existing().filter(|state| swoole::is_on() && may_wait(state)) else { return false };
        if !CLOSING.contains(&hook::running_function().as_str()) || state.engine.find(other).is_none() {
            return false;
        }
        state.room::<Reactor>().interrupt(other);
        true
    }

    fn await_turn(again: bool) -> bool {
        const TURN: Duration = Duration::from_millis(1);
        let Some(state) = State::existing() else { return false };
        let turn = async {
            if again {
                tokio::time::sleep(TURN).await;
            } else {
                tokio::task::yield_now().await;
            }
        };
        matches!(wait(&state, Wait::Outside("a connection that is closed"), turn), Ok(Some(())))
    }

    fn wake(other: TaskId) {
        if let Some(state) = State::existing() {
            state.room::<Reactor>().interrupt(other);
        }
    }

    fn await_free() -> bool {
        const WHAT: &str = "a statement of the same connection that another coroutine frees";
        let Some(state) = State::existing() else { return true };
        if !may_wait(&state) {
            let text = format!("this code cannot wait for {WHAT}");
            let _ = exception::throw(exception::code::coroutine::CANNOT_SWITCH, &text);
            return false;
        }
        let freed = FREED.with(Rc::clone);
        matches!(wait(&state, Wait::Inside(WHAT), freed.notified()), Ok(Some(())))
    }

    fn freed() {
        FREED.with(|freed| freed.notify_waiters());
    }
}

/// At module start.
pub fn prepare() {
    guard::prepare::<Coroutines>();
}

/// When all modules are loaded.
pub fn install() {
    static DONE: std::sync::Once = std::sync::Once::new();
    DONE.call_once(|| {
        guard::install();
        autoload::install::<Loading>();
        state::install::<Groups>();
    });
}
