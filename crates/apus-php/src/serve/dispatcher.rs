//! What a front has of processes that run scripts: those it holds, the requests that wait for one, and the time they
//! may take.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use apus_loop::{Key, Loop, Pace, Source, SourceId};
use apus_net::Gone;
use apus_options::Settings;
use apus_process::log;
use apus_shm::handover::{Front, Handover, Held, Pieces, Wakes};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::Notify;

/// How often the time of silent scripts is looked at, at most and at least.
const TICKS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Room for requests that is kept between them, in bytes.
const KEPT_FORM: usize = 16 * 1024;

/// Processes that are woken together: more do not wait until the front has done all that it has to do in its turn, for
/// where there is a core for each they could have begun.
const AT_ONCE: usize = 8;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Requests that may wait.
    queue: usize,
    /// How long each may.
    waiting: Duration,
    /// How long a script may be silent; `None` for ever.
    silent: Option<Duration>,
}

impl Patience {
    pub(crate) fn of(settings: &Settings) -> Self {
        let silent = settings.script_timeout;
        Self {
            queue: settings.script_queue as usize,
            waiting: settings.script_queue_timeout,
            silent: (!silent.is_zero()).then_some(silent),
        }
    }

    fn tick(&self) -> Duration {
        self.silent.map_or(TICKS.1, |silent| (silent / 4).clamp(TICKS.0, TICKS.1))
    }
}

/// A process that this front has.
pub(super) struct Active {
    pub(super) held: Held,
    /// Of who reads its answer; `None` while nobody waits for news.
    waker: Option<Waker>,
    /// Nobody reads its answer any more: it is thrown away here.
    orphan: bool,
    /// Whether there is some of the body that did not fit.
    pub(super) feeding: bool,
    /// Since when it has given nothing; `None` while its client is what it waits for.
    pub(super) silent_since: Option<Instant>,
    /// It was killed because it was silent for too long.
    pub(super) condemned: bool,
    script: Box<str>,
}

/// A request that waits for a process.
#[derive(Default)]
struct Waiter {
    /// The one that it has got.
    number: Cell<Option<usize>>,
    waker: Cell<Option<Waker>>,
    since: Cell<Option<Instant>>,
    expired: Cell<bool>,
}

/// A front's processes and requests.
pub(crate) struct Dispatcher {
    front: Front,
    events: Rc<Loop>,
    id: SourceId,
    patience: Patience,
    /// Of those that were handed a request in this turn.
    wakes: RefCell<Wakes>,
    /// Room to write requests down.
    form: RefCell<Vec<u8>>,
    /// By the numbers of their channels.
    active: RefCell<Vec<Option<Box<Active>>>>,
    /// How many those are.
    busy: Cell<usize>,
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
    /// Something has a time again.
    timed: Notify,
    /// A request waits where none did.
    queued: Notify,
}

/// Why there is no process for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Too many wait, or it has waited for too long.
    Busy,
    /// Its client has left.
    Gone,
}

impl Dispatcher {
    /// Takes a front's seat for the process of a slot, and begins to listen; `None` when all are taken.
    pub(crate) fn open(
        handover: &'static Handover,
        slot: usize,
        patience: Patience,
        events: &Rc<Loop>,
    ) -> io::Result<Option<Rc<Self>>> {
        let Some(front) = Front::sit(handover, slot) else { return Ok(None) };
        let dispatcher = events.add(|id| {
            Rc::new(Self {
                wakes: RefCell::new(front.wakes()),
                front,
                events: Rc::clone(events),
                id,
                patience,
                form: RefCell::default(),
                active: RefCell::default(),
                busy: Cell::new(0),
                waiting: RefCell::default(),
                timed: Notify::new(),
                queued: Notify::new(),
            })
        })?;
        // Each notification is an edge: it need not be read.
        events.watch_readable(dispatcher.front.notifier(), Key::new(dispatcher.id, 0, 0))?;
        dispatcher.listen();
        tokio::task::spawn_local(Rc::clone(&dispatcher).watch_times());
        Ok(Some(dispatcher))
    }

    fn listen(&self) {
        self.front.listen();
        self.look();
    }

    /// Looks at all that may have happened.
    fn look(&self) {
        let mut ended = Vec::new();
        for active in self.active.borrow_mut().iter_mut().flatten() {
            if !active.held.has_news(active.feeding) {
                continue;
            }
            if active.orphan {
                if discard(&mut active.held) {
                    ended.push(active.held.number());
                }
            } else if let Some(waker) = active.waker.take() {
                waker.wake();
            }
        }
        for number in ended {
            self.end(number);
        }
        self.serve_waiting();
    }

    /// Gives processes to the requests that have waited longest.
    fn serve_waiting(&self) {
        while let Some(held) = self.next_process() {
            if let Some(held) = self.hand(held) {
                self.give_back(held);
            }
        }
        self.tell_waiting();
    }

