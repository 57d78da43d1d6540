//! `Apus\Push`: messages to the WebSockets of this server, from whatever process of it.

use apus_zend::Raise;
use apus_zend::arg::Any;

use super::routing::methods::{self, Topic, User};
use super::routing::{Errand, Forwarded, guest};
use crate::client::frame;
use crate::{exception, last_error};

/// Has it done where there is a worker to do it.
fn run(errand: Errand, name: &[u8], payload: &[u8]) -> Result<Option<u64>, Raise> {
    if !guest::is_open() {
        let text = "Push reaches WebSockets from the scripts of `apus serve`, where the setting script_websocket takes \
                    them, and from the workers of a server";
        return Err(exception::throw(exception::code::server::STATE, text));
    }
    last_error::clear();
    Ok(guest::run(errand, name, payload).map_err(Forwarded::told).ok())
}

fn publish(topic: Topic<'_>, data: Any<'_>, opcode: Option<i64>) -> Result<bool, Raise> {
    let (how, data) = methods::message(data, opcode, methods::WHOLE)?;
    if let Some(done) = methods::publish_here(&topic, how, &data) {
        return done;
    }
    match run(Errand::Publish(how), topic.name(), &data)? {
        Some(0) => Ok(last_error::fail(last_error::QUEUE_FULL)),
        Some(_) => Ok(true),
        None => Ok(false),
    }
}

fn send_to_user(user: User<'_>, data: Any<'_>, opcode: Option<i64>) -> Result<i64, Raise> {
    let (how, data) = methods::message(data, opcode, methods::WHOLE)?;
    if let Some(reached) = methods::send_to_user_here(&user, how, &data) {
        return reached;
    }
    Ok(run(Errand::ToUser(how), user.name(), &data)?.unwrap_or(0) as i64)
}

fn is_online(user: User<'_>) -> Result<bool, Raise> {
    match methods::is_online_here(&user) {
        Some(online) => online,
        None => Ok(run(Errand::Online, user.name(), b"")?.unwrap_or(0) > 0),
    }
}

fn subscribers(topic: Topic<'_>) -> Result<i64, Raise> {
    match methods::subscribers_here(&topic) {
        Some(count) => count,
        None => Ok(run(Errand::Subscribers, topic.name(), b"")?.unwrap_or(0) as i64),
    }
}

fn disconnect(user: User<'_>, code: i64, reason: &[u8]) -> Result<i64, Raise> {
    // Says what is wrong with code or reason.
    frame::close_payload(code, reason)?;
    Ok(run(Errand::Disconnect(code as u16), user.name(), reason)?.unwrap_or(0) as i64)
}

apus_zend::stub!("server/push");
