//! System V message queues: what is behind `Process::useQueue()`, pools of that kind, and `Apus\MessageQueue`.

use std::cell::Cell;
use std::ffi::{CString, c_int};
use std::time::{Duration, Instant};

use apus_shm::ForkEpoch;
use apus_zend::arg::{Given, Made, Me, Want};
use apus_zend::{Array, Raise, Value, engine, native};

use super::core::system_error;
use super::sys::{deadline, errno};
use super::{signals, sys};
use crate::system::failure::{Noted, strerror};
use crate::wait::{Timeout, wait_either};

/// Nothing announces that a queue has changed: between two looks lies the first pause, later ones are up to the last.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));
/// Bytes of the largest message that is taken when nobody says otherwise.
pub(super) const LARGEST: usize = 65_536;
/// The project number of keys that are made of the script's path.
const PROJECT: c_int = 1;

/// A queue of the system.
#[derive(Clone, Copy)]
pub(super) struct SysQueue {
    pub(super) id: c_int,
    pub(super) key: libc::key_t,
}

/// A queue that this process takes from, for the server.
pub(crate) struct Inbox(SysQueue);

impl Inbox {
    /// The queue under a key, or under that of the script for 0; made when there is none, for this user alone.
    pub(crate) fn open(key: i64) -> Result<Self, String> {
        let key = libc::key_t::try_from(key).map_err(|_| format!("{key} is no key"))?;
        let key = if key == 0 { script_key() } else { key };
        SysQueue::open(key, 0o600).map(Self).map_err(|code| explain(code, 0))
    }

    /// The next message, and its type; `None`: there is none now.
    pub(crate) fn take(&self) -> Result<Option<(i64, Vec<u8>)>, String> {
        loop {
            match self.0.take(0, LARGEST, libc::IPC_NOWAIT) {
                Ok(taken) => return Ok(Some(taken)),
                Err(libc::EINTR) => {}
                Err(libc::ENOMSG) => return Ok(None),
                Err(code) => return Err(explain(code, LARGEST)),
            }
        }
    }
}

/// A message as the kernel wants it: its type, then its bytes.
fn record(kind: i64, bytes: &[u8]) -> Vec<u8> {
    [&(kind as libc::c_long).to_ne_bytes()[..], bytes].concat()
}

/// The key for this script; `IPC_PRIVATE` where it has no path.
fn script_key() -> libc::key_t {
    let path = engine::main_script().and_then(|path| CString::new(path).ok());
    // SAFETY: the path ends in NUL.
    let key = path.map_or(-1, |path| unsafe { libc::ftok(path.as_ptr(), PROJECT) });
    if key == -1 { libc::IPC_PRIVATE } else { key }
}

fn empty() -> libc::msqid_ds {
    // SAFETY: all zeroes are a valid value of this plain record.
    unsafe { std::mem::zeroed() }
}

impl SysQueue {
    /// Opens a queue, which is made when there is none.
    pub(super) fn open(key: libc::key_t, permissions: c_int) -> Result<Self, c_int> {
        // SAFETY: takes integers.
        let id = unsafe { libc::msgget(key, libc::IPC_CREAT | permissions) };
        if id < 0 { Err(errno()) } else { Ok(Self { id, key }) }
    }

    /// The queue under a key, or under that of the script for 0. Throws where there can be none.
    pub(super) fn of_script(key: libc::key_t) -> Result<Self, Raise> {
        let key = if key == 0 { script_key() } else { key };
        Self::open(key, 0o666).map_err(|code| system_error(&format!("no message queue: {}", explain(code, 0)), code))
    }

    /// Has it take so many bytes. Throws where that is not granted.
    pub(super) fn expect_limit(self, bytes: i64) -> Result<(), Raise> {
        self.set_limit(bytes as u64).map_err(|code| {
            system_error(&format!("the message queue cannot take {bytes} bytes (see kernel.msgmnb)"), code)
        })
    }