    /// A process for which there is no request.
    fn give_back(&self, held: Held) {
        // Before it is given on: it is not to come back.
        self.front.waits(None);
        held.release();
    }

    /// Gives a process to the request that has waited longest; back where none waits. What has waited for too long is
    /// not begun any more.
    fn hand(&self, held: Held) -> Option<Held> {
        self.drop_late();
        let Some(waiter) = self.waiting.borrow_mut().pop_front() else { return Some(held) };
        waiter.number.set(Some(self.enter(held)));
        if let Some(waker) = waiter.waker.take() {
            waker.wake();
        }
        None
    }

    /// A process that was given to this front, or that it takes because requests wait.
    fn next_process(&self) -> Option<Held> {
        let active = self.active.borrow();
        let given = self.front.given(|number| active.get(number).is_some_and(Option::is_some));
        given.or_else(|| if self.waiting.borrow().is_empty() { None } else { self.front.take() })
    }

    fn enter(&self, held: Held) -> usize {
        let number = held.number();
        let mut active = self.active.borrow_mut();
        if active.len() <= number {
            active.resize_with(number + 1, || None);
        }
        self.busy.set(self.busy.get() + 1);
        active[number] = Some(Box::new(Active {
            held,
            waker: None,
            orphan: false,
            feeding: false,
            silent_since: None,
            condemned: false,
            script: "".into(),
        }));
        number
    }

    /// Tells the others since when requests wait here, and looks once more, as the hand-over wants it.
    fn tell_waiting(&self) {
        loop {
            let since = self.waits_since();
            self.front.waits(since.map(|since| since.elapsed().as_millis() as u64));
            let Some(held) = since.and_then(|_| self.front.take()) else { return };
            if let Some(held) = self.hand(held) {
                self.give_back(held);
            }
        }
    }

    /// A process was handed a request, and is to be woken: at the end of the turn where others are busy, too.
    fn wake_soon(&self, number: usize) {
        let alone = self.busy.get() == 1;
        let mut wakes = self.wakes.borrow_mut();
        if !alone && wakes.count() < AT_ONCE {
            return self.events.ask_at_end(self.id);
        }
        wakes.ring();
        if alone && let Some(active) = self.active.borrow().get(number).and_then(Option::as_deref) {
            active.held.let_run();
        }
    }

    /// The process has ended its request, or died: it is this front's no more.
    fn end(&self, number: usize) {
        let Some(active) = self.active.borrow_mut().get_mut(number).and_then(Option::take) else { return };
        self.busy.set(self.busy.get() - 1);
        if active.held.release() {
            self.serve_waiting();
        }
    }

    /// Room to write a request down.
    pub(super) fn form(&self) -> Vec<u8> {
        self.form.take()
    }

    /// Has it used again.
    pub(super) fn keep_form(&self, form: Vec<u8>) {
        if form.capacity() <= KEPT_FORM {
            self.form.replace(form);
        }
    }

    /// After how many seconds none waits any more that waits now.
    pub(super) fn turn(&self) -> u64 {
        (self.patience.waiting.as_millis() as u64).div_ceil(1000)
    }

    /// A process for a request, when there is one.
    pub(super) async fn process(self: &Rc<Self>, gone: Gone) -> Result<Process, Refused> {
        if self.waiting.borrow().is_empty()
            && let Some(held) = self.front.take()
        {
            return Ok(Process { dispatcher: Rc::clone(self), number: self.enter(held), begun: false });
        }
        if self.waiting.borrow().len() >= self.patience.queue {
            return Err(Refused::Busy);
        }
        let waiter = Rc::new(Waiter::default());
        waiter.since.set(Some(Instant::now()));
        if self.waiting.borrow().is_empty() {
            self.queued.notify_one();
        }
        self.waiting.borrow_mut().push_back(Rc::clone(&waiter));
        self.timed.notify_one();
        let place = Place { dispatcher: Rc::clone(self), waiter };
        self.tell_waiting();
        let mut gone = std::pin::pin!(gone);
        poll_fn(|cx| place.poll(cx, gone.as_mut())).await
    }

