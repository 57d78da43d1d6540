//! Tasks that other programs put into a System V message queue: `task_ipc_mode` 2 and 3 of code written for Swoole.
//!
//! The server's own tasks wait in its shared memory. The first worker takes what others put into the queue, and hands
//! it over as if it came from itself. Nothing announces that such a queue has changed, so it looks every few
//! milliseconds.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, io};

use apus_process::log;
use apus_shm::tasks::When;
use apus_zend::{Raise, Value};

use super::task_client::{Submission, TaskClient};
use super::work::Leaving;
use super::{flags, priority};
use crate::memory::pack;
use crate::process::Inbox;

/// Between two looks at an empty queue.
const PAUSE: Duration = Duration::from_millis(5);
/// What a packed task begins with.
const MARK: &[u8] = b"\x7fapus-task";
/// The value stands behind it.
const INLINE: u8 = b'v';
/// The name of a file stands behind it, which holds the value.
const FILE: u8 = b'f';
/// What these files are called; others are not touched.
const PREFIX: &str = "apus-task-";
/// Bytes that a message of the system holds at most, unless somebody has said otherwise: what is larger goes to a file.
const LARGEST: usize = 8_000;

/// How the queue is found, and who takes its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) struct SystemQueue {
    /// Its key; 0 for that of the script.
    pub(in crate::server) key: i64,
    /// Whether the type of a message says which task worker is to have it.
    pub(in crate::server) oriented: bool,
}

impl SystemQueue {
    /// What settings say that came after others.
    pub(in crate::server) fn said(before: Option<Self>, mode: Option<i64>, key: Option<i64>) -> Option<Self> {
        /// Values of `task_ipc_mode`.
        const ORIENTED: i64 = 2;
        const CONTENDING: i64 = 3;
        let key = key.or(before.map(|queue| queue.key)).unwrap_or(0);
        match mode {
            Some(mode @ (ORIENTED | CONTENDING)) => Some(Self { key, oriented: mode == ORIENTED }),
            Some(_) => None,
            None => before.map(|queue| Self { key, ..queue }),
        }
    }
}

/// `Swoole\Server\Task::pack()`.
pub(super) fn pack(data: &Value) -> Result<Vec<u8>, Raise> {
    let mut value = Vec::new();
    pack::encode(data, &mut value)?;
    if value.len() + MARK.len() < LARGEST {
        return Ok([MARK, &[INLINE], &value].concat());
    }
    let name = keep(&value).map_err(|error| {
        crate::exception::throw(
            crate::exception::code::server::STATE,
            &format!("the data of a task cannot be written to {}: {error}", std::env::temp_dir().display()),
        )
    })?;
    Ok([MARK, &[FILE], name.as_bytes()].concat())
}

/// `Swoole\Server\Task::unpack()`; `None`: it is no task.
pub(super) fn unpack(packed: &[u8]) -> Result<Option<Value>, Raise> {
    value_of(packed).map(|value| pack::decode(&value)).transpose()
}

/// Writes a value to a file of its own, that only this user can read; its name.
fn keep(value: &[u8]) -> io::Result<String> {
    use std::os::unix::fs::OpenOptionsExt as _;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(&name);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    io::Write::write_all(&mut file, value)?;
    Ok(name)
}

/// The packed value of a task. A file goes with it.
fn value_of(packed: &[u8]) -> Option<Vec<u8>> {
    let (kind, rest) = packed.strip_prefix(MARK)?.split_first()?;
    match *kind {
        INLINE => Some(rest.to_vec()),
        FILE => {
            let path = kept(std::str::from_utf8(rest).ok()?)?;
            let value = fs::read(&path).ok()?;
            // Who has read it is the last to need it.
            let _ = fs::remove_file(&path);
            Some(value)
        }
        _ => None,
    }
}

/// The file of this name, if it is one that a task was written to: a message is not to name any other.
fn kept(name: &str) -> Option<PathBuf> {
    let digits = name.strip_prefix(PREFIX)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return None;
    }
    let path = std::env::temp_dir().join(Path::new(name));
    fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file).map(|_| path)
}

/// Hands over what others put into the queue, for as long as this process serves.
pub(in crate::server) fn forward(task_client: &Rc<TaskClient>, queue: SystemQueue) {
    let inbox = match Inbox::open(queue.key) {
        Ok(inbox) => inbox,
        Err(why) => return log::error(format_args!("the message queue of tasks cannot be used: {why}")),
    };
    let task_client = Rc::clone(task_client);
    tokio::task::spawn_local(async move {
        while task_client.leaving.get() == Leaving::No {
            match inbox.take() {
                Ok(Some((kind, bytes))) => hand_over(&task_client, &bytes, kind, queue.oriented),
                Ok(None) => tokio::time::sleep(PAUSE).await,
                Err(why) => return log::error(format_args!("the message queue of tasks is gone: {why}")),
            }
        }
    });
}

fn hand_over(task_client: &TaskClient, bytes: &[u8], kind: i64, oriented: bool) {
    let Some(payload) = value_of(bytes) else {
        return log::warning(format_args!("bad task packet, length={}, type={kind}", bytes.len()));
    };
    let workers = i64::from(task_client.worker.scoreboard.role_counts().tasks);
    let worker = (oriented && (1..=workers).contains(&kind)).then(|| kind as usize - 1);
    let handing = Submission {
        payload: &payload,
        flags: flags::PACKED,
        wants: 0,
        priority: priority::NORMAL as usize,
        worker,
        when: When::Now,
        key: 0,
    };
    match task_client.submit(&handing, false) {
        Ok(Ok(_)) => {}
        Ok(Err(_)) => log::warning(format_args!("a task of the message queue is lost: task_queue_size is too small")),
        Err(raise) => crate::runtime::State::existing().into_iter().for_each(|state| state.report(raise)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_no_file_but_those_of_tasks() {
        for name in ["", "apus-task-../x", "/etc/passwd", "apus-task-a", "apus-task-1-1/x"] {
            assert_eq!(kept(name), None, "{name}");
            assert_eq!(value_of(&[MARK, &[FILE], name.as_bytes()].concat()), None, "{name}");
        }
        let name = keep(b"value").unwrap();
        assert_eq!(value_of(&[MARK, &[FILE], name.as_bytes()].concat()), Some(b"value".to_vec()));
        assert_eq!(kept(&name), None, "read once");
    }

    #[test]
    fn what_is_no_task_is_told_apart() {
        assert_eq!(value_of(b"hello"), None);
        assert_eq!(value_of(MARK), None);
        assert_eq!(value_of(&[MARK, b"?x"].concat()), None);
        assert_eq!(value_of(&[MARK, b"vx"].concat()), Some(b"x".to_vec()));
    }
}
