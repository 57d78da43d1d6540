//! Frames about the connection: settings, pings, priorities, its end.

use apus_proto::http2::frame::Settings;
use apus_proto::http2::{ErrorCode, Frame, FrameError, MAX_WINDOW, Priority, Setting, write};

use super::session::{Closed, Session};
use super::stream::{Answer, Stream};

/// Priorities kept of streams that have not begun.
const MAX_EARLY: usize = 16;

/// What the ping says that finds out when the peer has seen the first GOAWAY.
const DRAIN_PING: [u8; 8] = *b"draining";

/// Milliseconds that the peer has for that.
const DRAIN_TIME: u64 = 1000;

/// Bytes of a text in GOAWAY.
const MAX_TEXT: usize = 1024;

/// Whether the connection comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Going {
    No,
    /// The peer was told to begin no more streams; those that it begins before it knows are welcome. Since when.
    Announced(u64),
    /// No stream beyond this one.
    Final(u32),
}

impl Session {
    /// A frame that is of no use to anybody.
    pub(super) fn spend_control(&mut self, count: u32, now: u64) -> Result<(), FrameError> {
        if self.control.spend(count, now) {
            return Ok(());
        }
        Err(FrameError::connection(ErrorCode::ENHANCE_YOUR_CALM, "too many control frames"))
    }

    pub(super) fn take_control(&mut self, frame: Frame<'_>, now: u64) -> Result<(), FrameError> {
        let cost = if let Frame::Settings(settings) = frame { 1 + settings.count() as u32 / 8 } else { 1 };
        self.spend_control(cost, now)?;
        match frame {
            Frame::Settings(settings) => {
                self.take_settings(settings)?;
                self.greeted = true;
                write::settings_ack(&mut self.out);
                Ok(())
            }
            Frame::SettingsAck => self.take_settings_ack(),
            Frame::Ping { ack: false, data } => {
                write::ping(true, data, &mut self.out);
                Ok(())
            }
            Frame::Ping { data, .. } => {
                if data == DRAIN_PING && matches!(self.going, Going::Announced(_)) {
                    self.go();
                }
                Ok(())
            }
            Frame::Priority { stream, depends_on } if stream == depends_on => {
                Err(FrameError::stream(stream, ErrorCode::PROTOCOL_ERROR, "a stream that depends on itself"))
            }
            Frame::PriorityUpdate { stream, value } => self.take_priority(stream, Priority::parse(value)),
            _ => Ok(()),
        }
    }

    pub(super) fn take_settings(&mut self, settings: Settings<'_>) -> Result<(), FrameError> {
        let mut window = self.peer.window;
        for setting in settings.iter() {
            match setting? {
                Setting::HeaderTableSize(size) => self.encoder.set_limit(size as usize),
                Setting::InitialWindowSize(size) => window = size,
                Setting::MaxFrameSize(size) => self.peer.max_frame = size as usize,
                _ => {}
            }
        }
        let change = i64::from(window) - i64::from(std::mem::replace(&mut self.peer.window, window));
        if change == 0 {
            return Ok(());
        }
        for stream in self.streams.iter_mut().filter(|stream| stream.is_open()) {
            stream.send_window += change;
            if stream.send_window > MAX_WINDOW.into() {
                return Err(FrameError::connection(ErrorCode::FLOW_CONTROL_ERROR, "window too large"));
            }
            schedule(&mut self.schedule, stream);
        }
        Ok(())
    }

