//! Values on their way: as bytes in shared memory, and back; and what became of the tasks that somebody waits for.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use apus_shm::tasks::{DIED, Report};
use apus_zend::value::View;
use apus_zend::{Raise, Value};
use tokio::sync::Notify;

use super::{errors, kinds};
use crate::last_error::fail;
use crate::memory::pack;

/// The bytes of a value, and whether they are packed: strings are not.
pub(super) fn encode(value: &Value) -> Result<(bool, Cow<'_, [u8]>), Raise> {
    if let View::Str(bytes) = value.view() {
        return Ok((false, Cow::Borrowed(bytes)));
    }
    let mut bytes = Vec::new();
    pack::encode(value, &mut bytes)?;
    Ok((true, Cow::Owned(bytes)))
}

pub(super) fn decode(packed: bool, bytes: &[u8]) -> Result<Value, Raise> {
    if packed { pack::decode(bytes) } else { Value::string(bytes) }
}

/// What a task came to.
#[derive(Debug)]
pub(super) enum Answer {
    Value {
        packed: bool,
        bytes: Vec<u8>,
    },
    /// It ended and gave nothing.
    Nothing,
    Failed(String),
    Died,
    /// There was no room for it in time.
    Refused,
}

impl Answer {
    /// Of a report that is one.
    pub(super) fn of(report: Report) -> Option<Self> {
        Some(match report.kind {
            kinds::RESULT | kinds::INTERIM => Self::Value { packed: false, bytes: report.payload },
            kinds::RESULT_PACKED | kinds::INTERIM_PACKED => Self::Value { packed: true, bytes: report.payload },
            kinds::END => Self::Nothing,
            kinds::FAILED => Self::Failed(String::from_utf8_lossy(&report.payload).into_owned()),
            DIED => Self::Died,
            _ => return None,
        })
    }

    /// The value, or `None` with the error that `getLastError()` gives.
    pub(super) fn value(self) -> Result<Option<Value>, Raise> {
        Ok(match self {
            Self::Value { packed, bytes } => Some(decode(packed, &bytes)?),
            Self::Nothing => Some(Value::null()),
            Self::Failed(_) => none(errors::FAILED),
            Self::Died => none(errors::WORKER_DIED),
            Self::Refused => none(errors::QUEUE_FULL),
        })
    }
}

fn none(code: i64) -> Option<Value> {
    fail(code);
    None
}

/// Somebody who waits for tasks.
pub(super) struct Waiter {
    /// By the place of the task among those waited for.
    pub(super) answers: RefCell<Vec<Option<Answer>>>,
    open: Cell<usize>,
    progress: Notify,
}

impl Waiter {
    pub(super) fn new(tasks: usize) -> Self {
        let answers = RefCell::new((0..tasks).map(|_| None).collect());
        Self { answers, open: Cell::new(tasks), progress: Notify::new() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.open.get() == 0
    }

    /// How many answers are missing.
    pub(super) fn open(&self) -> usize {
        self.open.get()
    }

    /// The answer for one place; the first counts.
    pub(super) fn give(&self, place: usize, answer: Answer) {
        if let Some(slot) = self.answers.borrow_mut().get_mut(place).filter(|slot| slot.is_none()) {
            *slot = Some(answer);
            self.open.set(self.open.get() - 1);
            self.progress.notify_one();
        }
    }

    /// Wakes whoever waits, to look at something else.
    pub(super) fn nudge(&self) {
        self.progress.notify_one();
    }

    pub(super) async fn progress(&self) {
        self.progress.notified().await;
    }
}
