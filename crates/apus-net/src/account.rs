//! The memory of a worker for what clients have sent and the program has not finished with: bodies of requests, fields
//! of forms, messages that are not complete.
//!
//! All of it stands in one account. A [`Share`] is the part of one connection, given back when it is dropped, so that
//! the sum cannot drift; to grow it is an addition and a comparison. What finds no room goes to a file, or waits, or is
//! refused. Large shares stand in a list with what they brought lately: when something could neither be kept nor put
//! into a file, the sweep ends those that brought the least ([`Holder::give_up`]), so that who drips cannot keep others
//! out.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use slab::Slab;

use crate::sys;

/// A share of that many bytes is large.
const LARGE: usize = 64 * 1024;
/// The part of the bound that is left to what cannot go to a file: one in so many.
const RESERVE: usize = 8;
/// So many bytes must have been in use before freed memory is given back to the system.
const MUCH: usize = 8 << 20;
/// Milliseconds between two times that it is, while connections are served.
const TRIM_EVERY: u64 = 5_000;

/// Who can be told to give its share up.
pub(crate) trait Holder {
    /// There is no room, and this one brings the least: it is to end. MUST NOT wait or call an `App`.
    fn give_up(self: Rc<Self>);
}

/// The account of a worker.
#[derive(Default)]
pub(crate) struct Account {
    used: Cell<usize>,
    /// The most that was in use since memory was last given back.
    peak: Cell<usize>,
    /// When it was (milliseconds of the worker's clock).
    trimmed: Cell<u64>,
    /// The bound that stood in somebody's way since the last sweep; 0 for none.
    short: Cell<usize>,
    large: RefCell<Slab<Rc<Large>>>,
}

/// A large share, as the sweep sees it.
struct Large {
    holder: Weak<dyn Holder>,
    bytes: Cell<usize>,
    /// Bytes that came since the last sweep.
    came: Cell<usize>,
    /// Bytes that came before, those of each sweep counting half of those of the next.
    recent: Cell<usize>,
    /// It brings nothing because this side does not read.
    waits: Cell<bool>,
}

impl Account {
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// Notes that something found no room under this bound.
    pub(crate) fn press(&self, bound: usize) {
        self.short.set(bound.max(1));
    }

    /// Looks at what the large shares have brought. Ends those that brought the least when there was no room for
    /// something.
    pub(crate) fn sweep(&self) {
        let mut large: Vec<Rc<Large>> = {
            let listed = self.large.borrow();
            for (_, share) in listed.iter() {
                share.recent.set(share.recent.get() / 2 + share.came.take());
            }
            let bound = self.short.get();
            if bound == 0 {
                return;
            }
            listed.iter().map(|(_, share)| Rc::clone(share)).collect()
        };
        let aim = self.short.take() / 4 * 3;
        let mut over = self.used.get().saturating_sub(aim);
        // Among equals the largest.
        large.sort_by_key(|share| (share.waits.get(), share.recent.get(), usize::MAX - share.bytes.get()));
        for share in large {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(share.bytes.get());
            if let Some(holder) = share.holder.upgrade() {
                holder.give_up();
            }
        }
    }

    /// Gives freed memory back to the system when much was in use and little is left of it. Takes milliseconds.
    pub(crate) fn trim(&self, now: u64, idle: bool) {
        let (used, peak) = (self.used.get(), self.peak.get());
        let rested = idle || now.saturating_sub(self.trimmed.get()) >= TRIM_EVERY;
        if peak < MUCH || used > peak / 2 || !rested {
            return;
        }
        self.peak.set(used);
        self.trimmed.set(now);
        sys::trim_heap();
    }

    fn give(&self, bytes: usize) {
        let used = self.used.get();
        // The most was in use just before something is given back.
        if used > self.peak.get() {
            self.peak.set(used);
        }
        self.used.set(used.saturating_sub(bytes));
    }
}

/// The part of the bound that what can go to a file may fill.
pub(crate) fn leaving_reserve(bound: usize) -> usize {
    bound - bound / RESERVE
}

/// What one connection has of the account.
pub(crate) struct Share {
    account: Rc<Account>,
    holder: Weak<dyn Holder>,
    bytes: usize,
    /// Its place in the list of large shares.
    listed: Option<usize>,
    /// The program has what it stands for: only its bytes count.
    settled: bool,
}

impl Share {
    pub(crate) fn new(account: &Rc<Account>, holder: Weak<dyn Holder>) -> Self {
        Self { account: Rc::clone(account), holder, bytes: 0, listed: None, settled: false }
    }

    /// Takes `more` bytes, unless more than `bound` would be in use then.
    #[inline]
    pub(crate) fn take(&mut self, more: usize, bound: usize) -> bool {
        let used = self.account.used.get().saturating_add(more);
        if used > bound {
            return false;
        }
        self.account.used.set(used);
        self.bytes += more;
        if self.bytes >= LARGE {
            self.note(more);
        }
        true
    }

