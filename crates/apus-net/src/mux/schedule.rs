//! Whose data goes next (RFC 9218 section 10).

use std::collections::VecDeque;

use apus_proto::http2::Priority;

/// Streams that have something to send and may. The most urgent go first. Among those of an urgency the ones that are
/// of no use in part go one after the other, oldest first; all of them together take turns with each of the others.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Sorted by urgency; few are used.
    levels: Vec<Level>,
}

#[derive(Debug, Default)]
struct Level {
    urgency: u8,
    /// Sorted.
    serial: VecDeque<u32>,
    shared: VecDeque<u32>,
    /// The next turn is that of the others.
    turn_of_shared: bool,
}

impl Level {
    fn is_empty(&self) -> bool {
        self.serial.is_empty() && self.shared.is_empty()
    }
}

impl Schedule {
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.iter().all(Level::is_empty)
    }

    /// Adds a stream, which must not be there yet.
    pub(crate) fn add(&mut self, stream: u32, priority: Priority) {
        let urgency = priority.urgency.min(7);
        let at = self.levels.partition_point(|level| level.urgency < urgency);
        if self.levels.get(at).is_none_or(|level| level.urgency != urgency) {
            self.levels.insert(at, Level { urgency, ..Level::default() });
        }
        let level = &mut self.levels[at];
        if priority.incremental {
            level.shared.push_back(stream);
        } else {
            let at = level.serial.partition_point(|&other| other < stream);
            level.serial.insert(at, stream);
        }
    }

    pub(crate) fn remove(&mut self, stream: u32) {
        for level in &mut self.levels {
            level.serial.retain(|&other| other != stream);
            level.shared.retain(|&other| other != stream);
        }
    }

    /// Takes out the stream whose turn it is; it is added again if it has more.
    pub(crate) fn next(&mut self) -> Option<u32> {
        let level = self.levels.iter_mut().find(|level| !level.is_empty())?;
        let shared = if level.turn_of_shared { !level.shared.is_empty() } else { level.serial.is_empty() };
        level.turn_of_shared = !shared;
        if shared { level.shared.pop_front() } else { level.serial.pop_front() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Priority, Schedule};

    fn order(streams: &[(u32, u8, bool)], turns: usize) -> Vec<u32> {
        let priority = |stream| {
            let (_, urgency, incremental) = *streams.iter().find(|(id, ..)| *id == stream).unwrap_or(&(0, 3, true));
            Priority { urgency, incremental }
        };
        let mut schedule = Schedule::default();
        for (stream, ..) in streams {
            schedule.add(*stream, priority(*stream));
        }
        let mut order = Vec::new();
        while order.len() < turns {
            let Some(stream) = schedule.next() else { break };
            order.push(stream);
            schedule.add(stream, priority(stream));
        }
        order
    }

    #[test]
    fn the_most_urgent_go_first() {
        assert_eq!(order(&[(1, 3, true), (3, 0, false), (5, 7, true)], 3), [3, 3, 3]);
    }

    #[test]
    fn serial_streams_go_one_after_the_other() {
        assert_eq!(order(&[(5, 3, false), (1, 3, false), (3, 3, false)], 3), [1, 1, 1]);
    }

    #[test]
    fn shared_streams_take_turns() {
        assert_eq!(order(&[(1, 3, true), (3, 3, true), (5, 3, true)], 6), [1, 3, 5, 1, 3, 5]);
    }

    #[test]
    fn neither_kind_starves_the_other() {
        assert_eq!(order(&[(1, 3, false), (3, 3, false), (5, 3, true), (7, 3, true)], 6), [1, 5, 1, 7, 1, 5]);
    }

    #[test]
    fn what_is_removed_has_no_turn() {
        let mut schedule = Schedule::default();
        schedule.add(1, Priority::default());
        schedule.add(3, Priority { urgency: 1, incremental: true });
        schedule.remove(3);
        assert_eq!((schedule.next(), schedule.next()), (Some(1), None));
        assert!(schedule.is_empty());
    }
}
