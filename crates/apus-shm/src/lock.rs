//! A lock between processes that is held for as long as its holder likes: across waits, calls, requests. For what is
//! held for microseconds there is [`RobustMutex`].
//!
//! # Whoever is killed at whatever instruction
//!
//! Who holds, shares or claims it is named by its token (see `process_registry.rs`), so that everybody can find out
//! whether it is dead, and then removes what it had. A process id is used for one thing only: to be woken when that
//! process ends (`pidfd_open`), and the holder is looked at again when the descriptor is open.
//!
//! The state is changed under one short mutex, by single stores of which any may be the last before a death: who was
//! not yet entered holds nothing, who was is removed as every dead one. So there is nothing to repair.
//!
//! # Who gets it
//!
//! Waiters listen to the notifier (see `notifier.rs`) and try again; it is not handed over, since a process whose turn
//! it were might be busy for seconds while the lock is free. One who wants it exclusively *claims* it while it waits:
//! nobody new shares it then, so it is not kept out for ever by those who share it in turns.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::notifier::Notifier;
use crate::process_registry::{MAX_PROCESSES, ProcessRegistry, ProcessToken};
use crate::region::{Region, Shared};
use crate::robust::{Guard, RobustMutex};

/// How often the death of a holder is looked for when the kernel gives no descriptor to be told by.
const AGAIN: Duration = Duration::from_millis(50);

/// How a lock is held, or wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// With all others that share it.
    Shared,
    /// Alone.
    Exclusive,
}

/// The lock was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// A process died while it held it exclusively, and nobody has been told since: what the lock guards may be
    /// half-changed.
    pub after_death: bool,
}

/// Who keeps one from the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// This process itself.
    Own,
    /// Another one: its id.
    Process(u32),
}

/// Why it was not taken.
#[derive(Debug)]
pub enum TakeError {
    /// Somebody has it.
    Busy(Busy),
    /// More processes use locks than can: 8,192.
    TooMany,
}

/// What the processes have to do with it.
#[derive(Debug)]
#[repr(C, align(64))]
struct LockState {
    mutex: RobustMutex,
    /// Whether anybody listens to the notifier.
    wanted: AtomicU64,
    /// The token of the process that holds it exclusively, or 0.
    owner: AtomicU64,
    /// Whether a holder died, and nobody has been told.
    bereaved: AtomicU32,
    /// By process: how often it shares the lock.
    shares: Counts,
    /// By process: how many of it wait for it exclusively.
    claims: Counts,
}

// SAFETY: atomics and a mutex of the C library; zero is valid.
unsafe impl Shared for LockState {}

/// A count for each process, below its generation.
#[derive(Debug)]
struct Counts([AtomicU64; MAX_PROCESSES]);

impl Counts {
    fn of(&self, token: ProcessToken) -> u32 {
        let word = self.0[token.index()].load(Relaxed);
        if (word >> 32) as u32 == token.generation() { word as u32 } else { 0 }
    }

    fn set(&self, token: ProcessToken, count: u32) {
        self.0[token.index()].store(u64::from(token.generation()) << 32 | u64::from(count), Relaxed);
    }

    /// The process whose count stands at a place, if it is not 0.
    fn at(&self, index: usize) -> Option<ProcessToken> {
        let word = self.0[index].load(Relaxed);
        if word as u32 == 0 { None } else { ProcessToken::of(word & !0xffff_ffff | (index as u64 + 1)) }
    }
}

/// The lock. Made before the fork; used by one thread of each process.
#[derive(Debug)]
pub struct Lock {
    registry: &'static ProcessRegistry,
    region: Region,
    notifier: Notifier,
    not_sync: std::marker::PhantomData<*const ()>,
}

impl Lock {
    /// One that nobody holds.
    pub fn new() -> io::Result<Self> {
        let registry = ProcessRegistry::table()?;
        let lock = Self {
            registry,
            region: Region::new(size_of::<LockState>())?,
            notifier: Notifier::new()?,
            not_sync: std::marker::PhantomData,
        };
        lock.state().mutex.init()?;
        Ok(lock)
    }

