//! How a script's coroutines come to their end: by themselves, or because something ends them.

use std::any::Any;
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, Idle};
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};

use crate::exception::DEADLOCK;
use crate::runtime::{Coro, Mode, STATE, State, Stop};
use crate::swoole;

/// How often a coroutine that waits again while it is unwound is entered before it is given up.
const UNWIND_ROUNDS: usize = 8;

/// When a program that does not want to end yet is asked the next time.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// What PHP calls at the end of a script that made coroutines.
const FINISH: &str = "Apus\\Coroutine\\finish";

impl Coro {
    /// Nothing that was deferred is to run any more.
    fn forget_deferred(&self) {
        // SAFETY: the job lives as long as self; what was deferred is in its RefCell.
        unsafe { self.job.as_ref() }.forget_deferred();
    }

    /// Keeps something until the coroutine has ended, in the place of what it kept before.
    pub fn keep(&self, kept: Option<Box<dyn Any>>) {
        drop(self.kept.replace(kept));
    }
}

impl State {
    /// `Apus\Coroutine\finish()`: coroutines made outside `run()` are finished when the script ends.
    pub fn finish(&self) -> Result<(), Raise> {
        if self.is_looping() {
            return Ok(());
        }
        if swoole::is_on() && engine::told_fatal() {
            self.abandon_all();
            return Ok(());
        }
        if engine::after_fatal() {
            self.end_all();
            return Ok(());
        }
        if swoole::is_on() && !self.engine.is_idle() {
            engine::deprecated("swoole_event_rshutdown(): Event::wait() in shutdown function is deprecated")?;
        }
        self.run_to_end()
    }

    /// Runs until no coroutine and no timer is left. Throws what ended it early, after unwinding the others.
    pub fn run_to_end(&self) -> Result<(), Raise> {
        let idle = loop {
            let idle = self.block_on(self.engine.until_idle());
            if matches!(idle, Idle::Stuck) && self.stop.borrow().is_none() && swoole::hears_others() {
                self.block_on(async { tokio::time::sleep(ASK_AGAIN).await });
                continue;
            }
            if matches!(idle, Idle::Interrupted) || self.stop.borrow().is_some() || self.may_exit()? {
                break idle;
            }
            self.block_on(async { tokio::time::sleep(ASK_AGAIN).await });
        };
        let stop = self.stop.take();
        let raise = match (idle, stop) {
            (Idle::Empty, None) => return Ok(()),
            (_, Some(stop)) => {
                self.end_all();
                match stop {
                    Stop::Uncaught(thrown) => swoole::pass_on(thrown),
                    Stop::Exit => engine::throw_exit(engine::exit_status()),
                    Stop::Fatal => Raise::Bailed,
                }
            }
            (Idle::Stuck, None) => {
                if swoole::is_on() && self.mode.get() == Mode::Worker {
                    // Scripts alone are told of it there.
                    self.end_all();
                    return Ok(());
                }
                if let Some(told) = swoole::tell_deadlock() {
                    self.stuck.set(true);
                    self.end_all();
                    self.stuck.set(false);
                    return told;
                }
                let report = self.deadlock_report();
                self.end_all();
                engine::throw(DEADLOCK.get(), 0, &report)
            }
            (Idle::Interrupted, None) => return self.run_to_end(),
        };
        Err(raise)
    }

    /// Whether the program's condition for the end of the loop holds, if it has one.
    fn may_exit(&self) -> Result<bool, Raise> {
        let condition = self.exit_condition.borrow().clone();
        let Some(condition) = condition else { return Ok(true) };
        Ok(!matches!(condition.call(&[])?.view(), View::Bool(false)))
    }

    pub(crate) fn stop_with(&self, stop: Stop) {
        let mut slot = self.stop.borrow_mut();
        if slot.is_none() {
            *slot = Some(stop);
        }
        drop(slot);
        self.engine.interrupt();
    }

    /// Whether coroutines of code written for Swoole are being ended because nothing can wake them.
    pub fn is_stuck(&self) -> bool {
        self.stuck.get()
    }

    /// Logs a warning when the script has ended.
    pub fn warn_at_end(&self, text: String) {
        self.last_warnings.borrow_mut().push(text);
    }

    /// Ends what rooms have that would start coroutines.
    pub fn end_rooms(&self) {
        for room in &self.rooms {
            room.end_all(self);
        }
    }

    /// Ends every coroutine and timer: each sees a `CanceledException`, and is unwound quietly if it waits again.
    pub fn end_all(&self) {
        self.end_rooms();
        self.engine.drain(Cancel::Throw, UNWIND_ROUNDS);
        let left = self.engine.drain(Cancel::Unwind, UNWIND_ROUNDS);
        if left > 0 {
            eprintln!("apus: {left} coroutines wait again whenever they are ended, and were abandoned");
        }
        // What they left behind while being ended is of no interest: the first cause is reported.
        drop(self.stop.take());
    }

    /// Ends every coroutine where it is: none of their code goes on after a fatal error there, but `finally`.
    fn abandon_all(&self) {
        self.end_rooms();
        for task in self.engine.ids().into_iter().filter_map(|id| self.engine.find(id)) {
            task.data().forget_deferred();
        }
        self.engine.drain(Cancel::Unwind, UNWIND_ROUNDS);
        drop(self.stop.take());
    }

    fn deadlock_report(&self) -> String {
        let ids = self.engine.ids();
        let mut text = format!("all {} coroutines wait for each other, none can go on (deadlock):", ids.len());
        for task in ids.iter().filter_map(|&id| self.engine.find(id)).take(100) {
            let _ = write!(
                text,
                "\ncoroutine {} (made by {}) waits in {}:\n{}",
                task.id(),
                task.parent(),
                task.wait().name(),
                task.data().fiber().trace_text()
            );
        }
        text
    }

    /// Sees to it that coroutines made outside `run()` are finished when the script ends.
    pub fn register_finish(&self) {
        if self.finish_registered.replace(true) {
            return;
        }
        let registered = Value::string(b"register_shutdown_function")
            .map_err(|_| ())
            .and_then(|mut name| Callable::new(&mut name).map_err(|_| ()))
            .and_then(|f| Value::string(FINISH.as_bytes()).map_err(|_| ()).map(|arg| (f, arg)))
            .and_then(|(f, arg)| f.call(&[arg]).map_err(|_| ()));
        if registered.is_err() {
            self.finish_registered.set(false);
        }
    }

    /// Takes the state down: in a forked child, or at the end of the request.
    pub fn tear_down() {
        let Some(state) = STATE.with(|slot| slot.borrow_mut().take()) else { return };
        if let Some(text) = state.last_words.take().filter(|_| engine::told_fatal()) {
            eprint!("{text}");
        }
        if state.engine.live() > 0 {
            // Put back meanwhile: unwinding coroutines may ask for it.
            STATE.with(|slot| *slot.borrow_mut() = Some(Rc::clone(&state)));
            state.end_all();
            STATE.with(|slot| slot.borrow_mut().take());
        }
        state.engine.switch().pool.clear();
        for text in state.last_warnings.take() {
            apus_process::log::there(apus_process::log::Level::Warning, format_args!("{text}"));
        }
    }

    /// Forgets the state without ending anything in it: in a forked child, where it is the parent's.
    pub fn forget() {
        let state = STATE.try_with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
        if let Some(state) = state.ok().flatten() {
            std::mem::forget(state);
        }
    }
}
