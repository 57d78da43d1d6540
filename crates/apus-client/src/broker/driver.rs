//! The task of a broker: one connection after the other.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::time::Instant;

use super::Event;
use super::link::{Input, open};
use super::shared::Shared;
use crate::wire::Wire;

/// Unanswered intervals after which a connection is given up.
const SILENT: u32 = 3;
/// What a buffer that once was large keeps.
pub(super) const KEEP: usize = 256 * 1024;

/// Connects, serves the connection until it breaks, and begins again.
pub(super) async fn run(shared: Rc<Shared>) {
    let options = &shared.options;
    let mut delay = options.first_retry;
    loop {
        let began = Instant::now();
        let Err(why) = session(&shared).await;
        shared.end(why);
        // One that held is no sign of trouble: the next is tried soon.
        if began.elapsed() > options.last_retry {
            delay = options.first_retry;
        }
        tokio::time::sleep(jittered(delay)).await;
        delay = (delay * 2).min(options.last_retry);
    }
}

/// Three quarters to five quarters of it: the clients of a broker that comes back do not all knock at once.
fn jittered(delay: Duration) -> Duration {
    // Forked processes have the same random keys.
    let share = RandomState::new().hash_one(std::process::id()) % 1000;
    delay.mul_f64(0.75 + share as f64 / 2000.0)
}

/// One connection, from the first attempt to its end; why it ended.
async fn session(shared: &Shared) -> Result<Infallible, String> {
    let limit = shared.options.connect_timeout;
    let opened = tokio::time::timeout(limit, open(shared)).await;
    let hint = if shared.url.tls { " (does it speak TLS?)" } else { "" };
    let opened = opened.unwrap_or_else(|_| Err(format!("it did not answer within {} s{hint}", limit.as_secs_f64())))?;
    shared.begin(opened.max_payload);
    let mut input = opened.input;
    let (mut reader, mut writer) = split(opened.wire);
    tokio::select! {
        end = read(&mut reader, &mut input, shared) => end,
        end = write(&mut writer, shared) => end,
        end = keep_alive(shared) => end,
    }
}

async fn read(reader: &mut ReadHalf<Wire>, input: &mut Input, shared: &Shared) -> Result<Infallible, String> {
    loop {
        shared.until_room().await;
        match input.event(reader, shared).await? {
            Event::Message { subject, payload } => shared.arrived(subject, payload),
            Event::Ping => shared.want_pong(),
            Event::Pong => shared.ponged(),
            Event::Error(text) => shared.refused(text),
            Event::Info(_) | Event::List(_) | Event::Nothing => {}
        }
    }
}

async fn write(writer: &mut WriteHalf<Wire>, shared: &Shared) -> Result<Infallible, String> {
    let mut out = BytesMut::new();
    loop {
        shared.encode(&mut out);
        if out.is_empty() {
            shared.until_work().await;
            continue;
        }
        writer.write_all(&out).await.map_err(|error| error.to_string())?;
        // TLS may hold back what the kernel did not take.
        writer.flush().await.map_err(|error| error.to_string())?;
        shared.sent();
        out.clear();
        if out.capacity() > KEEP {
            out = BytesMut::new();
        }
    }
}

/// Asks a silent broker for a sign of life, and gives it up when none comes.
async fn keep_alive(shared: &Shared) -> Result<Infallible, String> {
    let interval = shared.options.ping_interval;
    loop {
        tokio::time::sleep(interval).await;
        // What we do not read is not the broker's silence.
        if shared.is_full() {
            shared.heard.set(Instant::now());
            continue;
        }
        let silent = shared.heard.get().elapsed();
        if silent >= interval * SILENT {
            return Err(format!("it has said nothing for {:.0} s", silent.as_secs_f64()));
        }
        if silent >= interval {
            shared.want_ping();
        }
        shared.report_dropped();
    }
}
