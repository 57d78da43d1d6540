//! A short look at what another process is about to do, before it is waited for.
//!
//! To sleep and to be woken takes tens of microseconds, a small task of another process a few. So who has given one
//! away looks a little longer at the memory that they share, while that mostly brings something. It is for what has
//! nothing else to do: the thread's other work waits meanwhile.

use std::cell::Cell;
use std::hint::spin_loop;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use crate::heat::Heat;

/// How long a look is: somewhat more than it takes to wake a process of a virtual machine, which then answers.
const LOOK: Duration = Duration::from_micros(30);
/// Looks between two at the clock.
const EACH: usize = 32;
/// While looks are in vain, one of so many waits begins with one.
const RARE: u8 = 64;
/// So many successful looks follow each other before the thread's other work has its turn.
const STREAK: u8 = 64;

/// See the module.
#[derive(Debug)]
pub struct Soon {
    heat: Heat,
    streak: Cell<u8>,
    /// The other process can run meanwhile.
    cores: bool,
}

impl Default for Soon {
    fn default() -> Self {
        let cores = available_parallelism().is_ok_and(|cores| cores.get() > 1);
        Self { heat: Heat::new(RARE), streak: Cell::new(0), cores }
    }
}

impl Soon {
    /// Whether it came. It may have, and is to be waited for, where this is false.
    pub fn comes(&self, came: impl Fn() -> bool) -> bool {
        if !self.cores {
            return false;
        }
        let streak = self.streak.get();
        if streak >= STREAK || !self.heat.is_hot() {
            self.streak.set(0);
            return false;
        }
        let found = look(came);
        self.heat.brought(found);
        self.streak.set(if found { streak + 1 } else { 0 });
        found
    }
}

fn look(came: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    loop {
        for _ in 0..EACH {
            if came() {
                return true;
            }
            spin_loop();
        }
        if since.elapsed() >= LOOK {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cores(cores: bool) -> Soon {
        Soon { cores, ..Soon::default() }
    }

    #[test]
    fn what_is_there_is_seen_and_others_have_their_turn() {
        let soon = with_cores(true);
        let seen: Vec<bool> = (0..200).map(|_| soon.comes(|| true)).collect();
        assert!(seen[..64].iter().all(|seen| *seen));
        assert_eq!(seen.iter().filter(|seen| !**seen).count(), 3, "one in 65");
    }

    #[test]
    fn what_does_not_come_is_hardly_looked_for() {
        let soon = with_cores(true);
        let looks = Cell::new(0);
        for _ in 0..640 {
            let look = Cell::new(false);
            assert!(!soon.comes(|| {
                look.set(true);
                false
            }));
            looks.set(looks.get() + u32::from(look.get()));
        }
        assert!((9..=12).contains(&looks.get()), "{}", looks.get());
    }

    #[test]
    fn a_single_core_is_left_to_the_other_process() {
        let soon = with_cores(false);
        assert!(!soon.comes(|| panic!("it must not look")));
    }
}