    /// Looks at times, while there is anything that has one: at that of waiting requests when it is over, for who is to
    /// be refused is to know it then.
    async fn watch_times(self: Rc<Self>) {
        let mut tick = Instant::now();
        loop {
            let idle = self.waiting.borrow().is_empty() && self.active.borrow().iter().all(Option::is_none);
            if idle {
                self.timed.notified().await;
                tick = Instant::now() + self.patience.tick();
            }
            let due = self.first_expiry().map_or(tick, |expiry| expiry.min(tick));
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => self.expire(),
                () = self.queued.notified() => {}
            }
            if Instant::now() >= tick {
                tick = Instant::now() + self.patience.tick();
                self.condemn();
            }
        }
    }

    /// When the request that has waited longest has done so for too long.
    fn first_expiry(&self) -> Option<Instant> {
        self.waits_since().map(|since| since + self.patience.waiting)
    }

    fn waits_since(&self) -> Option<Instant> {
        self.waiting.borrow().front().and_then(|waiter| waiter.since.get())
    }

    /// Refuses requests that have waited for too long.
    fn expire(&self) {
        self.drop_late();
        self.tell_waiting();
    }

    fn drop_late(&self) {
        while self.first_expiry().is_some_and(|expiry| expiry <= Instant::now()) {
            let Some(waiter) = self.waiting.borrow_mut().pop_front() else { break };
            waiter.expired.set(true);
            if let Some(waker) = waiter.waker.take() {
                waker.wake();
            }
        }
    }

    /// Kills processes whose scripts have been silent for too long.
    fn condemn(&self) {
        let Some(limit) = self.patience.silent else { return };
        for active in self.active.borrow_mut().iter_mut().flatten() {
            let late = active.silent_since.is_some_and(|since| since.elapsed() >= limit);
            if !late || active.condemned || active.held.is_dead() {
                continue;
            }
            active.condemned = true;
            let pid = active.held.pid();
            log::warning(format_args!(
                "script process {pid} is killed: {} has given nothing for {} s (script_timeout)",
                active.script,
                limit.as_secs_f64()
            ));
            // It is not reaped before its channel says so, so the number is its own.
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

impl Source for Dispatcher {
    fn event(&self, _key: Key, _events: u32) -> bool {
        true
    }

    fn run(&self, _cx: &mut Context<'_>) -> Pace {
        self.listen();
        Pace::Done
    }

    fn turn_ends(&self) {
        self.wakes.borrow_mut().ring();
    }
}

/// Throws away what there is of an answer that nobody reads; true at its end.
fn discard(held: &mut Held) -> bool {
    while let Some((piece, len)) = held.piece(0) {
        let end = piece == Pieces::End;
        held.free(len);
        if end {
            return true;
        }
    }
    held.is_dead()
}

/// The place of a request among those that wait, given up when dropped.
struct Place {
    dispatcher: Rc<Dispatcher>,
    waiter: Rc<Waiter>,
}

impl Place {
    fn poll(&self, cx: &mut Context<'_>, gone: std::pin::Pin<&mut Gone>) -> Poll<Result<Process, Refused>> {
        if let Some(number) = self.waiter.number.take() {
            return Poll::Ready(Ok(Process { dispatcher: Rc::clone(&self.dispatcher), number, begun: false }));
        }
        if self.waiter.expired.get() {
            return Poll::Ready(Err(Refused::Busy));
        }
        if gone.poll(cx).is_ready() {
            return Poll::Ready(Err(Refused::Gone));
        }
        self.waiter.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(number) = self.waiter.number.take() {
            self.dispatcher.end(number);
        }
        let waits = self.dispatcher.waiting.borrow().iter().position(|waiter| Rc::ptr_eq(waiter, &self.waiter));
        if let Some(at) = waits {
            self.dispatcher.waiting.borrow_mut().remove(at);
            self.dispatcher.tell_waiting();
        }
    }
}

/// A process for one request, given back when dropped.
pub(super) struct Process {
    dispatcher: Rc<Dispatcher>,
    number: usize,
    begun: bool,
}

impl Process {
    /// Uses what the front has of it.
    pub(super) fn with<T>(&self, use_it: impl FnOnce(&mut Active) -> T) -> Option<T> {
        self.dispatcher.active.borrow_mut().get_mut(self.number).and_then(Option::as_mut).map(|active| use_it(active))
    }

    /// Begins the request.
    pub(super) fn begin(&mut self, request: &[u8], body: u64, script: &str) {
        self.begun = true;
        self.with(|active| {
            active.script = script.into();
            active.silent_since = Some(Instant::now());
            active.held.begin(request, body, script.as_bytes(), &mut self.dispatcher.wakes.borrow_mut());
        });
        self.dispatcher.wake_soon(self.number);
        self.dispatcher.timed.notify_one();
    }

    /// Wakes the task of `cx` when there is news.
    pub(super) fn register(&self, cx: &Context<'_>) {
        self.with(|active| active.waker = Some(cx.waker().clone()));
    }

    /// The request has ended: the process is for another one.
    pub(super) fn ended(&mut self) {
        self.begun = false;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.begun {
            return self.dispatcher.end(self.number);
        }
        let ended = self.with(|active| {
            (active.orphan, active.waker) = (true, None);
            // There is no client any more that would take its output, or that it could wait for.
            active.silent_since = Some(Instant::now());
            active.held.gone();
            discard(&mut active.held)
        });
        if ended == Some(true) {
            self.dispatcher.end(self.number);
        }
    }
}
