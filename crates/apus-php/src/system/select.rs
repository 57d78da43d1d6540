//! `swoole_client_select()`: waiting for any of many descriptors.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::time::Duration;

use apus_zend::arg::Variable;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value, descriptor, engine};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::failure::waited;
use crate::descriptor::Number;
use crate::hook::Reactor;
use crate::last_error;
use crate::runtime::State;
use crate::wait::{Deadline, Timeout, may_wait};

/// What each of the three arrays waits for.
const SETS: [PollFlags; 3] = [PollFlags::IN, PollFlags::OUT, PollFlags::PRI];
/// What else makes a descriptor ready: using it tells what is wrong.
const BROKEN: PollFlags = PollFlags::ERR.union(PollFlags::HUP);

/// A value of one of the arrays.
struct Entry {
    set: usize,
    key: OwnedKey,
    value: Value,
    fd: RawFd,
    /// PHP has read ahead: there is something to read, whatever the kernel says.
    ahead: bool,
}

enum OwnedKey {
    Name(Vec<u8>),
    Number(u64),
}

impl Entry {
    fn is_ready(&self, found: &[(RawFd, PollFlags)]) -> bool {
        let happened =
            found.iter().find(|(fd, _)| *fd == self.fd).map_or(PollFlags::empty(), |(_, happened)| *happened);
        let broken = if self.set == 2 { PollFlags::ERR } else { BROKEN };
        self.ahead || happened.intersects(SETS[self.set] | broken)
    }
}

/// The descriptors of an array; what has none is left out, with a warning.
fn collect(set: usize, given: View<'_>, into: &mut Vec<Entry>) -> Result<(), Raise> {
    let View::Array(values) = given else { return Ok(()) };
    for (key, value) in values.iter() {
        let value = value.value();
        let Some(fd) = descriptor::of(&value)? else {
            engine::warning("swoole_client_select(): what is closed, or has no descriptor, is left out")?;
            continue;
        };
        let key = match key {
            Key::Str(name) => OwnedKey::Name(name.to_vec()),
            Key::Index(number) => OwnedKey::Number(number),
        };
        let ahead = set == 0 && descriptor::buffered(&value) > 0;
        into.push(Entry { set, key, value, fd, ahead });
    }
    Ok(())
}

/// Each descriptor once, with all that is waited for.
fn merged(entries: &[Entry]) -> Vec<(RawFd, PollFlags)> {
    let mut merged: Vec<(RawFd, PollFlags)> = Vec::with_capacity(entries.len());
    let mut sorted: Vec<(RawFd, PollFlags)> = entries.iter().map(|entry| (entry.fd, SETS[entry.set])).collect();
    sorted.sort_unstable_by_key(|(fd, _)| *fd);
    for (fd, flags) in sorted {
        match merged.last_mut() {
            Some((last, all)) if *last == fd => *all |= flags,
            _ => merged.push((fd, flags)),
        }
    }
    merged
}

/// What has happened to them; waits in the system for `limit`, with none for ever.
fn look(watched: &[(RawFd, PollFlags)], limit: Option<Duration>) -> Result<Vec<(RawFd, PollFlags)>, c_int> {
    let numbers: Vec<Number> = watched.iter().map(|(fd, _)| Number(*fd)).collect();
    let deadline = Deadline::after(limit);
    loop {
        let mut asked: Vec<PollFd<'_>> =
            numbers.iter().zip(watched).map(|(number, (_, flags))| PollFd::new(number, *flags)).collect();
        let left = deadline.left().map(|left| Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(&mut asked, left.as_ref()) {
            Ok(_) => {
                let happened = asked.iter().zip(watched).map(|(asked, (fd, _))| (*fd, asked.revents()));
                return Ok(happened.filter(|(_, happened)| !happened.is_empty()).collect());
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.raw_os_error()),
        }
    }
}

/// The same in a coroutine: the others go on.
fn wait_for(
    state: &State,
    watched: &[(RawFd, PollFlags)],
    limit: Option<Duration>,
) -> Result<Result<Vec<(RawFd, PollFlags)>, c_int>, Raise> {
    let cid = state.engine.current_id();
    let reactor = state.room::<Reactor>();
    let wanted: Vec<(RawFd, u32)> = watched.iter().map(|(fd, flags)| (*fd, flags.bits() as u32)).collect();
    let job = async {
        loop {
            let found = look(watched, Some(Duration::ZERO))?;
            if !found.is_empty() {
                return Ok(found);
            }
            // Whatever woke us, the descriptors themselves are asked again.
            let _ = reactor.ready(cid, &wanted).await;
        }
    };
    waited(state, "swoole_client_select()", limit, job)
}

/// What is left of an array.
fn ready_of(set: usize, entries: &[Entry], found: &[(RawFd, PollFlags)]) -> Result<Array, Raise> {
    let mut left = Array::new(4)?;
    for entry in entries.iter().filter(|entry| entry.set == set && entry.is_ready(found)) {
        match &entry.key {
            OwnedKey::Name(name) => left.set(name, entry.value.share())?,
            OwnedKey::Number(number) => left.set_index(*number, entry.value.share())?,
        }
    }
    Ok(left)
}

/// What has happened within the time to what is waited for; nothing in a failure that is noted.
fn happened(entries: &[Entry], timeout: Timeout) -> Result<Option<Vec<(RawFd, PollFlags)>>, Raise> {
    let ahead = entries.iter().any(|entry| entry.ahead);
    let limit = if ahead { Some(Duration::ZERO) } else { timeout.limit() };
    let watched = merged(entries);
    let state = State::existing().filter(|state| may_wait(state));
    let found = match &state {
        Some(state) => wait_for(state, &watched, limit)?,
        None => look(&watched, limit),
    };
    Ok(match found {
        Ok(found) => Some(found),
        Err(libc::ETIMEDOUT) => Some(Vec::new()),
        Err(code) => {
            last_error::fail(code.into());
            None
        }
    })
}

/// `swoole_client_select()`.
pub(crate) fn client_select(call: &Call) -> Result<(), Raise> {
    let sets = [0, 1, 2].map(|index| Variable::new(call, index));
    let timeout = match call.view(3) {
        View::Null if call.count() > 3 => Timeout::NEVER,
        _ => Timeout::of(call, 3, 0.5)?,
    };
    let mut entries = Vec::new();
    for (set, variable) in sets.iter().enumerate() {
        collect(set, variable.view(), &mut entries)?;
    }
    if entries.is_empty() {
        engine::warning("swoole_client_select() has nothing to wait for")?;
        return call.ret(false);
    }
    let Some(found) = happened(&entries, timeout)? else { return call.ret(false) };
    for (set, variable) in sets.into_iter().enumerate() {
        if matches!(variable.view(), View::Array(_)) {
            variable.assign(ready_of(set, &entries, &found)?.into())?;
        }
    }
    let mut ready: Vec<RawFd> = entries.iter().filter(|entry| entry.is_ready(&found)).map(|entry| entry.fd).collect();
    ready.sort_unstable();
    ready.dedup();
    call.ret(ready.len() as i64)
}
