//! The state of one PHP thread: engine, stacks, runtime. Made at first use, taken down at the end of the request.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::OnceLock;

use apus_coro::{Engine, Foresight, Switch, Task, TaskId};
use apus_loop::Loop;
use apus_loop::disk::Started;
use apus_options::Settings;
use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::fiber::{Fiber, Job, Pool, Ran};
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value, engine, watch};
use tokio::runtime::{Builder, LocalOptions};

use crate::alarm::Alarm;
use crate::background::Background;
use crate::clock::Coarse;
use crate::descriptor;
use crate::exception;
use crate::failed;
use crate::remembered;
use crate::running::{self, Running};
use crate::slices;
use crate::swoole::{self, There};
use crate::trace::{self, Trace};

/// Idle stacks kept at most. A burst above it costs an mmap a coroutine, not a failure.
const KEEP_IDLE: usize = 100_000;
/// What a room keeps for a thread, made with the thread's state.
pub trait Room: Any {
    /// Settings were settled.
    fn configure(&self, _settings: &Settings) {}

    /// The coroutines are about to be ended: what would start new ones ends before.
    fn end_all(&self, _state: &State) {}
}

/// Makes what a room keeps.
pub type MakeRoom = fn(&Rc<Loop>) -> io::Result<Rc<dyn Room>>;

/// The usual one.
pub fn kept<R: Room + Default>(_events: &Rc<Loop>) -> io::Result<Rc<dyn Room>> {
    Ok(Rc::new(R::default()))
}

static ROOMS: OnceLock<&'static [MakeRoom]> = OnceLock::new();

/// The rooms that keep something, in the order in which they end it. At module start.
pub fn set_rooms(rooms: &'static [MakeRoom]) {
    let _ = ROOMS.set(rooms);
}

/// Who answers for what goes wrong in a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A script: the first uncaught exception ends it, as PHP does.
    Script,
    /// A server's worker: it is logged, and the worker goes on.
    Worker,
}

/// What a coroutine carries.
pub struct Coro {
    fiber: Fiber,
    pub(crate) job: NonNull<Job>,
    /// Receives what the callable returned or threw, if somebody wants it.
    outcome: RefCell<Option<Receive>>,
    bailed: Cell<bool>,
    /// Whether it handles a request, or came of one that does.
    of_request: bool,
    /// Whether its callable is to answer an HTTP request.
    answers: Cell<bool>,
    /// Where the code that answers stands, if another place is known than that of its callable.
    place: RefCell<Option<Rc<str>>>,
    /// Whether it ended without a word: it returned, or called `exit()`.
    silent: Cell<bool>,
    /// The request that it is of, where requests are traced.
    pub(crate) trace: RefCell<Option<Trace>>,
    /// When it was made.
    pub started: Coarse,
    /// What lives as long as it runs.
    pub(crate) kept: RefCell<Option<Box<dyn Any>>>,
}

/// Receives how a coroutine's callable ended.
pub type Receive = Rc<dyn Fn(Outcome)>;

/// How a coroutine's callable ended.
pub enum Outcome {
    /// It returned.
    Returned(Value),
    /// It threw.
    Threw(Thrown),
    /// A fatal error, or `exit()`.
    Gone,
}

impl Coro {
    /// Its stack.
    #[inline]
    pub fn fiber(&self) -> Fiber {
        self.fiber
    }

    /// Whether a fatal error ended it.
    #[inline]
    pub fn bailed(&self) -> bool {
        self.bailed.get()
    }

    /// It is to answer an HTTP request.
    #[inline]
    pub fn is_to_answer(&self) {
        self.answers.set(true);
    }

    /// What answers stands at this file and line.
    pub fn stands_at(&self, place: &Rc<str>) {
        *self.place.borrow_mut() = Some(Rc::clone(place));
    }

    /// Where what answers stands, if that was said.
    pub fn place(&self) -> Option<Rc<str>> {
        self.place.borrow().clone()
    }

    /// Whether it is to answer an HTTP request.
    #[inline]
    pub fn answers(&self) -> bool {
        self.answers.get()
    }

    /// Whether its callable has returned, or called `exit()`, which nobody else speaks of.
    #[inline]
    pub fn ended_silently(&self) -> bool {
        self.silent.get()
    }

