//! `Response::write()`.

use apus_coro::Wait;
use apus_net::{Responder, SendError, WriteState};
use apus_zend::{Call, Raise};

use super::answer::Answer;
use super::reply::Step;
use super::response::{Response, succeeded};
use crate::runtime::State;
use crate::wait::{may_wait, wait};

pub(super) fn write(call: &Call) -> Result<(), Raise> {
    let data = call.bytes(0)?;
    let response = call.this::<Response>()?;
    let answer = response.answering()?;
    if data.is_empty() && !answer.is_open() {
        return call.ret(!answer.is_ended());
    }
    let responder = match answer {
        Answer::Here(responder) => responder,
        Answer::Elsewhere(there) => {
            return call.ret(there.send(Step::Write, &response.head.borrow().wire, &Vec::new(), data)?);
        }
    };
    let written = write_all(response, responder, data)?;
    call.ret(written)
}

/// Pieces that are coded are written a slice at a time, so that others have their turn.
fn write_all(response: &Response, responder: &Responder, data: &[u8]) -> Result<bool, Raise> {
    let is_long = |responder: &Responder| responder.slice().filter(|slice| data.len() > *slice);
    // Only with its head it is decided whether an answer is coded.
    if is_long(responder).is_some() && responder.is_open() && !write_piece(response, responder, b"")? {
        return Ok(false);
    }
    let Some(slice) = is_long(responder) else { return write_piece(response, responder, data) };
    for piece in data.chunks(slice) {
        let state = State::get()?;
        let goes_on = write_piece(response, responder, piece)?
            && (!may_wait(&state)
                || wait(&state, Wait::Outside("Response::write()"), tokio::task::yield_now())?.is_some());
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

fn write_piece(response: &Response, responder: &Responder, data: &[u8]) -> Result<bool, Raise> {
    loop {
        let written = responder.write(&response.head.borrow().wire, data);
        match written {
            Ok(WriteState::Sent) => return Ok(true),
            Ok(WriteState::Buffered(_)) => {
                let state = State::get()?;
                return Ok(!may_wait(&state) || room(&state, responder)?);
            }
            Err(SendError::Full) => {
                let state = State::get()?;
                if !may_wait(&state) || !room(&state, responder)? {
                    return Ok(false);
                }
            }
            other => return succeeded(&other),
        }
    }
}

/// Waits until less output waits for the client. `false`: the client is gone, or the wait was cancelled.
fn room(state: &State, responder: &Responder) -> Result<bool, Raise> {
    Ok(wait(state, Wait::Outside("Response::write()"), responder.writable())?.is_some_and(|r| r.is_ok()))
}
