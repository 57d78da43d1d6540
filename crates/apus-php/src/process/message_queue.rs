//! System V message queues: what is behind `Process::useQueue()`, pools of that kind, and `Apus\MessageQueue`.

use std::cell::Cell;
use std::ffi::{CString, c_int};
use std::time::{Duration, Instant};

use apus_coro::Wait;
use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value, engine, native};

use super::core::system_error;
use super::sys::{deadline, errno};
use super::{signals, sys};
use crate::runtime::State;
use crate::system::failure::{set_last_error, strerror};
use crate::wait::{may_wait, time_limit, wait};

/// Nothing announces that a queue has changed: between two looks lies the first pause, later ones are up to the last.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));
/// Bytes of the largest message that is taken when nobody says otherwise.
pub(super) const LARGEST: usize = 65_536;
/// The project number of keys that are made of the script's path.
const PROJECT: c_int = 1;

/// A queue of the system.
pub(super) struct SysQueue {
    pub(super) id: c_int,
    pub(super) key: libc::key_t,
}

/// A message as the kernel wants it: its type, then its bytes.
fn record(kind: i64, bytes: &[u8]) -> Vec<u8> {
    [&(kind as libc::c_long).to_ne_bytes()[..], bytes].concat()
}

/// The key for this script; `IPC_PRIVATE` where it has no path.
pub(super) fn script_key() -> libc::key_t {
    let path = engine::main_script().and_then(|path| CString::new(path).ok());
    // SAFETY: the path ends in NUL.
    let key = path.map_or(-1, |path| unsafe { libc::ftok(path.as_ptr(), PROJECT) });
    if key == -1 { libc::IPC_PRIVATE } else { key }
}

impl SysQueue {
    /// Opens a queue, which is made when there is none.
    pub(super) fn open(key: libc::key_t, permissions: c_int) -> Result<Self, c_int> {
        // SAFETY: takes integers.
        let id = unsafe { libc::msgget(key, libc::IPC_CREAT | permissions) };
        if id < 0 { Err(errno()) } else { Ok(Self { id, key }) }
    }

    /// Puts a message; EAGAIN when there is no room.
    pub(super) fn try_send(&self, kind: i64, bytes: &[u8]) -> Result<(), c_int> {
        let record = record(kind, bytes);
        loop {
            // SAFETY: the record holds the type and so many bytes.
            let sent = unsafe { libc::msgsnd(self.id, record.as_ptr().cast(), bytes.len(), libc::IPC_NOWAIT) };
            match if sent == 0 { 0 } else { errno() } {
                0 => return Ok(()),
                libc::EINTR => {}
                code => return Err(code),
            }
        }
    }

    /// Takes a message of a type (0: any; negative: of the lowest up to that); EAGAIN when there is none.
    pub(super) fn try_take(&self, kind: i64, most: usize) -> Result<Vec<u8>, c_int> {
        const HEAD: usize = size_of::<libc::c_long>();
        let mut record: Vec<u8> = Vec::with_capacity(HEAD + most);
        loop {
            // SAFETY: room for the type and `most` bytes.
            let n = unsafe {
                libc::msgrcv(self.id, record.as_mut_ptr().cast(), most, kind as libc::c_long, libc::IPC_NOWAIT)
            };
            if let Ok(n) = usize::try_from(n) {
                // SAFETY: the kernel wrote the type and `n` bytes.
                unsafe { record.set_len(HEAD + n) };
                return Ok(record.split_off(HEAD));
            }
            match errno() {
                libc::EINTR => {}
                libc::ENOMSG => return Err(libc::EAGAIN),
                code => return Err(code),
            }
        }
    }

    /// The same for any message, blocking; EINTR when a signal came.
    pub(super) fn take_blocking(&self, most: usize) -> Result<Vec<u8>, c_int> {
        const HEAD: usize = size_of::<libc::c_long>();
        let mut record: Vec<u8> = Vec::with_capacity(HEAD + most);
        // SAFETY: room for the type and `most` bytes.
        let n = unsafe { libc::msgrcv(self.id, record.as_mut_ptr().cast(), most, 0, 0) };
        let Ok(n) = usize::try_from(n) else { return Err(errno()) };
        // SAFETY: the kernel wrote the type and `n` bytes.
        unsafe { record.set_len(HEAD + n) };
        Ok(record.split_off(HEAD))
    }