    /// `Coroutine::getContext()`, made when first asked for.
    pub fn context(&self) -> &RefCell<Option<Object>> {
        // SAFETY: as in `defer`.
        unsafe { self.job.as_ref() }.context()
    }

    /// Has `callable` called when the coroutine's function is over.
    pub fn defer(&self, callable: Callable) {
        // SAFETY: the job lives as long as self; deferring goes through its RefCell.
        unsafe { self.job.as_ref() }.defer(callable);
    }
}

impl Drop for Coro {
    fn drop(&mut self) {
        // SAFETY: made by Box::leak in `State::create_for`; nothing runs it any more.
        Job::recycle(unsafe { Box::from_raw(self.job.as_ptr()) });
    }
}

/// Switching by Zend's fiber contexts.
pub struct PhpSwitch {
    /// The idle stacks.
    pub pool: Pool,
}

impl Switch for PhpSwitch {
    type Data = Coro;

    #[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
    #[inline(always)]
    fn enter(&self, task: &Task<Self>) -> bool {
        let _running = Running::begin();
        // SAFETY: the engine enters a task that has its job and does not run; it holds no borrow meanwhile.
        unsafe { task.data().fiber.enter() }
    }

    #[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
    #[inline(always)]
    fn leave(&self, task: &Task<Self>) {
        // SAFETY: the engine leaves the task that runs, after asking can_switch().
        unsafe { task.data().fiber.leave() };
    }

    #[inline]
    fn can_switch(&self) -> bool {
        engine::can_switch()
    }

    fn foresee(&self, task: &Task<Self>, step: Foresight) {
        match step {
            Foresight::Task => apus_zend::fiber::prefetch(std::ptr::from_ref(task)),
            Foresight::Record => task.data().fiber.prefetch(false),
            Foresight::Stack => task.data().fiber.prefetch(true),
        }
    }

    fn ended(&self, task: &Task<Self>) {
        let coro = task.data();
        // SAFETY: the job's stack is gone, nobody else touches it.
        let job = unsafe { &mut *coro.job.as_ptr() };
        let ran = job.ran();
        self.pool.give_back(coro.fiber, ran);
        let state = State::existing();
        let fatals = state.as_ref().map_or(0, |state| state.fatals.get());
        let thrown = job.take_exception();
        let fatal = thrown.as_ref().is_some_and(|t| t.kind() == ThrownKind::Fatal);
        coro.bailed.set(ran == Ran::Bailed || fatal);
        let outcome = match (ran, thrown) {
            _ if coro.bailed() => Outcome::Gone,
            // One that was ended before it ran has no result.
            (Ran::Returned, _) if task.switches() == 0 => Outcome::Gone,
            (Ran::Returned, _) => Outcome::Returned(job.take_result()),
            (Ran::Threw, Some(thrown)) => Outcome::Threw(thrown),
            (Ran::Bailed | Ran::Threw, _) => Outcome::Gone,
        };
        coro.silent.set(match &outcome {
            Outcome::Returned(_) => true,
            // In a script exit() ends the script, and nobody waits for an answer.
            Outcome::Threw(thrown) => {
                thrown.kind() == ThrownKind::Exit
                    && state.as_ref().is_some_and(|state| state.mode.get() == Mode::Worker)
            }
            Outcome::Gone => false,
        });
        if let Some(state) = &state {
            let _speaking = trace::speak_for(coro.trace());
            state.settle(coro, outcome);
        }
        // Destructors run here, on the stack of whoever entered the task, who is not to catch what they throw.
        if coro.silent.get() {
            job.release();
        } else {
            failed::give_back(|| job.release());
        }
        State::catch_stray();
        // In a handler of exceptions or a destructor: what still waits for the coroutine's doing will not get it.
        if state.is_some_and(|state| state.fatals.get() != fatals) {
            coro.bailed.set(true);
        }
    }
}

/// What ends the loop of a script early.
pub(crate) enum Stop {
    Uncaught(Thrown),
    Exit,
    Fatal,
}

