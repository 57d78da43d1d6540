//! Readiness of descriptors that are not ours: those of PHP's extensions and their libraries.
//!
//! tokio's own registration is made for descriptors that it owns: one registration each, undone before the descriptor
//! is closed. A library's descriptor may be registered by two coroutines, closed behind our back and its number used
//! again. So these are registered by number in the epoll instance of the thread's [`Loop`]. A wait arms its descriptors
//! once (`EPOLLONESHOT`); whoever was woken asks the descriptor itself before it believes anything. So a
//! registration that was left behind can wake somebody in vain, and never wrongly.
//!
//! A connection that is asked and answers, again and again, stays armed (`EPOLLET`): see [`Standing`].

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use apus_coro::TaskId;
use apus_loop::{Key, Loop, Source, SourceId};
use slab::Slab;
use tokio::time::Instant;

use super::standing::Standing;

/// How a wait for descriptors ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// One of them may be ready, for these `EPOLL*` events: ask it.
    Ready(u32),
    /// One of them was closed meanwhile; its number may mean something else now.
    Closed,
    /// Somebody else has changed what is waited for: ask anew.
    Interrupted,
    /// The time is over.
    TimedOut,
}

/// Somebody who waits for some descriptors.
struct Waiter {
    cid: TaskId,
    waker: Option<Waker>,
    woken: Option<Woken>,
    /// The descriptor that it waits for without having armed it, and whether that was looked at since.
    unarmed: Option<(RawFd, bool)>,
    /// When its time is over, if that is seen to here.
    until: Option<Instant>,
}

/// What waits for one descriptor: the waiter, and `EPOLL*` bits.
type Queue = Vec<(usize, u32)>;

/// How often waits are looked at that armed nothing, or have a time limit: what one can miss at most by a mistake about
/// its descriptor, and by which it can last too long.
const LOOK: Duration = Duration::from_millis(100);
/// Edges that nobody waited for, one after another, after which a descriptor no longer stays armed.
const UNHEARD: u8 = 4;

/// The descriptors of one thread that are waited for.
pub struct Reactor {
    events: Rc<Loop>,
    id: SourceId,
    waiters: RefCell<Slab<Waiter>>,
    /// By descriptor.
    queues: RefCell<Vec<Queue>>,
    /// By descriptor: how many files have been registered under its number.
    generations: RefCell<Vec<u32>>,
    /// By descriptor, as far as they were registered.
    standing: RefCell<Vec<Standing>>,
    /// Whether waits are being looked at.
    looks: Cell<bool>,
    /// Room for those that an event wakes; used again and again.
    woken: RefCell<Vec<usize>>,
}

impl Reactor {
    pub(super) fn new(events: &Rc<Loop>) -> io::Result<Rc<Self>> {
        events.add(|id| {
            Rc::new(Self {
                events: Rc::clone(events),
                id,
                waiters: RefCell::default(),
                queues: RefCell::default(),
                generations: RefCell::default(),
                standing: RefCell::default(),
                looks: Cell::new(false),
                woken: RefCell::default(),
            })
        })
    }

    /// For coroutine `cid`: resolves when one of `fds` may be ready for its `EPOLL*` events, or is closed. The caller
    /// MUST then ask the descriptors themselves, and wait again when none is ready.
    pub fn ready<'a>(self: &'a Rc<Self>, cid: TaskId, fds: &'a [(RawFd, u32)]) -> Ready<'a> {
        Ready { reactor: self, cid, fds, key: None, until: None }
    }

    /// The same until a time that is not near, give or take a tenth of a second: a timer for each wait would take more
    /// than the wait.
    pub fn ready_until<'a>(self: &'a Rc<Self>, cid: TaskId, fds: &'a [(RawFd, u32)], until: Instant) -> Ready<'a> {
        Ready { until: Some(until), ..self.ready(cid, fds) }
    }