    fn stat(&self) -> Result<libc::msqid_ds, c_int> {
        // SAFETY: plain data that the call fills.
        let mut stat: libc::msqid_ds = unsafe { std::mem::zeroed() };
        // SAFETY: the out pointer is local.
        if unsafe { libc::msgctl(self.id, libc::IPC_STAT, &raw mut stat) } == 0 { Ok(stat) } else { Err(errno()) }
    }

    /// How many messages and bytes it holds, and how many bytes it takes.
    pub(super) fn stats(&self) -> Result<[(&'static [u8], i64); 3], c_int> {
        let stat = self.stat()?;
        Ok([
            (b"queue_num", stat.msg_qnum as i64),
            (b"queue_bytes", stat.__msg_cbytes as i64),
            (b"queue_limit", stat.msg_qbytes as i64),
        ])
    }

    /// How many bytes it takes; more than the system's default only with the rights of root.
    pub(super) fn set_limit(&self, bytes: u64) -> Result<(), c_int> {
        let mut stat = self.stat()?;
        stat.msg_qbytes = bytes as libc::msglen_t;
        // SAFETY: the record is local.
        if unsafe { libc::msgctl(self.id, libc::IPC_SET, &raw mut stat) } == 0 { Ok(()) } else { Err(errno()) }
    }

    /// Removes it from the system; whoever waits for it is told (EIDRM).
    pub(super) fn remove(&self) -> Result<(), c_int> {
        // SAFETY: no record is needed.
        if unsafe { libc::msgctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) } == 0 { Ok(()) } else { Err(errno()) }
    }

    /// Makes `attempt` until it gives something else than EAGAIN, or the time is over (ETIMEDOUT).
    pub(super) fn retry<T>(
        what: &'static str,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Result<T, c_int>,
    ) -> Result<Result<T, c_int>, Raise> {
        let until = deadline(limit);
        let mut pause = PAUSES.0;
        loop {
            match attempt() {
                Err(libc::EAGAIN) => {}
                other => return Ok(other),
            }
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                return Ok(Err(libc::ETIMEDOUT));
            }
            let step = until.map_or(pause, |until| pause.min(until - now));
            pause = (pause * 2).min(PAUSES.1);
            if let Some(state) = State::existing().filter(|state| may_wait(state)) {
                if wait(&state, Wait::Outside(what), state.alarm.sleep(step))?.is_none() {
                    return Ok(Err(libc::ECANCELED));
                }
            } else {
                signals::dispatch()?;
                sys::nap(step)?;
            }
        }
    }
}

/// What a failure of a queue means, in words that help.
pub(super) fn explain(code: c_int, bytes: usize) -> String {
    let limit = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        text.trim().parse().unwrap_or(0_usize)
    };
    match code {
        libc::EINVAL if bytes > limit("msgmax") => {
            format!(
                "the message of {bytes} bytes is longer than the system allows (kernel.msgmax: {})",
                limit("msgmax")
            )
        }
        libc::E2BIG => "the next message is longer than $size bytes; it stays in the queue".to_owned(),
        libc::EIDRM | libc::EINVAL => "the queue was removed".to_owned(),
        libc::ENOSPC => format!("the system has its number of queues already (kernel.msgmni: {})", limit("msgmni")),
        code => strerror(code),
    }
}

/// `$size` of a message that is taken.
pub(super) fn size(call: &Call, index: usize) -> Result<usize, Raise> {
    let size = call.int(index, LARGEST as i64)?;
    match usize::try_from(size) {
        Ok(size @ 1..=0x1000_0000) => Ok(size),
        _ => Err(call.value_error(index, &format!("must be between 1 and 268435456 bytes, {size} given"))),
    }
}

struct MessageQueue {
    queue: SysQueue,
    /// The process that made a queue without a key: with its object the queue goes.
    private_to: Option<u32>,
    removed: Cell<bool>,
}

native!(MessageQueue, "Apus\\MessageQueue");

impl Drop for MessageQueue {
    fn drop(&mut self) {
        if self.private_to == Some(std::process::id()) && !self.removed.get() {
            // Nobody else can have a use for it; it may have been removed by its number.
            let _ = self.queue.remove();
        }
    }
}

