//! Getting, giving back, and keeping connections in order.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, Wait};
use apus_zend::engine::Thrown;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value};
use tokio::time::Instant;

use super::conn::{Conn, Lease, identity};
use super::core::{Core, Slot, closed, count};
use super::driver::{self, Cleaned};
use super::keeper::RETRY;
use super::options::{Check, Reset};
use super::php;
use super::queue::{Grant, Queue};
use super::source::{self, Source};
use crate::exception::{self, POOL};
use crate::runtime::State;
use crate::wait::{Deadline, Timeout, Waited, limit_or_none, wait_until};

const GET: &str = "ConnectionPool::get()";
/// How often at most a `get()` that has to wait runs the cycle collector to find connections in garbage.
const COLLECT: Duration = Duration::from_secs(1);
/// How often at most a `get()` that has to wait behind others looks for lost connections, which those would be given.
const LOOK: Duration = Duration::from_millis(1);

/// A pool as a method sees it.
pub(super) struct Pool {
    pub(super) object: Object,
    pub(super) core: Rc<Core>,
    pub(super) source: Source,
}

/// How many waits of the running coroutine were cancelled so far. Where one was meanwhile, the rest of an answer may be
/// to come, whatever was told: PHP waits where nobody asks for a result, too, as when a statement is given back.
fn cancellations() -> u64 {
    State::existing().and_then(|state| state.engine.current()).map_or(0, |task| task.cancellations())
}

impl Pool {
    /// A connection for the running coroutine; none when the wait was cancelled with a failure value.
    pub(super) fn get(&self, timeout: Timeout) -> Result<Option<Value>, Raise> {
        let core = &self.core;
        core.enter_process();
        core.expect_usable()?;
        core.keeper.start(core, &self.object);
        let mut now = Instant::now();
        let grant = match core.take() {
            Some(grant) => grant,
            None => match self.queue(timeout, &mut now)? {
                Some(grant) => grant,
                None => return Ok(None),
            },
        };
        let conn = match grant {
            Grant::Conn(conn) => match self.fit(conn, now)? {
                Some(conn) => conn,
                None => return Ok(None),
            },
            Grant::Permit(slot) => self.make(slot)?,
            Grant::Closed => return Err(closed()),
        };
        if core.closed.get() {
            drop(conn.close()?);
            return Err(closed());
        }
        Ok(Some(core.lease(conn, now)))
    }

    // Rare, and kept out of the stack of those who wait: so are `recover` and `check`.
    #[inline(never)]
    fn make(&self, slot: Slot) -> Result<Conn, Raise> {
        source::make(&self.core, &self.object, self.source, slot)
    }

    /// Waits for a connection or a place. `now` becomes the time at which the wait was over.
    fn queue(&self, timeout: Timeout, now: &mut Instant) -> Result<Option<Grant>, Raise> {
        let core = &self.core;
        if let Some(slot) = self.recover(*now)? {
            *now = Instant::now();
            return Ok(Some(Grant::Permit(slot)));
        }
        let usual = || limit_or_none(core.numbers.get().wait_timeout);
        let limit = if timeout.is_positive() { timeout.limit() } else { usual() };
        let state = State::get()?;
        count(&core.keeper.activity);
        core.keeper.hurry(Some(*now + super::keeper::ORPHAN_POLL), &core.notifier);
        let ticket = Queue::join(core);
        let granted = wait_until(&state, Wait::Inside(GET), Deadline::after(limit), ticket);
        let waited = now.elapsed();
        *now += waited;
        core.waited(waited);
        match granted? {
            Waited::Got(grant) => Ok(Some(grant)),
            Waited::TimedOut => {
                count(&core.counters.timeouts);
                super::figures::exhausted();
                Err(core.exhausted(waited))
            }
            Waited::Cancelled => Ok(None),
        }
    }

    /// The place of a connection that was lost, for one who would have to wait.
    #[inline(never)]
    fn recover(&self, now: Instant) -> Result<Option<Slot>, Raise> {
        let core = &self.core;
        if !core.may_look(now, LOOK) {
            return Ok(None);
        }
        let orphans = core.collect_lost();
        if orphans && !core.has_lost() && core.may_collect_garbage(COLLECT) {
            php::function("gc_collect_cycles", &[])?;
            core.collect_lost();
        }
        let mut report = Ok(());
        while let Some(lease) = core.take_lost() {
            report = report.and(self.close_lost(lease));
        }
        // What was closed may have gone to those who have waited for longer.
        report.map(|()| core.free_slot())
    }

    fn close_lost(&self, lease: Lease) -> Result<(), Raise> {
        let text = lease.describe();
        drop(lease.conn.close()?);
        php::warn(&format!(
            "{}: a connection was never given back: {text}. It was closed; use put() in a finally block, or use()",
            self.name()
        ))
    }