    /// Takes it if that is possible now. Who has it already is refused as well, or shares it once more.
    pub fn try_take(&self, mode: Mode) -> Result<Taken, TakeError> {
        let me = self.me()?;
        let _held = self.lock();
        self.take(me, mode)
    }

    /// Shares it once more, if this process does already. For code that shares it itself: one who wants it alone waits
    /// for that code, and it must not wait for him.
    pub fn share_again(&self) -> bool {
        let Some(me) = ProcessRegistry::existing_me() else { return false };
        let _held = self.lock();
        let shares = &self.state().shares;
        let shared = shares.of(me);
        if shared > 0 {
            shares.set(me, shared + 1);
        }
        shared > 0
    }

    /// Begins to wait for it.
    pub fn waiting(&self, mode: Mode) -> Waiting<'_> {
        Waiting { lock: self, mode, claimed: Cell::new(false), death: RefCell::new(None) }
    }

    /// Gives it back once. `false`: this process has it not.
    pub fn release(&self) -> bool {
        let Some(me) = ProcessRegistry::existing_me() else { return false };
        let _held = self.lock();
        let state = self.state();
        let (owns, shares) = (state.owner.load(Relaxed) == me.word(), state.shares.of(me));
        if !owns && shares == 0 {
            return false;
        }
        self.notifier.notify(&state.wanted, 1);
        if owns {
            state.owner.store(0, Relaxed);
        } else {
            state.shares.set(me, shares - 1);
        }
        true
    }

    /// Has the next one told of a death that this one was told of, and could do nothing about.
    pub fn pass_on_death(&self) {
        let _held = self.lock();
        self.state().bereaved.store(1, Relaxed);
    }

    /// Gives back what anybody, in any process, holds exclusively. `false`: nobody does.
    pub fn release_anybodys(&self) -> bool {
        let _held = self.lock();
        let state = self.state();
        let held = state.owner.load(Relaxed) != 0;
        if held {
            self.notifier.notify(&state.wanted, 1);
            state.owner.store(0, Relaxed);
        }
        held
    }

    /// Whether nobody held it exclusively a moment ago: for those who would rather look again for a while than wait.
    pub fn looks_free(&self) -> bool {
        self.state().owner.load(Relaxed) == 0
    }

    /// How this process has it now.
    pub fn held(&self) -> Option<Mode> {
        let me = ProcessRegistry::existing_me()?;
        if self.state().owner.load(Relaxed) == me.word() {
            return Some(Mode::Exclusive);
        }
        (self.state().shares.of(me) > 0).then_some(Mode::Shared)
    }

    /// How often this process shares it.
    pub fn shares(&self) -> u32 {
        ProcessRegistry::existing_me().map_or(0, |me| self.state().shares.of(me))
    }

    /// Has events when it may be free. To be watched edge-triggered and never to be read.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.notifier.fd()
    }

    fn state(&self) -> &LockState {
        self.region.at(0)
    }

    fn lock(&self) -> Guard<'_> {
        // The state is right at any instruction: no repair.
        self.state().mutex.lock(|| ())
    }

    fn me(&self) -> Result<ProcessToken, TakeError> {
        self.registry.me().ok_or(TakeError::TooMany)
    }

    /// Who keeps `me` from the lock, the dead being removed. Under the mutex.
    fn kept_by(&self, me: ProcessToken, mode: Mode) -> Option<Busy> {
        let state = self.state();
        let living = |token: ProcessToken| {
            if token == me { Some(Busy::Own) } else { self.registry.living(token).map(Busy::Process) }
        };
        if let Some(owner) = ProcessToken::of(state.owner.load(Relaxed)) {
            if let Some(busy) = living(owner) {
                return Some(busy);
            }
            // In this order: if this process is killed between the two, it is done once more.
            state.bereaved.store(1, Relaxed);
            state.owner.store(0, Relaxed);
        }
        let against = if mode == Mode::Exclusive { &state.shares } else { &state.claims };
        (0..self.registry.begun()).find_map(|index| {
            let token = against.at(index)?;
            let busy = living(token);
            if busy.is_none() {
                against.set(token, 0);
            }
            busy
        })
    }

    /// Under the mutex.
    fn take(&self, me: ProcessToken, mode: Mode) -> Result<Taken, TakeError> {
        if let Some(busy) = self.kept_by(me, mode) {
            return Err(TakeError::Busy(busy));
        }
        let state = self.state();
        let after_death = state.bereaved.load(Relaxed) != 0;
        match mode {
            // Told after it was taken: who is killed between the two has died as a holder, and that is found out.
            Mode::Exclusive => {
                state.owner.store(me.word(), Relaxed);
                state.bereaved.store(0, Relaxed);
            }
            // Who shares it changes nothing; so the next one who could put things right is told, too.
            Mode::Shared => state.shares.set(me, state.shares.of(me) + 1),
        }
        Ok(Taken { after_death })
    }
}