    /// The coroutine that waits for one of these events of a descriptor, if one does.
    pub fn waiting(&self, fd: RawFd, events: u32) -> Option<TaskId> {
        let queues = self.queues.borrow();
        let queue = queues.get(usize::try_from(fd).ok()?)?;
        let &(key, _) = queue.iter().find(|&&(_, theirs)| theirs & events != 0)?;
        self.waiters.borrow().get(key).map(|waiter| waiter.cid)
    }

    /// Ends the wait of coroutine `cid`.
    pub fn interrupt(&self, cid: TaskId) {
        let key = self.waiters.borrow().iter().find(|(_, waiter)| waiter.cid == cid).map(|(key, _)| key);
        if let Some(key) = key {
            self.wake(key, Woken::Interrupted);
        }
    }

    /// A descriptor is about to be closed.
    pub fn closing(&self, fd: RawFd) {
        let Ok(index) = usize::try_from(fd) else { return };
        let Some(queue) = self.queues.borrow_mut().get_mut(index).map(std::mem::take) else { return };
        let stood = self.standing.borrow_mut().get_mut(index).map(std::mem::take).unwrap_or_default().stays();
        for (key, _) in &queue {
            self.wake(*key, Woken::Closed);
        }
        if !queue.is_empty() || stood {
            // A copy of it may stay open: the registration would, too.
            self.ctl(libc::EPOLL_CTL_DEL, fd, 0);
        }
    }