    /// Bytes that can be taken.
    pub(crate) fn room(&self, bound: usize) -> usize {
        bound.saturating_sub(self.account.used.get())
    }

    /// Gives so many bytes back.
    pub(crate) fn give(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.account.give(bytes);
        if self.bytes < LARGE {
            self.unlist();
        } else {
            self.note(0);
        }
    }

    /// Counts what is there already, whatever the bound.
    #[inline]
    pub(crate) fn set(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.take(bytes - self.bytes, usize::MAX);
        } else if bytes < self.bytes {
            self.give(self.bytes - bytes);
        }
    }

    /// Notes that something of it found no room under this bound.
    pub(crate) fn press(&self, bound: usize) {
        self.account.press(bound);
    }

    /// Nothing more comes until there is room.
    pub(crate) fn wait(&self) {
        if let Some(large) = self.listed.and_then(|key| self.account.large.borrow().get(key).cloned()) {
            large.waits.set(true);
        }
    }

    /// What it stands for is complete, and the program's now.
    pub(crate) fn settle(&mut self) {
        self.settled = true;
        self.unlist();
    }

    #[cold]
    fn note(&mut self, came: usize) {
        if self.settled {
            return;
        }
        let mut list = self.account.large.borrow_mut();
        let key = *self.listed.get_or_insert_with(|| {
            list.insert(Rc::new(Large {
                holder: Weak::clone(&self.holder),
                bytes: Cell::new(0),
                came: Cell::new(self.bytes - came),
                recent: Cell::new(0),
                waits: Cell::new(false),
            }))
        });
        if let Some(large) = list.get(key) {
            large.bytes.set(self.bytes);
            large.came.set(large.came.get().saturating_add(came));
            large.waits.set(false);
        }
    }

    fn unlist(&mut self) {
        if let Some(key) = self.listed.take() {
            self.account.large.borrow_mut().try_remove(key);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.unlist();
        self.account.give(self.bytes);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A holder that notes that it was told.
    #[derive(Default)]
    pub(crate) struct Ended(Cell<bool>);

    impl Holder for Ended {
        fn give_up(self: Rc<Self>) {
            self.0.set(true);
        }
    }

    pub(crate) fn share(account: &Rc<Account>) -> (Rc<Ended>, Share) {
        let ended = Rc::new(Ended::default());
        let weak: Weak<Ended> = Rc::downgrade(&ended);
        let share = Share::new(account, weak);
        (ended, share)
    }

    #[test]
    fn what_is_taken_is_given_back_however_it_ends() {
        let account = Rc::new(Account::default());
        let (_one, mut a) = share(&account);
        let (_two, mut b) = share(&account);
        assert!(a.take(60, 100) && !b.take(41, 100) && b.take(40, 100));
        assert_eq!((account.used(), a.room(100)), (100, 0));
        b.set(10);
        b.give(1000);
        assert_eq!(account.used(), 60);
        drop(b);
        a.settle();
        drop(a);
        assert_eq!(account.used(), 0);
        assert!(account.large.borrow().is_empty());
    }

    #[test]
    fn who_brings_least_is_ended_and_no_more_than_needed() {
        const BOUND: usize = 40 * LARGE;
        let account = Rc::new(Account::default());
        let mut all: Vec<_> = (0..40).map(|_| share(&account)).collect();
        for (_, share) in &mut all {
            assert!(share.take(LARGE, BOUND));
        }
        account.sweep();
        assert!(all.iter().all(|(ended, _)| !ended.0.get()), "nobody was refused");
        // One goes on; the others drip or wait for room.
        for _ in 0..20 {
            all[7].1.note(10_000);
            all[9].1.wait();
            account.press(BOUND);
            account.sweep();
            let ended: Vec<_> =
                all.iter().enumerate().filter(|(_, (ended, _))| ended.0.get()).map(|(i, _)| i).collect();
            assert!(!ended.contains(&7) && !ended.contains(&9) && ended.len() == 10, "{ended:?}");
        }
    }

    #[test]
    fn what_the_program_has_is_left_to_it() {
        let account = Rc::new(Account::default());
        let (ended, mut share) = share(&account);
        assert!(share.take(LARGE, LARGE));
        share.settle();
        account.press(LARGE);
        account.sweep();
        assert!(!ended.0.get());
    }

    #[test]
    fn memory_is_given_back_after_a_peak_and_not_again() {
        let account = Rc::new(Account::default());
        let (_holder, mut share) = share(&account);
        share.set(MUCH);
        share.set(MUCH - 1);
        account.trim(TRIM_EVERY, false);
        assert_eq!(account.trimmed.get(), 0, "it is still in use");
        share.set(0);
        account.trim(TRIM_EVERY, false);
        assert_eq!((account.trimmed.get(), account.peak.get()), (TRIM_EVERY, 0));
        account.trim(3 * TRIM_EVERY, true);
        assert_eq!(account.trimmed.get(), TRIM_EVERY, "there is nothing to give back");
    }
}