impl Drop for Lock {
    /// What this process had of it is given back.
    fn drop(&mut self) {
        let Some(me) = ProcessRegistry::existing_me() else { return };
        let _held = self.lock();
        let state = self.state();
        self.notifier.notify(&state.wanted, 1);
        state.claims.set(me, 0);
        state.shares.set(me, 0);
        if state.owner.load(Relaxed) == me.word() {
            state.owner.store(0, Relaxed);
        }
    }
}

/// What a step of waiting came to.
#[derive(Debug)]
pub enum LockStep {
    /// Acquired.
    Taken(Taken),
    /// Listen to the notifier (interest is registered already), and to this descriptor of a holder, which becomes
    /// readable when it dies; look again at the latest after the time.
    Listen(Option<Rc<OwnedFd>>, Option<Duration>, Busy),
    /// More processes use it than can.
    TooMany,
}

/// One who waits for a lock. Dropped, it waits no more.
#[derive(Debug)]
pub struct Waiting<'a> {
    lock: &'a Lock,
    mode: Mode,
    claimed: Cell<bool>,
    /// The process whose end is listened for.
    death: RefCell<Option<(u32, Rc<OwnedFd>)>>,
}

impl Waiting<'_> {
    /// Looks whether it can be had.
    pub fn step(&self) -> LockStep {
        loop {
            let busy = match self.look() {
                Ok(taken) => return LockStep::Taken(taken),
                Err(TakeError::TooMany) => return LockStep::TooMany,
                Err(TakeError::Busy(busy)) => busy,
            };
            let Busy::Process(pid) = busy else { return LockStep::Listen(None, None, busy) };
            let mut death = self.death.borrow_mut();
            match &*death {
                // It keeps the lock still, with its descriptor open: so the descriptor is that process's.
                Some((watched, fd)) if *watched == pid => {
                    return LockStep::Listen(Some(Rc::clone(fd)), None, busy);
                }
                _ => {}
            }
            match pidfd(pid) {
                Ok(fd) => *death = Some((pid, Rc::new(fd))),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(_) => return LockStep::Listen(None, Some(AGAIN), busy),
            }
        }
    }

    fn look(&self) -> Result<Taken, TakeError> {
        let lock = self.lock;
        let me = lock.me()?;
        let _held = lock.lock();
        let taken = lock.take(me, self.mode);
        if taken.is_ok() {
            self.unclaim(me);
        } else {
            Notifier::register(&lock.state().wanted, 1);
            if self.mode == Mode::Exclusive && !self.claimed.replace(true) {
                let claims = &lock.state().claims;
                claims.set(me, claims.of(me) + 1);
            }
        }
        taken
    }

    /// Under the mutex.
    fn unclaim(&self, me: ProcessToken) {
        if self.claimed.replace(false) {
            let claims = &self.lock.state().claims;
            claims.set(me, claims.of(me).saturating_sub(1));
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.claimed.get()
            && let Some(me) = ProcessRegistry::existing_me()
        {
            let _held = self.lock.lock();
            self.lock.notifier.notify(&self.lock.state().wanted, 1);
            self.unclaim(me);
        }
    }
}

/// A descriptor that becomes readable when the process ends.
fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: makes a descriptor (close-on-exec by itself), which is owned from here on.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, and nobody else's.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    Ok(fd)
}
