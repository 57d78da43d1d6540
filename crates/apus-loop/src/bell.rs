//! Wakers: from any thread, a push of the key and, if the loop sleeps, a wake-up of its task.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use crate::key::Key;

/// What wakers push to.
#[derive(Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    /// There are keys.
    any: AtomicBool,
    /// The loop's task has gone to sleep, or is about to: who pushes wakes it.
    asleep: AtomicBool,
}

#[derive(Default)]
struct Inner {
    keys: Vec<u64>,
    task: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, key: Key) {
        self.lock().keys.push(key.bits());
        self.any.store(true, Ordering::SeqCst);
        self.rouse();
    }

    /// Wakes the loop's task if it sleeps.
    #[inline]
    pub(crate) fn rouse(&self) {
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst) {
            let task = self.lock().task.clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }

    /// The loop's task runs: nobody has to wake it.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    /// What wakes the loop's task from now on.
    pub(crate) fn set_task(&self, task: &Waker) {
        self.lock().task = Some(task.clone());
    }

    /// The loop's task is about to sleep. `false`: a key came meanwhile, and it has to look at that.
    pub(crate) fn sleep(&self) -> bool {
        // Who pushes says so first and looks then whether anybody sleeps: one of the two sees the other.
        self.asleep.store(true, Ordering::SeqCst);
        !self.any.load(Ordering::SeqCst)
    }

    /// Whether there are keys.
    #[inline]
    pub(crate) fn has_keys(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Takes the keys in exchange for an empty list.
    #[inline]
    pub(crate) fn take(&self, into: &mut Vec<u64>) {
        if self.has_keys() {
            let mut inner = self.lock();
            self.any.store(false, Ordering::SeqCst);
            std::mem::swap(&mut inner.keys, into);
        }
    }
}

/// What a waker wakes.
struct Rope {
    key: Key,
    /// It was rung, and nobody has answered.
    rung: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Rope {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            self.queue.push(self.key);
        }
    }
}

/// The waker of one key. See [`Loop::bell`](crate::Loop::bell).
pub struct Bell {
    rope: Arc<Rope>,
    waker: Waker,
}

impl Bell {
    pub(crate) fn new(key: Key, queue: &Arc<Queue>) -> Self {
        let rope = Arc::new(Rope { key, rung: AtomicBool::new(false), queue: Arc::clone(queue) });
        Self { waker: Waker::from(Arc::clone(&rope)), rope }
    }

    /// What rings it.
    #[inline]
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Its source is about to look at what it was rung for: from now on it can be rung again.
    #[inline]
    pub fn answer(&self) {
        self.rope.rung.store(false, Ordering::Release);
    }
}
