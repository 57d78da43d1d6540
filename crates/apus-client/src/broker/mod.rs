//! Messages between machines, through a broker that exists already: Redis pub/sub (alone, behind Sentinels, or a
//! cluster) or NATS, with TLS and logins.
//!
//! ```ignore
//! let broker = Broker::open(BrokerUrl::parse("nats://10.0.0.7:4222")?, BrokerOptions::default());
//! broker.subscribe("apus.news");
//! broker.publish("apus.news", Bytes::from_static(b"hello"));
//! let message = broker.receive().await;
//! ```
//!
//! One connection and one task a [`Broker`]. A connection that breaks is made again, with a growing delay, and what is
//! subscribed then is subscribed again. Delivery is what the brokers themselves give: at most once. What is published
//! while there is no connection waits, up to a limit; what is over it is dropped and counted.
//! The program's own messages come back to it where it has subscribed their subject.

mod credentials;
mod driver;
mod link;
mod nats;
mod redis;
mod shared;
mod url;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::AbortHandle;

use crate::tls::TlsOptions;
pub use credentials::Credentials;
use shared::Shared;
pub use url::{BrokerUrl, Dialect, Host};

/// Bytes of a subject at most.
pub const MAX_SUBJECT: usize = 1024;

/// Limits and times of a [`Broker`].
#[derive(Clone)]
pub struct BrokerOptions {
    /// Bytes that wait to be sent at most; further messages are dropped.
    pub max_queued: usize,
    /// Bytes that came and wait for [`Broker::receive`]. More is left to the network, and in the end to the broker.
    pub max_received: usize,
    /// Bytes of one message, in both directions.
    pub max_payload: usize,
    /// Time for connecting and logging in.
    pub connect_timeout: Duration,
    /// The delay before the first attempt after a connection broke. It doubles with each that fails.
    pub first_retry: Duration,
    /// The longest delay between attempts.
    pub last_retry: Duration,
    /// A silent connection is asked for a sign of life this often, and given up when three times as long nothing came.
    pub ping_interval: Duration,
    /// TLS, where it is spoken: for `rediss://` and `tls://`, and with a NATS server that demands it.
    pub tls: TlsOptions,
    /// The name that the certificate must have; the host when none.
    pub tls_name: Option<String>,
    /// What proves to NATS who we are, instead of a password.
    pub credentials: Option<Arc<Credentials>>,
    /// User and password for Sentinels that demand them; the user is empty for the default one.
    pub sentinel_login: Option<(String, String)>,
    /// Hears what an operator should know. MUST NOT wait.
    pub report: Rc<dyn Fn(&Report)>,
}

impl Default for BrokerOptions {
    fn default() -> Self {
        Self {
            max_queued: 8 << 20,
            max_received: 8 << 20,
            max_payload: 16 << 20,
            connect_timeout: Duration::from_secs(5),
            first_retry: Duration::from_millis(100),
            last_retry: Duration::from_secs(5),
            ping_interval: Duration::from_secs(5),
            tls: TlsOptions::default(),
            tls_name: None,
            credentials: None,
            sentinel_login: None,
            report: Rc::new(|_| {}),
        }
    }
}

impl fmt::Debug for BrokerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerOptions").field("max_queued", &self.max_queued).finish_non_exhaustive()
    }
}

/// What an operator should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The connection is made.
    Connected,
    /// It is made again, after so long without one: what was published meanwhile did not come.
    Reconnected(Duration),
    /// There is no connection, for the reason given. Each reason is told once until there was a connection again.
    Lost(String),
    /// The broker refused something, and the connection goes on.
    Refused(String),
    /// This many messages were dropped since this was last said.
    Dropped(u64),
}

/// A message that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The subject that was subscribed.
    pub subject: Rc<str>,
    /// What was published.
    pub payload: Bytes,
}

/// What happened to a message that was to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Published {
    /// It is sent, or waits to be.
    Queued,
    /// Too much waits already: it was dropped.
    Dropped,
    /// It is larger than this end or the broker allows.
    TooLarge,
    /// The subject is empty, longer than [`MAX_SUBJECT`], or has characters that brokers do not take.
    BadSubject,
}

/// Something that a broker says.
#[derive(Debug, Clone, PartialEq)]
enum Event {
    Message {
        subject: Rc<str>,
        payload: Bytes,
    },
    Ping,
    Pong,
    Info(Info),
    Error(String),
    /// A list, with what it has of texts.
    List(Vec<String>),
    /// Of no interest.
    Nothing,
}

/// What a NATS server says of itself.
#[derive(Debug, Clone, PartialEq, Default)]
struct Info {
    max_payload: Option<usize>,
    tls_required: bool,
    tls_available: bool,
    /// What is to be signed.
    nonce: String,
}

/// A broker. Dropped, its connection is closed, and what waits to be sent is lost (see [`Broker::flushed`]).
pub struct Broker {
    shared: Rc<Shared>,
    driver: AbortHandle,
}

impl Broker {
    /// Begins to connect. To be called on a thread with a `LocalRuntime` or inside a `LocalSet`.
    pub fn open(url: BrokerUrl, options: BrokerOptions) -> Self {
        let shared = Rc::new(Shared::new(url, options));
        let driver = tokio::task::spawn_local(driver::run(Rc::clone(&shared))).abort_handle();
        Self { shared, driver }
    }

    /// Whether a subject is one that both kinds of brokers take: 1 to [`MAX_SUBJECT`] bytes of printable ASCII without
    /// spaces, `*` and `>`, and without empty parts between dots.
    pub fn is_subject(subject: &str) -> bool {
        subject.len() <= MAX_SUBJECT
            && subject.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'*' | b'>'))
            && subject.split('.').all(|part| !part.is_empty())
    }

    /// Wants the messages of a subject from now on, whatever happens to the connection. False for a subject that is
    /// none.
    pub fn subscribe(&self, subject: &str) -> bool {
        Self::is_subject(subject) && {
            self.shared.want(subject);
            true
        }
    }

    /// Wants them no longer. Messages that are on their way may still come.
    pub fn unsubscribe(&self, subject: &str) {
        self.shared.unwant(subject);
    }

    /// Sends a message, or has it wait for a connection. The messages of one [`Broker`] stay in order. Does not wait.
    pub fn publish(&self, subject: &str, payload: Bytes) -> Published {
        if !Self::is_subject(subject) {
            return Published::BadSubject;
        }
        self.shared.publish(subject.into(), payload)
    }

    /// The next message. Dropped half-way it loses nothing; only one may be waited for at a time.
    pub async fn receive(&self) -> Received {
        self.shared.receive().await
    }

    /// A message that has come already.
    pub fn try_receive(&self) -> Option<Received> {
        self.shared.try_receive()
    }

    /// Whether there is a connection that is logged in.
    pub fn is_connected(&self) -> bool {
        self.shared.connected.get()
    }

    /// Ready when the broker has confirmed everything that was subscribed and unsubscribed before this was called.
    pub async fn synced(&self) {
        self.shared.synced().await;
    }

    /// Ready when nothing waits to be sent.
    pub async fn flushed(&self) {
        self.shared.flushed().await;
    }

    /// Messages dropped since the start.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.get()
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker")
            .field("url", &self.shared.url)
            .field("connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