    /// Puts a message; EAGAIN when there is no room.
    pub(super) fn try_send(self, kind: i64, bytes: &[u8]) -> Result<(), c_int> {
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
    pub(super) fn try_take(self, kind: i64, most: usize) -> Result<Vec<u8>, c_int> {
        loop {
            match self.take(kind, most, libc::IPC_NOWAIT) {
                Err(libc::EINTR) => {}
                Err(libc::ENOMSG) => return Err(libc::EAGAIN),
                taken => return taken.map(|(_, bytes)| bytes),
            }
        }
    }

    /// The same for any message, blocking; EINTR when a signal came.
    pub(super) fn take_blocking(self, most: usize) -> Result<Vec<u8>, c_int> {
        self.take(0, most, 0).map(|(_, bytes)| bytes)
    }

    /// The type of the message, and its bytes.
    fn take(self, kind: i64, most: usize, flags: c_int) -> Result<(i64, Vec<u8>), c_int> {
        const HEAD: usize = size_of::<libc::c_long>();
        let mut record: Vec<u8> = Vec::with_capacity(HEAD + most);
        // SAFETY: room for the type and `most` bytes.
        let n = unsafe { libc::msgrcv(self.id, record.as_mut_ptr().cast(), most, kind as libc::c_long, flags) };
        let Ok(n) = usize::try_from(n) else { return Err(errno()) };
        // SAFETY: the kernel wrote the type and `n` bytes.
        unsafe { record.set_len(HEAD + n) };
        let bytes = record.split_off(HEAD);
        let kind = record.first_chunk().map_or(0, |kind| libc::c_long::from_ne_bytes(*kind));
        Ok((kind, bytes))
    }

    /// msgctl(2) with a record, which it reads or fills.
    fn control(self, what: c_int, stat: &mut libc::msqid_ds) -> Result<(), c_int> {
        // SAFETY: the record is alive; the operations of this file need no more.
        if unsafe { libc::msgctl(self.id, what, stat) } == 0 { Ok(()) } else { Err(errno()) }
    }

    fn stat(self) -> Result<libc::msqid_ds, c_int> {
        let mut stat = empty();
        self.control(libc::IPC_STAT, &mut stat).map(|()| stat)
    }

    /// How many messages and bytes it holds, and how many bytes it takes.
    pub(super) fn stats(self) -> Result<[(&'static [u8], i64); 3], c_int> {
        let stat = self.stat()?;
        Ok([
            (b"queue_num", stat.msg_qnum as i64),
            (b"queue_bytes", stat.__msg_cbytes as i64),
            (b"queue_limit", stat.msg_qbytes as i64),
        ])
    }

    /// How many bytes it takes; more than the system's default only with the rights of root.
    fn set_limit(self, bytes: u64) -> Result<(), c_int> {
        let mut stat = self.stat()?;
        stat.msg_qbytes = bytes as libc::msglen_t;
        self.control(libc::IPC_SET, &mut stat)
    }

    /// Removes it from the system; whoever waits for it is told (EIDRM).
    pub(super) fn remove(self) -> Result<(), c_int> {
        self.control(libc::IPC_RMID, &mut empty())
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
            let slept = wait_either(
                what,
                |state| state.alarm.sleep(step),
                || {
                    signals::dispatch()?;
                    sys::nap(step)
                },
            )?;
            if slept.is_none() {
                return Ok(Err(libc::ECANCELED));
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

/// An argument `int $size`: how long a message that is taken may be.
pub(super) struct Size(pub(super) usize);

impl Want<i64> for Size {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number_where(|size| (1..=0x1000_0000).contains(size), "between 1 and 268435456 bytes").map(Self)
    }
}

/// An argument with the key of a queue.
pub(super) struct SystemKey(pub(super) libc::key_t);

impl Want<i64> for SystemKey {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number("a key of 32 bits").map(Self)
    }
}

struct MessageQueue {
    queue: SysQueue,
    /// The process that made a queue without a key: with its object the queue goes.
    private_to: Option<ForkEpoch>,
    removed: Cell<bool>,
}

native!(MessageQueue, "Apus\\MessageQueue");

impl Drop for MessageQueue {
    fn drop(&mut self) {
        if self.private_to.is_some_and(ForkEpoch::is_now) && !self.removed.get() {
            // Nobody else can have a use for it; it may have been removed by its number.
            let _ = self.queue.remove();
        }
    }
}

fn construct(
    SystemKey(key): SystemKey,
    permissions: Given<i64>,
    limit: Given<i64>,
) -> Result<Made<MessageQueue, 2>, Raise> {
    if !(0..=0o777).contains(&permissions.value) {
        return Err(permissions.value_error("must be permissions between 0 and 0777"));
    }
    if limit.value < 0 {
        return Err(limit.must_be("0 or more bytes"));
    }
    let failed = |code| system_error(&format!("no message queue with the key {key}: {}", explain(code, 0)), code);
    let queue = SysQueue::open(key, permissions.value as c_int).map_err(failed)?;
    if limit.value > 0 {
        queue.expect_limit(limit.value)?;
    }
    let private_to = (key == libc::IPC_PRIVATE).then(ForkEpoch::now);
    let slots = [
        (slot::message_queue::KEY, Value::int(i64::from(key))),
        (slot::message_queue::ID, Value::int(i64::from(queue.id))),
    ];
    Ok(Made(MessageQueue { queue, private_to, removed: Cell::new(false) }, slots))
}

type This<'c> = Me<'c, MessageQueue>;

/// The value, or a warning. Time-outs and cancelling are no surprise.
fn told<V>(me: &This<'_>, what: &str, bytes: usize, result: Result<V, c_int>) -> Result<Noted<V>, Raise> {
    let code = result.as_ref().err().copied().unwrap_or(0);
    me.object.set_slot(slot::message_queue::ERR_CODE, Value::int(i64::from(code)));
    if !matches!(code, 0 | libc::ETIMEDOUT | libc::ECANCELED) {
        engine::warning(&format!("Apus\\MessageQueue::{what}(): {}", explain(code, bytes)))?;
    }
    Ok(Noted(result))
}

fn push(me: This<'_>, bytes: &[u8], kind: Given<i64>, timeout: Timeout) -> Result<Noted<bool>, Raise> {
    let (bytes, queue) = (bytes.to_vec(), me.queue);
    if kind.value < 1 {
        return Err(kind.must_be("1 or more"));
    }
    let sent = SysQueue::retry("MessageQueue::push()", timeout.limit(), || queue.try_send(kind.value, &bytes))?;
    told(&me, "push", bytes.len(), sent.map(|()| true))
}

fn pop(me: This<'_>, timeout: Timeout, kind: i64, Size(most): Size) -> Result<Noted<Vec<u8>>, Raise> {
    let queue = me.queue;
    let taken = SysQueue::retry("MessageQueue::pop()", timeout.limit(), || queue.try_take(kind, most))?;
    told(&me, "pop", 0, taken)
}

/// An array of a queue's numbers.
pub(super) fn stats_array(queue: SysQueue) -> Result<Result<Array, c_int>, Raise> {
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

fn stats(me: This<'_>) -> Result<Noted<Array>, Raise> {
    let stats = stats_array(me.queue)?;
    told(&me, "stats", 0, stats)
}

fn destroy(me: This<'_>) -> Result<Noted<bool>, Raise> {
    let removed = me.queue.remove();
    me.removed.set(true);
    told(&me, "destroy", 0, removed.map(|()| true))
}

apus_zend::stub!("process/message_queue");
