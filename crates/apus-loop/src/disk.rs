//! Work that waits for a disk, on a few threads of the runtime's pool.
//!
//! The pool itself has a thread for each job, up to 512 of them: a disk is not faster for that, and their stacks are
//! what a process keeps. What may last as long as somebody else likes (a child process, a resolver, a FIFO) has no
//! place here, where others queue behind it: it is the pool's.
//!
//! A job that has been started is done, whether anybody waits for it or not: it owns all that it touches. What is
//! [`cached`] needs none.

pub mod cached;
mod regular;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{process, thread};

use tokio::sync::oneshot;

pub use regular::open_regular;

/// Threads a core, within the two limits: what a queue of a disk, or a file server that is far, is kept busy by.
const THREADS_A_CORE: usize = 8;
const FEWEST: usize = 16;
const MOST: usize = 64;
/// How long a thread stays for the next job before it goes back to the runtime's pool, which may then give it to
/// others, and ends it if nobody wants it.
const LINGER: Duration = Duration::from_millis(50);

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Those of them that linger.
    idle: usize,
    /// One more was called and has not looked yet. One at a time: short jobs may be done before it comes, and threads
    /// that find nothing cost more than they.
    called: bool,
}

struct Queue {
    waiting: Mutex<Waiting>,
    call: Condvar,
    /// Threads that work at once.
    limit: usize,
    /// The threads of a process are not those of its child, and a lock may be held by one that the child does not have.
    process: u32,
}

/// How a further thread is had.
enum Call {
    Wake,
    Start,
}

impl Waiting {
    /// Whether a further thread is wanted, which counts as called from now on.
    fn call(&mut self, limit: usize) -> Option<Call> {
        if self.called || self.jobs.is_empty() {
            return None;
        }
        let how = if self.idle > 0 {
            Call::Wake
        } else if self.threads < limit {
            self.threads += 1;
            Call::Start
        } else {
            return None;
        };
        self.called = true;
        Some(how)
    }
}

thread_local! {
    static QUEUE: RefCell<Option<Arc<Queue>>> = const { RefCell::new(None) };
}

impl Queue {
    /// Of the loop that runs on this thread.
    fn get() -> Arc<Self> {
        QUEUE.with_borrow_mut(|queue| {
            let process = process::id();
            let current = queue.take().filter(|queue| queue.process == process);
            Arc::clone(queue.insert(current.unwrap_or_else(|| Arc::new(Self::new(process)))))
        })
    }

    fn new(process: u32) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let limit = (cores * THREADS_A_CORE).clamp(FEWEST, MOST);
        Self { waiting: Mutex::default(), call: Condvar::new(), limit, process }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No job runs while it is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(self: &Arc<Self>, job: Job) {
        let mut waiting = self.lock();
        waiting.jobs.push_back(job);
        self.call(waiting);
    }

    /// Ends the hold of the queue with a call for one more thread, if there is something for it.
    fn call(self: &Arc<Self>, mut waiting: MutexGuard<'_, Waiting>) {
        let how = waiting.call(self.limit);
        drop(waiting);
        match how {
            None => {}
            Some(Call::Wake) => self.call.notify_one(),
            Some(Call::Start) => {
                let worker = Worker { queue: Arc::clone(self), counted: true };
                drop(tokio::task::spawn_blocking(move || worker.run()));
            }
        }
    }

    /// Whether it was called in time.
    fn linger<'a>(&self, mut waiting: MutexGuard<'a, Waiting>) -> (MutexGuard<'a, Waiting>, bool) {
        waiting.idle += 1;
        let waited = self.call.wait_timeout_while(waiting, LINGER, |waiting| !waiting.called);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        waiting.idle -= 1;
        let called = std::mem::take(&mut waiting.called);
        (waiting, called)
    }
}

/// One of the queue's threads.
struct Worker {
    queue: Arc<Queue>,
    counted: bool,
}

impl Worker {
    fn run(mut self) {
        self.queue.lock().called = false;
        while let Some(job) = self.next() {
            // Who waits for it sees that nothing came.
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&mut self) -> Option<Job> {
        let mut waiting = self.queue.lock();
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                self.queue.call(waiting);
                return Some(job);
            }
            let (again, called) = self.queue.linger(waiting);
            waiting = again;
            if !called {
                // With the look that found nothing: what is pushed after it starts a thread.
                waiting.threads -= 1;
                self.counted = false;
                return None;
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.counted {
            // The runtime ended before the thread began.
            let mut waiting = self.queue.lock();
            waiting.threads -= 1;
            waiting.called = false;
        }
    }
}

/// A job that was started: what it gives.
#[derive(Debug)]
#[must_use = "a job that nobody waits for tells nobody how it ended"]
pub struct Started<T>(oneshot::Receiver<T>);

impl<T> Future for Started<T> {
    type Output = io::Result<T>;

    /// An error: the job panicked, or the runtime ended.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|given| given.map_err(|_| io::ErrorKind::Interrupted.into()))
    }
}

/// Starts a job that ends by itself.
///
/// # Panics
/// Outside of a runtime.
pub fn start<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Started<T> {
    let (outcome, started) = oneshot::channel();
    Queue::get().push(Box::new(move || drop(outcome.send(job()))));
    Started(started)
}

/// What may be no regular file.
pub trait File: Send + 'static {
    /// What it is.
    fn about(&self) -> io::Result<Metadata>;
}

impl File for fs::File {
    fn about(&self) -> io::Result<Metadata> {
        self.metadata()
    }
}

impl File for PathBuf {
    fn about(&self) -> io::Result<Metadata> {
        fs::metadata(self)
    }
}

impl File for CString {
    fn about(&self) -> io::Result<Metadata> {
        fs::metadata(OsStr::from_bytes(self.to_bytes()))
    }
}

/// Starts a job with a file. To open or read one that is not regular may last as long as another process likes: then
/// the job goes on outside of the queue.
///
/// # Panics
/// Outside of a runtime.
pub fn start_with<F: File, T: Send + 'static>(file: F, job: impl FnOnce(F) -> T + Send + 'static) -> Started<T> {
    let (outcome, started) = oneshot::channel();
    Queue::get().push(Box::new(move || {
        let lasts = file.about().is_ok_and(|about| !about.is_file() && !about.is_dir());
        let rest = move || drop(outcome.send(job(file)));
        if lasts { drop(tokio::task::spawn_blocking(rest)) } else { rest() }
    }));
    Started(started)
}

#[cfg(test)]
mod tests;