/// The state of this thread.
pub struct State {
    /// The coroutines.
    pub engine: Rc<Engine<PhpSwitch>>,
    runtime: Background,
    /// What watches descriptors, and runs what their events concern.
    pub events: Rc<Loop>,
    /// Who sleeps.
    pub alarm: Rc<Alarm>,
    /// What the rooms keep beside.
    pub(crate) rooms: Vec<Rc<dyn Room>>,
    /// What `Coroutine::set()` and `Server::set()` have settled.
    pub settings: RefCell<Settings>,
    /// Who answers for what goes wrong.
    pub mode: Cell<Mode>,
    looping: Cell<bool>,
    pub(crate) finish_registered: Cell<bool>,
    pub(crate) stop: RefCell<Option<Stop>>,
    /// A fatal error was reported: a worker has to be replaced.
    pub faulted: Cell<bool>,
    /// How often one was.
    pub fatals: Cell<u64>,
    /// One had been reported before the loop ran.
    pub fatal_before: Cell<bool>,
    /// Coroutines that handle a request, or came of one that does: a leaving worker waits for these.
    pub of_requests: Cell<usize>,
    /// Whether requests may have a trace.
    pub(crate) traces: Cell<bool>,
    /// Whether a script whose coroutines have ended, or wait for each other, may end.
    pub exit_condition: RefCell<Option<Rc<Callable>>>,
    /// What is told of another coroutine when the exception of one has ended the script.
    pub(crate) last_words: RefCell<Option<String>>,
    pub(crate) stuck: Cell<bool>,
    pub(crate) last_warnings: RefCell<Vec<String>>,
    /// Whether the callback of `workerstop` runs, for code written for Swoole: there that is outside of coroutines, and
    /// may begin some of its own.
    pub in_last_callback: Cell<bool>,
}

thread_local! {
    pub(crate) static STATE: RefCell<Option<Rc<State>>> = const { RefCell::new(None) };
}

impl State {
    /// This thread's state, if it was made.
    #[inline]
    pub fn existing() -> Option<Rc<Self>> {
        STATE.with(|state| state.borrow().clone())
    }

    /// The same at times when the thread may be about to end.
    pub fn try_existing() -> Option<Rc<Self>> {
        STATE.try_with(|state| state.try_borrow().ok().and_then(|state| state.clone())).ok().flatten()
    }

    /// This thread's state.
    #[inline]
    pub fn get() -> Result<Rc<Self>, Raise> {
        if let Some(state) = Self::existing() {
            return Ok(state);
        }
        Self::make()
    }

    // Never a part of `get`: the large frame, and room for the state on its way, would cost every coroutine a page of
    // its stack.
    #[cold]
    #[inline(never)]
    fn make() -> Result<Rc<Self>, Raise> {
        let state = Rc::new(Self::new()?);
        STATE.with(|slot| *slot.borrow_mut() = Some(Rc::clone(&state)));
        if let Some(settings) = remembered::settings() {
            state.configure(settings);
        }
        Ok(state)
    }

    fn new() -> Result<Self, Raise> {
        let failed = |error: &io::Error| engine::throw_error(&format!("the event loop could not be made: {error}"));
        let settings = Settings::default();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_start(apus_process::block_signals)
            .on_thread_park(|| {
                if let Some(state) = Self::existing() {
                    state.look_for_fatal();
                    state.engine.about_to_park();
                }
            })
            .on_thread_unpark(|| {
                if watch::take_signal()
                    && let Some(state) = Self::existing()
                {
                    state.dispatch_signals();
                }
            })
            .build_local(LocalOptions::default())
            .map_err(|error| failed(&error))?;
        running::here();
        let events = Loop::new().map_err(|error| failed(&error))?;
        let rooms =
            ROOMS.get().copied().unwrap_or_default().iter().map(|make| make(&events)).collect::<io::Result<_>>();
        let switch = PhpSwitch { pool: Pool::new(settings.stack_size, KEEP_IDLE) };
        let engine = Engine::new(switch);
        drop(runtime.spawn_local(descriptor::drive(Rc::clone(&events))));
        events.spawn(engine.driver());
        Ok(Self {
            engine,
            runtime: Background::of(runtime),
            alarm: Alarm::new(&events).map_err(|error| failed(&error))?,
            events,
            rooms: rooms.map_err(|error| failed(&error))?,
            settings: RefCell::new(settings),
            mode: Cell::new(Mode::Script),
            looping: Cell::new(false),
            finish_registered: Cell::new(false),
            stop: RefCell::new(None),
            faulted: Cell::new(false),
            fatals: Cell::new(0),
            fatal_before: Cell::new(false),
            of_requests: Cell::new(0),
            traces: Cell::new(false),
            exit_condition: RefCell::new(None),
            last_words: RefCell::new(None),
            stuck: Cell::new(false),
            last_warnings: RefCell::default(),
            in_last_callback: Cell::new(false),
        })
    }

