//! What a response answers through: the connection itself, or the process that has it.

use std::cell::Cell;
use std::rc::Rc;

use apus_net::{AnswerState, Responder, ResponseHead};
use apus_zend::Raise;

use super::reply::{self, Step, Trailers};
use crate::connections::Carrier;
use crate::rescue;

/// The way of an answer.
pub(super) enum Answer {
    /// To a connection of this process.
    Here(Responder),
    /// To one of another process of the server.
    Elsewhere(Elsewhere),
}

/// A connection that another process has.
pub(super) struct Elsewhere {
    fd: i64,
    carrier: Rc<dyn Carrier>,
    state: Cell<AnswerState>,
}

impl Answer {
    pub(super) fn elsewhere(fd: i64, carrier: Rc<dyn Carrier>) -> Self {
        Self::Elsewhere(Elsewhere { fd, carrier, state: Cell::new(AnswerState::Open) })
    }

    /// The connection's id.
    pub(super) fn fd(&self) -> i64 {
        match self {
            Self::Here(responder) => responder.conn().id(),
            Self::Elsewhere(there) => there.fd,
        }
    }

    /// How far the answer is; of one that goes elsewhere, as far as it is known here.
    pub(super) fn state(&self) -> AnswerState {
        match self {
            Self::Here(responder) => responder.state(),
            Self::Elsewhere(there) => there.state.get(),
        }
    }

    pub(super) fn is_detached(&self) -> bool {
        match self {
            Self::Here(responder) => responder.is_detached(),
            Self::Elsewhere(there) => there.state.get() == AnswerState::Detached,
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Here(responder) => responder.is_open(),
            Self::Elsewhere(there) => there.state.get() == AnswerState::Open,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        match self {
            Self::Here(responder) => responder.is_ended(),
            Self::Elsewhere(there) => there.is_ended(),
        }
    }

    pub(super) fn is_writable(&self) -> bool {
        match self {
            Self::Here(responder) => responder.is_writable(),
            Self::Elsewhere(there) => !there.is_ended() && there.carrier.has(there.fd),
        }
    }

    pub(super) fn is_handshake(&self) -> bool {
        matches!(self, Self::Here(responder) if responder.is_handshake())
    }

    pub(super) fn detach(&self) {
        match self {
            Self::Here(responder) => responder.detach(),
            Self::Elsewhere(there) => there.state.set(AnswerState::Detached),
        }
    }
}

impl Elsewhere {
    fn is_ended(&self) -> bool {
        !matches!(self.state.get(), AnswerState::Open | AnswerState::Begun)
    }

    /// Hands a step to the process that has the connection. Whether it takes it.
    pub(super) fn send(
        &self,
        step: Step,
        head: &ResponseHead,
        trailers: &Trailers,
        body: &[u8],
    ) -> Result<bool, Raise> {
        if self.is_ended() {
            return Ok(false);
        }
        self.state.set(if step == Step::Write { AnswerState::Begun } else { AnswerState::Answered });
        rescue::handed();
        self.carrier.carry(self.fd, reply::encode(step, head, trailers, body))
    }
}
