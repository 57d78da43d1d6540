//! The task of a broker: one connection after the other.

use std::cell::Cell;
use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::time::Instant;

use super::shared::Shared;
use super::url::Dialect;
use super::{Event, nats, redis};
use crate::connect::{ConnectOptions, Endpoint, connect};
use crate::wire::Wire;

/// Bytes read at one go, at least.
const READ: usize = 16 * 1024;
/// Unanswered intervals after which a connection is given up.
const SILENT: u32 = 3;
/// What a buffer that once was large keeps.
const KEEP: usize = 256 * 1024;

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

struct Reader<'a> {
    half: ReadHalf<Wire>,
    input: BytesMut,
    shared: &'a Shared,
    heard: Rc<Cell<Instant>>,
}

impl Reader<'_> {
    async fn event(&mut self) -> Result<Event, String> {
        loop {
            let max = self.shared.options.max_payload;
            let decoded = match self.shared.url.dialect {
                Dialect::Redis => redis::decode(&mut self.input, max)?,
                Dialect::Nats => nats::decode(&mut self.input, max)?,
            };
            if let Some(event) = decoded {
                return Ok(event);
            }
            if self.input.is_empty() && self.input.capacity() > KEEP {
                self.input = BytesMut::new();
            }
            self.input.reserve(READ);
            match self.half.read_buf(&mut self.input).await {
                Ok(0) => return Err("it closed the connection".to_owned()),
                Ok(_) => self.heard.set(Instant::now()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// One connection, from the first attempt to its end; why it ended.
async fn session(shared: &Shared) -> Result<Infallible, String> {
    let limit = shared.options.connect_timeout;
    let heard = Rc::new(Cell::new(Instant::now()));
    let opened = tokio::time::timeout(limit, open(shared, Rc::clone(&heard))).await;
    let (mut reader, mut writer) =
        opened.unwrap_or_else(|_| Err(format!("it did not answer within {} s", limit.as_secs_f64())))?;
    tokio::select! {
        end = read(&mut reader) => end,
        end = write(&mut writer, shared) => end,
        end = keep_alive(shared, &heard) => end,
    }
}

async fn open(shared: &Shared, heard: Rc<Cell<Instant>>) -> Result<(Reader<'_>, WriteHalf<Wire>), String> {
    let url = &shared.url;
    let endpoint = Endpoint { host: url.host.clone(), port: url.port, tls: false };
    let wire = connect(&endpoint, &ConnectOptions::default()).await.map_err(|failure| failure.message)?;
    let (half, mut writer) = split(wire);
    let mut reader = Reader { half, input: BytesMut::new(), shared, heard };
    let mut out = BytesMut::new();
    let mut max_payload = None;
    if url.dialect == Dialect::Redis {
        redis::greet(&mut out, url);
    }
    loop {
        if !out.is_empty() {
            writer.write_all(&out.split()).await.map_err(|error| error.to_string())?;
        }
        match reader.event().await? {
            Event::Info { tls_required: true, .. } => {
                return Err("it demands TLS, which connections to brokers do not speak".to_owned());
            }
            Event::Info { max_payload: limit, .. } if max_payload.is_none() => {
                max_payload = Some(limit.unwrap_or(usize::MAX));
                nats::greet(&mut out, url);
            }
            Event::Pong => {
                shared.begin(max_payload);
                return Ok((reader, writer));
            }
            Event::Error(text) => return Err(format!("it refused the login: {text} (user and password in the URL)")),
            Event::Ping => nats::pong(&mut out),
            _ => {}
        }
    }
}

async fn read(reader: &mut Reader<'_>) -> Result<Infallible, String> {
    let shared = reader.shared;
    loop {
        shared.until_room().await;
        match reader.event().await? {
            Event::Message { subject, payload } => shared.arrived(subject, payload),
            Event::Ping => shared.want_pong(),
            Event::Pong => shared.ponged(),
            Event::Error(text) => shared.refused(text),
            Event::Info { .. } | Event::Nothing => {}
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
        shared.sent();
        out.clear();
        if out.capacity() > KEEP {
            out = BytesMut::new();
        }
    }
}

/// Asks a silent broker for a sign of life, and gives it up when none comes.
async fn keep_alive(shared: &Shared, heard: &Cell<Instant>) -> Result<Infallible, String> {
    let interval = shared.options.ping_interval;
    loop {
        tokio::time::sleep(interval).await;
        // What we do not read is not the broker's silence.
        if shared.is_full() {
            heard.set(Instant::now());
            continue;
        }
        let silent = heard.get().elapsed();
        if silent >= interval * SILENT {
            return Err(format!("it has said nothing for {:.0} s", silent.as_secs_f64()));
        }
        if silent >= interval {
            shared.want_ping();
        }
        shared.report_dropped();
    }
}