const KEY: u32 = 0;
const ID: u32 = 1;
const ERROR: u32 = 2;

fn object(call: &Call) -> Result<Object, Raise> {
    call.object()
}

fn construct(call: &Call) -> Result<(), Raise> {
    let given = call.int(0, 0)?;
    let permissions = call.int(1, 0o600)?;
    let limit = call.int(2, 0)?;
    let Ok(key) = libc::key_t::try_from(given) else {
        return Err(call.value_error(0, &format!("must be a key of 32 bits, {given} given")));
    };
    if !(0..=0o777).contains(&permissions) {
        return Err(call.value_error(1, "must be permissions between 0 and 0777"));
    }
    if limit < 0 {
        return Err(call.value_error(2, &format!("must be 0 or more bytes, {limit} given")));
    }
    let failed = |code| system_error(&format!("no message queue with the key {key}: {}", explain(code, 0)), code);
    let queue = SysQueue::open(key, permissions as c_int).map_err(failed)?;
    if limit > 0
        && let Err(code) = queue.set_limit(limit as u64)
    {
        return Err(system_error(&format!("the message queue cannot take {limit} bytes (see kernel.msgmnb)"), code));
    }
    let private_to = (key == libc::IPC_PRIVATE).then(std::process::id);
    let id = queue.id;
    call.construct(MessageQueue { queue, private_to, removed: Cell::new(false) })?;
    let object = object(call)?;
    object.set_slot(KEY, Value::int(given));
    object.set_slot(ID, Value::int(i64::from(id)));
    Ok(())
}

/// Returns the value, or warns, notes the error and returns false. Time-outs and cancelling are no surprise.
fn give<V: Into<Value>>(call: &Call, what: &str, bytes: usize, result: Result<V, c_int>) -> Result<(), Raise> {
    let code = result.as_ref().err().copied().unwrap_or(0);
    object(call)?.set_slot(ERROR, Value::int(i64::from(code)));
    match result {
        Ok(value) => call.ret(value),
        Err(code) => {
            set_last_error(code);
            if !matches!(code, libc::ETIMEDOUT | libc::ECANCELED) {
                engine::warning(&format!("Apus\\MessageQueue::{what}(): {}", explain(code, bytes)))?;
            }
            call.ret(false)
        }
    }
}

fn push(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(0)?.to_vec();
    let kind = call.int(1, 1)?;
    if kind < 1 {
        return Err(call.value_error(1, &format!("must be 1 or more, {kind} given")));
    }
    let limit = time_limit(call, 2, -1.0)?;
    let queue = &call.this::<MessageQueue>()?.queue;
    let sent = SysQueue::retry("MessageQueue::push()", limit, || queue.try_send(kind, &bytes))?;
    give(call, "push", bytes.len(), sent.map(|()| true))
}

fn pop(call: &Call) -> Result<(), Raise> {
    let limit = time_limit(call, 0, -1.0)?;
    let kind = call.int(1, 0)?;
    let most = size(call, 2)?;
    let queue = &call.this::<MessageQueue>()?.queue;
    let taken = SysQueue::retry("MessageQueue::pop()", limit, || queue.try_take(kind, most))?;
    let value = match taken {
        Ok(bytes) => Ok(Value::string(&bytes)?),
        Err(code) => Err(code),
    };
    give(call, "pop", 0, value)
}

/// An array of a queue's numbers.
pub(super) fn stats_array(queue: &SysQueue) -> Result<Result<Array, c_int>, Raise> {
    let stats = match queue.stats() {
        Ok(stats) => stats,
        Err(code) => return Ok(Err(code)),
    };
    let mut array = Array::new(stats.len())?;
    for (name, number) in stats {
        array.set_int(name, number)?;
    }
    Ok(Ok(array))
}

fn stats(call: &Call) -> Result<(), Raise> {
    let stats = stats_array(&call.this::<MessageQueue>()?.queue)?;
    give(call, "stats", 0, stats)
}

fn destroy(call: &Call) -> Result<(), Raise> {
    let queue = call.this::<MessageQueue>()?;
    let removed = queue.queue.remove();
    queue.removed.set(true);
    give(call, "destroy", 0, removed.map(|()| true))
}

apus_zend::stub!("process/message_queue");