    /// The peer knows our settings: what it may no longer do is refused from now on.
    fn take_settings_ack(&mut self) -> Result<(), FrameError> {
        if self.settings_due.take().is_none() && self.limits.settings_timeout > 0 {
            return Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "acknowledgement of no SETTINGS"));
        }
        self.heads.blocks().set_limit(self.limits.decoder_table);
        let change = i64::from(self.limits.stream_window) - i64::from(self.first_window);
        self.first_window = self.limits.stream_window;
        for stream in self.streams.iter_mut() {
            stream.receive_window += change;
        }
        Ok(())
    }

    fn take_priority(&mut self, id: u32, priority: Priority) -> Result<(), FrameError> {
        if id.is_multiple_of(2) {
            return Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "PRIORITY_UPDATE of no request"));
        }
        if let Some(stream) = self.streams.get_mut(id) {
            stream.priority = priority;
            if std::mem::take(&mut stream.scheduled) {
                self.schedule.remove(id);
                schedule(&mut self.schedule, stream);
            }
        } else if id > self.highest {
            self.early.retain(|(stream, _)| *stream != id);
            if self.early.len() < MAX_EARLY {
                self.early.push((id, priority));
            }
        }
        Ok(())
    }

    pub(super) fn take_window(&mut self, id: u32, increment: u32) -> Result<(), FrameError> {
        let increment = i64::from(increment);
        if id == 0 {
            self.send_window += increment;
            if self.send_window > MAX_WINDOW.into() {
                return Err(FrameError::connection(ErrorCode::FLOW_CONTROL_ERROR, "window too large"));
            }
            return Ok(());
        }
        if self.is_idle(id) {
            return Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "WINDOW_UPDATE before a stream begins"));
        }
        let Some(stream) = self.streams.get_mut(id).filter(|stream| stream.is_open()) else { return Ok(()) };
        stream.send_window += increment;
        if stream.send_window > MAX_WINDOW.into() {
            return Err(FrameError::stream(id, ErrorCode::FLOW_CONTROL_ERROR, "window too large"));
        }
        schedule(&mut self.schedule, stream);
        Ok(())
    }

    /// Begins a graceful end: streams that are there are answered, and those that the peer begins before it knows.
    pub fn drain(&mut self, now: u64) {
        if self.going == Going::No && self.closed.is_none() {
            self.going = Going::Announced(now);
            write::go_away(MAX_WINDOW, ErrorCode::NO_ERROR, b"", &mut self.out);
            write::ping(false, DRAIN_PING, &mut self.out);
        }
    }

    /// The second half of it: streams beyond the highest are refused, and may be sent to somebody else.
    fn go(&mut self) {
        self.going = Going::Final(self.highest);
        write::go_away(self.highest, ErrorCode::NO_ERROR, b"", &mut self.out);
    }

    /// Tells the peer to begin no more streams, with a code and a text that it may log. What has begun is answered.
    pub fn go_away(&mut self, code: ErrorCode, text: &[u8]) {
        if self.closed.is_none() && !matches!(self.going, Going::Final(_)) {
            self.going = Going::Final(self.highest);
            write::go_away(self.highest, code, &text[..text.len().min(MAX_TEXT)], &mut self.out);
        }
    }

    /// Asks the peer for a sign of life, which keeps what stands between from taking the connection for dead.
    pub fn ping(&mut self) {
        if self.closed.is_none() {
            write::ping(false, *b"any news", &mut self.out);
        }
    }

    pub(super) fn is_beyond(&self, stream: u32) -> bool {
        matches!(self.going, Going::Final(last) if stream > last)
    }

    /// Whether nothing is left to do on the connection but to close it.
    pub fn is_over(&self) -> bool {
        let done = self.closed.is_some() || (matches!(self.going, Going::Final(_)) && self.streams.open == 0);
        done && self.out.is_empty()
    }

    /// Whether no request is open: what a limit for idle connections asks.
    pub fn is_quiet(&self) -> bool {
        self.streams.open == 0 && self.block.is_none() && self.out.is_empty()
    }

    /// Whether [`check`](Self::check) has anything to look at.
    pub fn has_deadlines(&self) -> bool {
        !self.is_quiet() || self.going != Going::No || self.settings_due.is_some()
    }

    /// Streams that are open.
    pub fn open_streams(&self) -> u32 {
        self.streams.open
    }

    /// Streams that are open or handled.
    pub fn running_streams(&self) -> usize {
        self.streams.len()
    }

    /// Looks at the limits of time. `reset` is told of each stream that was broken off for it.
    pub fn check(&mut self, now: u64, mut reset: impl FnMut(u32)) -> Result<(), Closed> {
        if let Some(closed) = self.closed {
            return Err(closed);
        }
        let limits = self.limits;
        let late = |since: u64, most: u64| most > 0 && now.saturating_sub(since) >= most;
        if self.settings_due.is_some_and(|due| now >= due) {
            return Err(self.close(FrameError::connection(ErrorCode::SETTINGS_TIMEOUT, "settings not acknowledged")));
        }
        if self.block.as_ref().is_some_and(|block| late(block.since, limits.header_timeout)) {
            return Err(self.close(FrameError::connection(ErrorCode::ENHANCE_YOUR_CALM, "head too slow")));
        }
        if let Going::Announced(since) = self.going
            && late(since, DRAIN_TIME)
        {
            self.go();
        }
        self.end_lingering();
        let mut stalled = Vec::new();
        for stream in self.streams.iter_mut().filter(|stream| stream.queued > 0 && stream.send_window <= 0) {
            if late(*stream.stalled.get_or_insert(now), limits.send_timeout) {
                stalled.push(stream.id);
            }
        }
        if !stalled.is_empty() {
            // What kept the rest waiting is gone.
            self.waiting = None;
        }
        for stream in stalled {
            if self.break_off(stream, ErrorCode::CANCEL) {
                reset(stream);
            }
        }
        self.check_rate(now)
    }

    /// Breaks off streams that were answered, and whose bodies nobody has wanted since the last time.
    fn end_lingering(&mut self) {
        let mut over = Vec::new();
        let unwanted = |stream: &&mut Stream| !stream.handled && stream.answer == Answer::Sent && stream.is_open();
        for stream in self.streams.iter_mut().filter(unwanted) {
            if std::mem::replace(&mut stream.lingers, true) {
                over.push(stream.id);
            }
        }
        for stream in over {
            self.break_off(stream, ErrorCode::NO_ERROR);
        }
    }

    /// As long as output waits, the peer has to take some of it in each window of time.
    fn check_rate(&mut self, now: u64) -> Result<(), Closed> {
        if self.queued == 0 && self.out.is_empty() {
            self.waiting = None;
            return Ok(());
        }
        let (since, sent) = *self.waiting.get_or_insert((now, 0));
        let passed = now.saturating_sub(since);
        if self.limits.send_timeout == 0 || passed < self.limits.send_timeout {
            return Ok(());
        }
        let due = (self.limits.min_rate.saturating_mul(passed) / 1000).max(1);
        if sent < due {
            let slow = FrameError::connection(ErrorCode::ENHANCE_YOUR_CALM, "output is not taken");
            return Err(self.close(slow));
        }
        self.waiting = Some((now, 0));
        Ok(())
    }
}

/// Puts a stream into the schedule that has something to send and may.
pub(super) fn schedule(schedule: &mut crate::mux::Schedule, stream: &mut Stream) {
    if stream.send_window > 0 {
        stream.stalled = None;
        if stream.queued > 0 && !stream.scheduled {
            stream.scheduled = true;
            schedule.add(stream.id, stream.priority);
        }
    }
}