    /// What a room keeps for this thread. It MUST be among those of [`set_rooms`].
    #[expect(clippy::expect_used, reason = "the list is fixed at module start")]
    pub fn room<R: Room>(&self) -> Rc<R> {
        let found = self.rooms.iter().find(|room| (***room).type_id() == TypeId::of::<R>());
        let room: Rc<dyn Any> = found.map(Rc::clone).expect("the module lists every room that keeps something");
        room.downcast().expect("found by its type")
    }

    /// Takes over settings.
    pub fn configure(&self, settings: Settings) {
        self.engine.switch().pool.set_stack_size(settings.stack_size);
        for room in &self.rooms {
            room.configure(&settings);
        }
        slices::configure(settings.enable_preemptive_scheduler, settings.preemptive_slice);
        *self.settings.borrow_mut() = settings;
    }

    /// Runs a future beside everything else.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) -> tokio::task::JoinHandle<()> {
        self.runtime.spawn_local(future)
    }

    /// A signal came that PHP code handles, and no PHP code ran that could have noticed: its handlers run in a
    /// coroutine.
    fn dispatch_signals(self: &Rc<Self>) {
        let state = Rc::clone(self);
        self.spawn(async move {
            let Ok(mut name) = Value::string(b"pcntl_signal_dispatch") else { return };
            let Ok(dispatch) = Callable::new(&mut name) else { return };
            if let Err(raise) = state.go(dispatch, Vec::new(), None) {
                state.report(raise);
            }
        });
    }

    /// Has a job done by the runtime's pool of threads.
    pub fn spawn_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.runtime.handle().spawn_blocking(job)
    }

    /// Starts, from outside of the runtime, a job that waits for a disk.
    pub fn start<T>(&self, start: impl FnOnce() -> Started<T>) -> Started<T> {
        let _within = self.runtime.handle().enter();
        start()
    }

    /// Makes a coroutine that has not run.
    pub fn create(
        &self,
        callable: Callable,
        args: Vec<Value>,
        outcome: Option<Receive>,
    ) -> Result<Rc<Task<PhpSwitch>>, Raise> {
        self.create_for(self.is_of_request(), callable, args, outcome)
    }

    /// Whether the running code came of a request.
    fn is_of_request(&self) -> bool {
        self.engine.current().is_some_and(|task| task.data().of_request)
    }

    /// The same for the handler of a request.
    pub fn create_for(
        &self,
        of_request: bool,
        callable: Callable,
        args: impl IntoIterator<Item = Value>,
        outcome: Option<Receive>,
    ) -> Result<Rc<Task<PhpSwitch>>, Raise> {
        let limit = self.settings.borrow().max_coroutine as usize;
        if self.engine.live() >= limit {
            let raise = exception::throw(
                exception::code::coroutine::TOO_MANY,
                &format!(
                    "{limit} coroutines exist, which is the limit: raise max_coroutine, or bound what starts them"
                ),
            );
            return Err(swoole::there(raise, There::Text(format!("exceed max number of coroutine {limit}"))));
        }
        let Some(fiber) = self.engine.switch().pool.take() else {
            drop(Thrown::take());
            return Err(exception::throw(
                exception::code::coroutine::NO_MEMORY,
                "the system gave no memory for a coroutine's stack (see vm.max_map_count and the memory limit)",
            ));
        };
        let mut job = Job::new(callable, args);
        job.serves_request(of_request);
        swoole::prepare(&mut job, outcome.is_none() && self.mode.get() == Mode::Script);
        let job = NonNull::from(Box::leak(job));
        // SAFETY: the fiber is idle; the job stays in its box until `Coro` drops it, after the fiber has run it.
        unsafe { fiber.assign(&mut *job.as_ptr()) };
        let coro = Coro {
            fiber,
            job,
            outcome: RefCell::new(outcome),
            bailed: Cell::new(false),
            of_request,
            answers: Cell::new(false),
            place: RefCell::new(None),
            silent: Cell::new(false),
            trace: RefCell::new(if of_request && self.traces.get() { self.current_trace() } else { None }),
            started: Coarse::now(),
            kept: RefCell::new(None),
        };
        if of_request {
            self.of_requests.set(self.of_requests.get() + 1);
        }
        let task = self.engine.create(coro);
        fiber.name(task.id());
        Ok(task)
    }

    /// `go()`: makes a coroutine and runs it at once until its first wait.
    pub fn go(
        self: &Rc<Self>,
        callable: Callable,
        args: impl IntoIterator<Item = Value>,
        outcome: Option<Receive>,
    ) -> Result<TaskId, Raise> {
        self.go_for(self.is_of_request(), callable, args, outcome)
    }

    /// The same for the handler of a request.
    pub fn go_for(
        self: &Rc<Self>,
        of_request: bool,
        callable: Callable,
        args: impl IntoIterator<Item = Value>,
        outcome: Option<Receive>,
    ) -> Result<TaskId, Raise> {
        if engine::is_past_shutdown_functions() || !engine::can_switch() && engine::is_shutting_down() {
            // Nothing would ever run it, or what it goes on with after a wait.
            if swoole::is_on() {
                let text = "can not use coroutine in __destruct after php_request_shutdown";
                return Err(engine::fatal_of_function(text));
            }
            let text = "a coroutine cannot begin in a destructor that PHP calls at its end";
            return Err(exception::throw(exception::code::coroutine::CANNOT_SWITCH, text));
        }
        self.register_finish();
        let task = self.create_for(of_request, callable, args, outcome)?;
        if engine::can_switch() {
            self.engine.launch(&task);
        } else if !swoole::launches(|| self.engine.launch(&task)) {
            self.engine.adopt(&task);
        }
        self.check_stop()?;
        Ok(task.id())
    }

    /// After a coroutine was entered from PHP code: what ended the script in it ends the code that entered it, too.
    #[inline]
    pub fn check_stop(&self) -> Result<(), Raise> {
        match &*self.stop.borrow() {
            Some(Stop::Fatal) if self.mode.get() == Mode::Script => Err(Raise::Bailed),
            Some(Stop::Exit) => Err(engine::throw_exit(engine::exit_status())),
            // There what nobody catches ends the script where it is.
            Some(Stop::Uncaught(_)) if self.engine.current_id() != -1 && swoole::is_on() => {
                Err(engine::throw_graceful_exit())
            }
            _ => Ok(()),
        }
    }

    /// What a task left behind goes to who wants it, or is reported.
    fn settle(&self, coro: &Coro, outcome: Outcome) {
        if coro.of_request {
            self.of_requests.set(self.of_requests.get() - 1);
        }
        if coro.bailed() {
            self.fatal();
        }
        coro.keep(None);
        let unwound = matches!(&outcome, Outcome::Threw(t) if t.kind() == ThrownKind::Graceful);
        let exited = matches!(&outcome, Outcome::Threw(t) if t.kind() == ThrownKind::Exit);
        if exited {
            self.exited();
        }
        match (coro.outcome.take(), outcome) {
            (Some(receive), Outcome::Threw(_)) if unwound || exited => receive(Outcome::Gone),
            (Some(receive), outcome) => receive(outcome),
            (None, Outcome::Threw(thrown)) if !unwound && !exited => self.uncaught(thrown),
            (None, _) => {}
        }
    }

    /// Runs a future on this thread's runtime, with everything spawned.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.looping.set(true);
        self.fatal_before.set(engine::after_fatal());
        let out = self.runtime.block_on(future);
        self.looping.set(false);
        out
    }

    /// Whether the loop runs (further up the stack).
    #[inline]
    pub fn is_looping(&self) -> bool {
        self.looping.get()
    }
}