    fn wake(&self, key: usize, woken: Woken) {
        let waker = self.waiters.borrow_mut().get_mut(key).and_then(|waiter| {
            waiter.woken.get_or_insert(woken);
            waiter.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Adds a waiter to the queues of its descriptors. `false`: one of them is ready always (a regular file) or is
    /// none.
    fn enqueue(&self, key: usize, fds: &[(RawFd, u32)]) -> bool {
        let mut queues = self.queues.borrow_mut();
        fds.iter().all(|&(fd, events)| {
            let Ok(index) = usize::try_from(fd) else { return true };
            if queues.len() <= index {
                queues.resize_with(index + 1, Queue::new);
            }
            queues[index].push((key, events));
            if fds.len() == 1 && queues[index].len() == 1 && self.is_armed(index, events) {
                self.waiters.borrow_mut()[key].unarmed = Some((fd, false));
                return true;
            }
            self.arm(fd, &queues[index])
        })
    }

    /// The descriptor had nothing to read a moment ago, and nothing has come since as far as is known: asking it would
    /// be in vain.
    pub fn is_empty(&self, fd: RawFd) -> bool {
        let standing = self.standing.borrow();
        usize::try_from(fd).ok().and_then(|index| standing.get(index)).is_some_and(Standing::is_empty)
    }

    /// All that there was to read of a descriptor has been read; `is_stream` tells whether that can be known of it.
    pub fn emptied(&self, fd: RawFd, is_stream: fn(RawFd) -> bool) {
        let mut standing = self.standing.borrow_mut();
        if let Some(standing) = usize::try_from(fd).ok().and_then(|index| standing.get_mut(index)) {
            standing.emptied(|| is_stream(fd));
        }
    }

    fn is_armed(&self, index: usize, events: u32) -> bool {
        self.standing.borrow().get(index).is_some_and(|standing| standing.is_armed(events))
    }

    /// Ends waits whose time is over. Arms what those wait for who have armed nothing and still wait: a descriptor may
    /// have become another one without anybody knowing. Whether somebody is left to be looked at.
    fn look(&self) -> bool {
        let now = Instant::now();
        let (mut old, mut over) = (Vec::new(), Vec::new());
        let mut left = false;
        for (key, waiter) in &mut *self.waiters.borrow_mut() {
            match waiter.until {
                Some(until) if until <= now => over.push(key),
                Some(_) => left = true,
                None => {}
            }
            match &mut waiter.unarmed {
                Some((_, seen @ false)) => (*seen, left) = (true, true),
                Some((fd, true)) => {
                    old.push(*fd);
                    waiter.unarmed = None;
                }
                None => {}
            }
        }
        for key in over {
            self.wake(key, Woken::TimedOut);
        }
        let queues = self.queues.borrow();
        for fd in old {
            let queue = usize::try_from(fd).ok().and_then(|index| queues.get(index));
            if let Some(queue) = queue.filter(|queue| !queue.is_empty()) {
                self.arm(fd, queue);
            }
        }
        left
    }

    async fn keep_looking(self: Rc<Self>) {
        loop {
            tokio::time::sleep(LOOK).await;
            if !self.look() {
                return self.looks.set(false);
            }
        }
    }

    fn dequeue(&self, key: usize, fds: &[(RawFd, u32)]) {
        let mut queues = self.queues.borrow_mut();
        for &(fd, _) in fds {
            if let Some(queue) = usize::try_from(fd).ok().and_then(|index| queues.get_mut(index)) {
                queue.retain(|&(waiting, _)| waiting != key);
            }
        }
    }

    fn generation(&self, fd: usize) -> u32 {
        self.generations.borrow().get(fd).copied().unwrap_or(0)
    }

    /// The number stands for a file that was not registered before.
    fn next_generation(&self, fd: usize) {
        let mut generations = self.generations.borrow_mut();
        if generations.len() <= fd {
            generations.resize(fd + 1, 0);
        }
        generations[fd] = generations[fd].wrapping_add(1);
        let mut standing = self.standing.borrow_mut();
        if standing.len() <= fd {
            standing.resize_with(fd + 1, Standing::default);
        }
        standing[fd] = Standing::default();
    }

    fn key(&self, fd: usize) -> Key {
        Key::new(self.id, fd as u32, self.generation(fd))
    }

    fn ctl(&self, op: c_int, fd: RawFd, events: u32) -> bool {
        let mut event = libc::epoll_event { events, u64: self.key(fd as usize).bits() };
        // SAFETY: the event is local.
        unsafe { libc::epoll_ctl(self.events.as_raw_fd(), op, fd, &raw mut event) == 0 }
    }

    fn arm(&self, fd: RawFd, queue: &Queue) -> bool {
        let Ok(index) = usize::try_from(fd) else { return true };
        if self.events.is_watched(fd) {
            // The number is that of a connection of the server by now: what had it was closed without our knowing.
            return true;
        }
        let events = queue.iter().fold(0, |all, &(_, events)| all | events);
        let ctl = |op, how| self.ctl(op, fd, events | how);
        let how = self.standing.borrow_mut().get_mut(index).map_or(libc::EPOLLONESHOT as u32, |one| one.arm(events));
        if ctl(libc::EPOLL_CTL_MOD, how) {
            return true;
        }
        // Not registered, perhaps as another file under the same number was. The kernel forgot that one when it was
        // closed, unless another process still holds it: what it reports then is of a generation that is over.
        self.next_generation(index);
        ctl(libc::EPOLL_CTL_ADD, libc::EPOLLONESHOT as u32)
    }

    fn dispatch(&self, key: Key, happened: u32) {
        let fd = key.place();
        if key != self.key(fd) {
            return;
        }
        let always = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
        let mut woken = self.woken.take();
        if let Some(queue) = self.queues.borrow_mut().get_mut(fd) {
            queue.retain(|&(key, events)| {
                let concerned = happened & (events | always) != 0;
                if concerned {
                    woken.push(key);
                }
                !concerned
            });
            if !queue.is_empty() {
                self.arm(fd as RawFd, queue);
            }
        }
        if let Some(standing) = self.standing.borrow_mut().get_mut(fd)
            && standing.happened(happened, !woken.is_empty()) >= UNHEARD
        {
            standing.disarmed();
            self.ctl(libc::EPOLL_CTL_MOD, fd as RawFd, libc::EPOLLONESHOT as u32);
        }
        for key in woken.drain(..) {
            self.wake(key, Woken::Ready(happened));
        }
        self.woken.replace(woken);
    }
}

impl Source for Reactor {
    fn event(&self, key: Key, events: u32) -> bool {
        self.dispatch(key, events);
        false
    }
}

/// See [`Reactor::ready`].
pub struct Ready<'a> {
    reactor: &'a Rc<Reactor>,
    cid: TaskId,
    fds: &'a [(RawFd, u32)],
    key: Option<usize>,
    until: Option<Instant>,
}

impl Future for Ready<'_> {
    type Output = Woken;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Woken> {
        let Some(key) = self.key else {
            let waiter = Waiter {
                cid: self.cid,
                waker: Some(cx.waker().clone()),
                woken: None,
                unarmed: None,
                until: self.until,
            };
            let key = self.reactor.waiters.borrow_mut().insert(waiter);
            self.key = Some(key);
            if !self.reactor.enqueue(key, self.fds) {
                return Poll::Ready(Woken::Ready(0));
            }
            let looked_at = self.until.is_some() || self.reactor.waiters.borrow()[key].unarmed.is_some();
            if looked_at && !self.reactor.looks.replace(true) {
                tokio::task::spawn_local(Rc::clone(self.reactor).keep_looking());
            }
            return Poll::Pending;
        };
        let mut waiters = self.reactor.waiters.borrow_mut();
        let waiter = &mut waiters[key];
        if let Some(woken) = waiter.woken {
            return Poll::Ready(woken);
        }
        match &mut waiter.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => waiter.waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.reactor.dequeue(key, self.fds);
            self.reactor.waiters.borrow_mut().remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use tokio::task::LocalSet;

    use super::*;

    /// With both ends and what else is open, more descriptors than most systems give a process unasked.
    const MANY: usize = 2_500;
    const IN: u32 = libc::EPOLLIN as u32;

    fn in_loop(test: impl Future<Output = ()>) {
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("its own limit");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an event loop");
        LocalSet::new().block_on(&runtime, async {
            tokio::time::timeout(Duration::from_secs(60), test).await.expect("everybody was woken");
        });
    }

    /// Coroutines 0 to `MANY`, each at a connection of its own, and the other ends.
    struct Crowd {
        reactor: Rc<Reactor>,
        connections: Rc<Vec<UnixStream>>,
        others: Vec<UnixStream>,
        woken: Rc<RefCell<Vec<(usize, Woken)>>>,
    }

    impl Crowd {
        fn new() -> Self {
            let (connections, others) = (0..MANY).map(|_| UnixStream::pair().expect("a pair")).unzip();
            let events = Loop::new().expect("an instance of epoll");
            tokio::task::spawn_local(events.driver());
            let reactor = Reactor::new(&events).expect("a place in the loop");
            Self { reactor, connections: Rc::new(connections), others, woken: Rc::default() }
        }

        fn fd(&self, at: usize) -> RawFd {
            self.connections[at].as_raw_fd()
        }

        fn wait(&self, at: usize, until: Option<Instant>) {
            let (reactor, woken) = (Rc::clone(&self.reactor), Rc::clone(&self.woken));
            let fds = [(self.fd(at), IN)];
            tokio::task::spawn_local(async move {
                let ready = match until {
                    Some(until) => reactor.ready_until(at as TaskId, &fds, until),
                    None => reactor.ready(at as TaskId, &fds),
                };
                let ended = ready.await;
                woken.borrow_mut().push((at, ended));
            });
        }

        async fn all_wait(&self) {
            while self.reactor.waiters.borrow().len() < MANY {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }

        /// Who has been woken since, in order, when they are so many.
        async fn told(&self, count: usize) -> Vec<(usize, Woken)> {
            while self.woken.borrow().len() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let mut all = self.woken.take();
            all.sort_unstable_by_key(|(at, _)| *at);
            all
        }

        fn is_empty(&self) -> bool {
            self.reactor.waiters.borrow().is_empty() && self.reactor.queues.borrow().iter().all(Vec::is_empty)
        }
    }

    #[test]
    fn of_thousands_those_are_woken_whose_connections_are_ready() {
        in_loop(async {
            let crowd = Crowd::new();
            let each_third = || (0..MANY).step_by(3);
            let ready: Vec<_> = each_third().map(|at| (at, Woken::Ready(IN))).collect();
            (0..MANY).for_each(|at| crowd.wait(at, None));
            // Their coroutines ask again and again: from the second time on they stay registered.
            for _ in 0..3 {
                crowd.all_wait().await;
                for at in each_third() {
                    (&crowd.others[at]).write_all(b"answer").expect("written");
                }
                assert_eq!(crowd.told(ready.len()).await, ready);
                for at in each_third() {
                    let read = rustix::net::recv(&crowd.connections[at], &mut [0; 64], rustix::net::RecvFlags::empty());
                    assert_eq!(read.expect("an answer").0, 6);
                    crowd.reactor.emptied(crowd.fd(at), |_| true);
                    crowd.wait(at, None);
                }
            }
            crowd.all_wait().await;
            assert!(each_third().all(|at| crowd.reactor.standing.borrow()[crowd.fd(at) as usize].stays()));
            assert_eq!(crowd.reactor.waiting(crowd.fd(7), IN), Some(7));
            crowd.reactor.interrupt(7);
            (0..MANY).filter(|&at| at != 7).for_each(|at| crowd.reactor.closing(crowd.fd(at)));
            let told = crowd.told(MANY).await;
            assert!(told.iter().all(|&(at, woken)| woken == if at == 7 { Woken::Interrupted } else { Woken::Closed }));
            assert!(crowd.is_empty());
        });
    }

    #[test]
    fn of_thousands_the_time_is_over_for_those_whose_limit_it_was() {
        in_loop(async {
            let crowd = Crowd::new();
            let begin = Instant::now();
            let (soon, late) = (begin + Duration::from_millis(150), begin + Duration::from_secs(3600));
            (0..MANY).for_each(|at| crowd.wait(at, Some(if at % 2 == 0 { soon } else { late })));
            let over = crowd.told(MANY / 2).await;
            assert!(begin.elapsed() >= Duration::from_millis(150));
            assert!(over.iter().enumerate().all(|(at, told)| *told == (at * 2, Woken::TimedOut)));
            // Those who were registered all the same are told as ever.
            (&crowd.others[1]).write_all(b"x").expect("written");
            assert_eq!(crowd.told(1).await, [(1, Woken::Ready(IN))]);
            (0..MANY).for_each(|at| crowd.reactor.closing(crowd.fd(at)));
            assert_eq!(crowd.told(MANY / 2 - 1).await.len(), MANY / 2 - 1);
            assert!(crowd.is_empty());
        });
    }

    /// Counts what it is told.
    struct Server(SourceId, Cell<usize>);

    impl Source for Server {
        fn event(&self, _key: Key, _events: u32) -> bool {
            self.1.set(self.1.get() + 1);
            false
        }
    }

    #[test]
    fn a_number_that_a_connection_of_the_server_has_is_left_alone() {
        in_loop(async {
            let events = Loop::new().expect("an instance of epoll");
            tokio::task::spawn_local(events.driver());
            let reactor = Reactor::new(&events).expect("a place in the loop");
            let server = events.add(|id| Rc::new(Server(id, Cell::new(0)))).expect("a place in the loop");
            let (ours, mut theirs) = UnixStream::pair().expect("a pair");
            events.watch(ours.as_fd(), Key::new(server.0, 0, 0)).expect("watched");
            // Somebody still waits for what had the number before.
            let fds = [(ours.as_raw_fd(), IN)];
            let stale = reactor.ready_until(1, &fds, Instant::now() + Duration::from_millis(150));
            theirs.write_all(b"x").expect("written");
            assert_eq!(stale.await, Woken::TimedOut);
            assert!(server.1.get() > 0);
        });
    }
}