    fn name(&self) -> &'static str {
        match self.source {
            Source::Callable => "Apus\\ConnectionPool",
            Source::Pdo => "Apus\\Database\\PDOPool",
            Source::Mysqli => "Apus\\Database\\MysqliPool",
            Source::Redis => "Apus\\Database\\RedisPool",
        }
    }

    /// An idle connection that works, or a new one in its place. None when the check was cancelled.
    fn fit(&self, mut conn: Conn, now: Instant) -> Result<Option<Conn>, Raise> {
        let core = &self.core;
        if conn.is_expired(now) {
            count(&core.counters.expired);
            return self.make(conn.close()?).map(Some);
        }
        if !self.wants_check(&conn, now) {
            return Ok(Some(conn));
        }
        let before = cancellations();
        let (alive, in_time) = self.check(&conn);
        let cancelled = cancellations() != before;
        if alive? && !cancelled {
            conn.suspect = false;
            return Ok(Some(conn));
        }
        count(&core.counters.replaced);
        if cancelled && in_time {
            // It was cancelled by somebody, in the middle of the check.
            drop(conn.close()?);
            return Ok(None);
        }
        // What killed this one has probably killed the others.
        core.distrusted.set(Some(Instant::now()));
        self.make(conn.close()?).map(Some)
    }

    fn wants_check(&self, conn: &Conn, now: Instant) -> bool {
        let core = &self.core;
        if matches!(*core.check.borrow(), Check::Driver) && !conn.kind.can_check() {
            return false;
        }
        let limit = core.numbers.get().check_idle;
        let idle = now.saturating_duration_since(conn.idle_since).as_secs_f64();
        let distrusted = core.distrusted.get().is_some_and(|at| conn.idle_since <= at);
        limit >= 0.0 && (conn.suspect || distrusted || idle >= limit)
    }

    /// Whether the connection answers, and whether it did so in time.
    #[inline(never)]
    fn check(&self, conn: &Conn) -> (Result<bool, Raise>, bool) {
        let check = self.core.check.borrow().share();
        let late = Rc::new(Cell::new(false));
        let guard = self.alarm(&late);
        let alive = match check {
            Check::Driver => driver::is_alive(conn),
            Check::Callable(callable) => approves(&callable, conn),
        };
        if let Some(task) = guard {
            task.abort();
        }
        (alive, !late.get())
    }

    /// Cancels what the running coroutine waits for when the check takes too long.
    fn alarm(&self, late: &Rc<Cell<bool>>) -> Option<tokio::task::JoinHandle<()>> {
        let limit = self.core.numbers.get().check_timeout;
        let state = State::existing().filter(|state| limit > 0.0 && state.engine.current_id() != -1)?;
        let (engine, id, late) = (Rc::clone(&state.engine), state.engine.current_id(), Rc::clone(late));
        Some(state.spawn(async move {
            tokio::time::sleep(Duration::from_secs_f64(limit)).await;
            late.set(engine.cancel(id, Cancel::Return));
        }))
    }

    /// Takes a connection back. `null`: the one that the running coroutine took last is broken.
    pub(super) fn put(&self, given: &Value) -> Result<(), Raise> {
        let core = &self.core;
        core.enter_process();
        if matches!(given.view(), View::Null) {
            return self.put_broken();
        }
        let key = identity(given);
        if let Some(lease) = key.and_then(|key| core.take_lease(key)) {
            return self.give_back(lease);
        }
        if core.closed.get() {
            return Ok(());
        }
        let text = match key {
            None => "put() takes a connection that get() gave, or null for one that is broken",
            Some(key) if core.is_idle(key) => "the connection was given back already: its user may be another now",
            Some(_) => "this connection is not one that the pool has given out, or it was given back already",
        };
        Err(exception::throw(exception::code::pool::FOREIGN, text))
    }

    fn put_broken(&self) -> Result<(), Raise> {
        let core = &self.core;
        let id = State::existing().map_or(-1, |state| state.engine.current_id());
        let Some(lease) = core.take_lease_of(id) else {
            if core.closed.get() {
                return Ok(());
            }
            let text = "put(null) replaces a broken connection, but this coroutine has none of the pool's";
            return Err(exception::throw(exception::code::pool::FOREIGN, text));
        };
        count(&core.counters.replaced);
        core.distrusted.set(Some(Instant::now()));
        lease.conn.close().map(drop)
    }

    fn give_back(&self, lease: Lease) -> Result<(), Raise> {
        let core = &self.core;
        // Cancelled in the middle of a query it would hand the rest of the answer to the next user.
        if lease.was_interrupted() {
            count(&core.counters.replaced);
            return lease.conn.close().map(drop);
        }
        let cleaned = if core.closed.get() { Cleaned::Nothing } else { self.clean(&lease.conn)? };
        let place = if let Cleaned::Reported(_) = cleaned { lease.describe() } else { String::new() };
        let conn = lease.conn;
        match cleaned {
            Cleaned::Broken => {
                count(&core.counters.replaced);
                return conn.close().map(drop);
            }
            Cleaned::Nothing => {}
            Cleaned::Quietly | Cleaned::Reported(_) => count(&core.counters.resets),
        }
        if let Some(conn) = core.offer(conn) {
            drop(conn.close()?);
        }
        match cleaned {
            Cleaned::Reported(what) => {
                php::warn(&format!("{}: a connection came back with {what} ({place})", self.name()))
            }
            _ => Ok(()),
        }
    }

    fn clean(&self, conn: &Conn) -> Result<Cleaned, Raise> {
        let reset = self.core.reset.borrow().share();
        if matches!(reset, Reset::Nothing) {
            return Ok(Cleaned::Nothing);
        }
        let before = cancellations();
        let cleaned = if driver::is_at_rest(conn) {
            Cleaned::Nothing
        } else if driver::looks_dead(conn)? {
            Cleaned::Broken
        } else {
            driver::clean(conn)?
        };
        if cleaned == Cleaned::Broken {
            return Ok(Cleaned::Broken);
        }
        match reset {
            Reset::Callable(callable) if !approves(&callable, conn)? => Ok(Cleaned::Broken),
            _ if cancellations() != before => Ok(Cleaned::Broken),
            _ => Ok(cleaned),
        }
    }

    /// `$callable($connection)` with a connection that goes back in any case.
    pub(super) fn with(&self, callable: &Callable, timeout: Timeout) -> Result<Value, Raise> {
        let Some(conn) = self.get(timeout)? else { return Ok(Value::bool(false)) };
        let result = callable.call(&[conn.share()]);
        if matches!(result, Err(Raise::Bailed)) {
            return result;
        }
        let thrown = Thrown::take();
        let key = identity(&conn);
        if let (Some(_), Some(key)) = (&thrown, key) {
            self.core.suspect(key);
        }
        // It may have been given back already, by the callable.
        let back = match key.and_then(|key| self.core.take_lease(key)) {
            Some(lease) => self.give_back(lease),
            None => Ok(()),
        };
        let Some(thrown) = thrown else { return back.and(result) };
        if back == Err(Raise::Bailed) {
            return Err(Raise::Bailed);
        }
        // A failure of giving back is of less interest than the first one.
        drop(Thrown::take());
        Err(thrown.rethrow())
    }

    /// Makes connections until the limit is reached.
    pub(super) fn fill(&self) -> Result<(), Raise> {
        let core = &self.core;
        core.enter_process();
        core.expect_usable()?;
        core.keeper.start(core, &self.object);
        while let Some(slot) = core.free_slot() {
            let conn = self.make(slot)?;
            if let Some(conn) = core.offer(conn) {
                drop(conn.close()?);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Closes what was lost or stood idle for too long, and keeps some ready.
    pub(super) fn maintain(&self) -> Result<(), Raise> {
        let core = &self.core;
        core.enter_process();
        if core.keeper.working.replace(true) {
            return Ok(());
        }
        let done = self.maintain_once();
        core.keeper.working.set(false);
        core.notifier.notify();
        done
    }

    fn maintain_once(&self) -> Result<(), Raise> {
        let core = &self.core;
        core.collect_lost();
        while let Some(lease) = core.take_lost() {
            self.close_lost(lease)?;
        }
        while let Some(conn) = core.take_expired() {
            count(&core.counters.expired);
            drop(conn.close()?);
        }
        while core.lacks_idle() && !self.is_paused() {
            let Some(slot) = core.free_slot() else { break };
            let Some(made) = self.make_spare(slot)? else { break };
            if let Some(conn) = core.offer(made) {
                drop(conn.close()?);
            }
        }
        Ok(())
    }

    /// A connection that nobody waits for: a failure is logged, and the next attempt is made a while later.
    fn make_spare(&self, slot: Slot) -> Result<Option<Conn>, Raise> {
        let raise = match self.make(slot) {
            Ok(conn) => return Ok(Some(conn)),
            Err(raise) => raise,
        };
        self.core.keeper.pause.set(Some(Instant::now() + RETRY));
        match Thrown::take() {
            Some(thrown) if thrown.is(POOL.get()) => {
                let why = thrown.message();
                apus_process::log::warning(format_args!("{}: min_idle cannot be kept: {why}", self.name()));
                Ok(None)
            }
            Some(thrown) => Err(thrown.rethrow()),
            None => Err(raise),
        }
    }

    fn is_paused(&self) -> bool {
        self.core.keeper.pause.get().is_some_and(|until| until > Instant::now())
    }

    /// Closes the pool.
    pub(super) fn close(&self) -> Result<(), Raise> {
        self.core.enter_process();
        let mut result = Ok(());
        for conn in self.core.shut() {
            result = result.and(conn.close().map(drop));
        }
        result
    }
}

/// Whether `$callable($connection)` does not say `false`; an exception says so, too.
fn approves(callable: &Callable, conn: &Conn) -> Result<bool, Raise> {
    let answer = php::attempt(|| callable.call(&[conn.value().share()]))?;
    Ok(answer.is_some_and(|answer| !php::is_false(&answer)))
}
