//! Scripts that give nothing for too long, seen from outside: by the master, which holds for every process when fronts
//! are gone or stuck.

use std::sync::atomic::Ordering::{Acquire, SeqCst};
use std::time::Duration;

use super::state::State;
use super::{Channel, Handover, Kind, Running, now_ms};

/// How much longer one may be silent that a front has: it is the front that ends it, and answers its client.
pub const FRONT_FIRST: Duration = Duration::from_secs(5);

/// What a channel was like when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    state: State,
    request: u32,
    /// Bytes that it has given of its answer.
    given: u64,
}

impl Seen {
    fn of(channel: &Channel) -> Self {
        Self { state: State::of(channel), request: channel.request.load(SeqCst), given: channel.to_front.published() }
    }
}

/// What the master remembers of the channels, and since when each is so, in milliseconds of the monotonic clock.
#[derive(Debug, Default)]
pub struct Watch {
    pub(super) seen: Vec<Option<(Seen, u64)>>,
}

impl Handover {
    /// Processes whose script has given nothing for `limit`, and for [`FRONT_FIRST`] more where a front has them. They
    /// get no further request, and are to be killed. One is told of again until it is dead. In the master.
    pub fn silent(&self, watch: &mut Watch, limit: Duration) -> Vec<Running> {
        let now = now_ms();
        watch.seen.resize(self.channels.len(), None);
        let look = |(channel, seen): (&Channel, &mut Option<(Seen, u64)>)| silent(channel, seen, limit, now);
        self.channels.iter().zip(&mut watch.seen).filter_map(look).collect()
    }
}

fn silent(channel: &Channel, seen: &mut Option<(Seen, u64)>, limit: Duration, now: u64) -> Option<Running> {
    let present = Seen::of(channel);
    let margin = match present.state.kind {
        Kind::Taken => FRONT_FIRST,
        Kind::Abandoned => Duration::ZERO,
        _ => {
            *seen = None;
            return None;
        }
    };
    let began = channel.began.load(Acquire);
    // One that sleeps here waits for its front, or has no request.
    if began == 0 || channel.asleep.load(Acquire) != 0 {
        *seen = None;
        return None;
    }
    let since = match *seen {
        Some((before, since)) if before == present => since,
        Some((before, _)) if before.request == present.request => now,
        _ => began,
    };
    *seen = Some((present, since));
    let millis = now.saturating_sub(since);
    if u128::from(millis) < (limit + margin).as_millis() {
        return None;
    }
    // Whoever sees the process idle from here on sees this, too: if it is still silent now, what dies with it is the
    // script that was silent.
    channel.leave.store(1, SeqCst);
    (Seen::of(channel) == present).then(|| Running { millis, ..channel.running(present.state, now) })
}
