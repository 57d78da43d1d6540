//! The word that says whose a channel is.

use std::sync::atomic::Ordering::SeqCst;

use super::Channel;

/// What a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Nobody has it.
    Absent = 0,
    /// A process has it that does not take requests yet.
    Starting = 1,
    /// Its process waits for a front.
    Idle = 2,
    /// A front has its process.
    Taken = 3,
    /// Its process died while a front had it, which has not seen that yet.
    Dead = 4,
    /// Its front died while it had the process, which has not finished yet.
    Abandoned = 5,
}

impl Kind {
    fn of(number: u8) -> Self {
        match number {
            1 => Self::Starting,
            2 => Self::Idle,
            3 => Self::Taken,
            4 => Self::Dead,
            5 => Self::Abandoned,
            _ => Self::Absent,
        }
    }
}

/// A channel's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) kind: Kind,
    /// The slot of its process.
    pub(super) process: u16,
    /// The seat of the front that has it.
    pub(super) front: u16,
    /// Counts its processes, so that what one front saw of an earlier one is never taken for the present.
    pub(super) life: u16,
}

impl State {
    pub(super) fn of(channel: &Channel) -> Self {
        let [kind, _, p0, p1, f0, f1, l0, l1] = channel.state.load(SeqCst).to_le_bytes();
        Self {
            kind: Kind::of(kind),
            process: u16::from_le_bytes([p0, p1]),
            front: u16::from_le_bytes([f0, f1]),
            life: u16::from_le_bytes([l0, l1]),
        }
    }

    fn word(self) -> u64 {
        let ([p0, p1], [f0, f1], [l0, l1]) =
            (self.process.to_le_bytes(), self.front.to_le_bytes(), self.life.to_le_bytes());
        u64::from_le_bytes([self.kind as u8, 0, p0, p1, f0, f1, l0, l1])
    }

    /// Puts another state in place of this one; false when it is not this one any more.
    #[must_use]
    pub(super) fn replace(self, channel: &Channel, next: Self) -> bool {
        channel.state.compare_exchange(self.word(), next.word(), SeqCst, SeqCst).is_ok()
    }

    /// Whether a process has the channel.
    pub(super) fn has_process(self) -> bool {
        !matches!(self.kind, Kind::Absent | Kind::Dead)
    }
}
