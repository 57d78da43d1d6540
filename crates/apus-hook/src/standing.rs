//! What is known of a descriptor that stays registered, so that a query and its answer need no call that registers.
//!
//! A stream that was found to have nothing more (a read that got less than it had room for, or EAGAIN) says by an edge
//! when something has come. While it stays armed for edges, whoever waits for it arms nothing, and asks it nothing
//! before it waits. Whatever is not certain is asked and armed as ever: an edge that nobody waited for, the end of the
//! stream (which may have come before the last read), another event than what it is armed for, a read that filled its
//! buffer.

/// What the other side's end, or a failure, comes with.
const OVER: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;

/// Whether somebody waits for something to read, and for nothing else that has to be asked for.
pub(super) fn reads(events: u32) -> bool {
    // These are told in any case.
    events & !((libc::EPOLLERR | libc::EPOLLHUP) as u32) == libc::EPOLLIN as u32
}

/// One descriptor. MUST be made anew when its number stands for another file.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Whether it is armed, for something to read, by edges.
    armed: bool,
    /// It is a stream, where that is known.
    stream: Option<bool>,
    /// It was found to have nothing to read, and nothing has happened since.
    empty: bool,
    /// Its end has been told: there is something to read for ever.
    over: bool,
    /// Edges that nobody waited for, since the last one that somebody did.
    unheard: u8,
}

impl Standing {
    /// Whether it is known to have nothing to read.
    pub(super) fn is_empty(&self) -> bool {
        self.empty && !self.over
    }

    /// Whether it will tell of these events without being armed anew.
    pub(super) fn is_armed(&self, events: u32) -> bool {
        self.armed && self.is_empty() && reads(events)
    }

    /// Whether it is armed for edges.
    pub(super) fn stays(&self) -> bool {
        self.armed
    }

    /// There is nothing more to read.
    pub(super) fn emptied(&mut self, is_stream: impl FnOnce() -> bool) {
        if *self.stream.get_or_insert_with(is_stream) {
            self.empty = true;
        }
    }

    /// It is armed for these events; how. The kernel looks at what is there already.
    pub(super) fn arm(&mut self, events: u32) -> u32 {
        self.armed = self.is_empty() && reads(events);
        if self.armed { (libc::EPOLLET | libc::EPOLLRDHUP) as u32 } else { libc::EPOLLONESHOT as u32 }
    }

    /// It has told of this; `heard`: somebody waited for it. How many edges in a row nobody has waited for.
    pub(super) fn happened(&mut self, happened: u32, heard: bool) -> u8 {
        self.empty = false;
        self.over |= happened & OVER != 0;
        self.unheard = if heard || !self.armed { 0 } else { self.unheard.saturating_add(1) };
        self.unheard
    }

    /// It tells of nothing until it is armed again.
    pub(super) fn disarmed(&mut self) {
        (self.armed, self.unheard) = (false, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN: u32 = libc::EPOLLIN as u32;
    const OUT: u32 = libc::EPOLLOUT as u32;
    const ONCE: u32 = libc::EPOLLONESHOT as u32;
    const EDGES: u32 = (libc::EPOLLET | libc::EPOLLRDHUP) as u32;

    fn armed() -> Standing {
        let mut standing = Standing::default();
        assert_eq!(standing.arm(IN), ONCE);
        standing.happened(IN, true);
        standing.emptied(|| true);
        assert_eq!(standing.arm(IN), EDGES);
        standing
    }

    #[test]
    fn a_question_and_its_answer_arm_nothing() {
        let mut standing = armed();
        for _ in 0..3 {
            assert!(standing.is_armed(IN) && standing.is_empty() && standing.stays());
            standing.happened(IN, true);
            assert!(!standing.is_armed(IN) && !standing.is_empty());
            standing.emptied(|| panic!("it is known"));
        }
        assert!(standing.is_armed(IN | (libc::EPOLLERR | libc::EPOLLHUP) as u32));
        assert!(!standing.is_armed(OUT) && !standing.is_armed(IN | OUT));
        assert_eq!(standing.arm(OUT), ONCE);
        assert!(!standing.is_armed(IN) && !standing.stays());
    }

    #[test]
    fn what_is_not_certain_is_asked_and_armed() {
        let mut datagrams = Standing::default();
        datagrams.emptied(|| false);
        assert!(!datagrams.is_empty() && datagrams.arm(IN) == ONCE);
        // A read that filled its buffer says nothing.
        let mut filled = armed();
        filled.happened(IN, true);
        assert!(!filled.is_armed(IN) && filled.arm(IN) == ONCE);
        let mut missed = armed();
        missed.happened(IN, false);
        assert!(!missed.is_armed(IN) && !missed.is_empty());
        missed.emptied(|| true);
        assert!(missed.is_armed(IN));
        let mut over = armed();
        over.happened(IN | libc::EPOLLRDHUP as u32, true);
        over.emptied(|| true);
        assert!(!over.is_armed(IN) && !over.is_empty() && over.arm(IN) == ONCE);
    }

    #[test]
    fn edges_that_nobody_waits_for_are_counted_while_it_is_armed() {
        let mut standing = armed();
        assert_eq!([(); 3].map(|()| standing.happened(IN, false)), [1, 2, 3]);
        assert_eq!(standing.happened(IN, true), 0);
        standing.disarmed();
        assert_eq!((standing.happened(IN, false), standing.stays()), (0, false));
    }
}
