//! How a connection to a broker begins: which server, TLS, the login.

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::driver::KEEP;
use super::shared::Shared;
use super::url::{Dialect, Host, Topology};
use super::{Event, Info, nats, redis};
use crate::connect::{ConnectOptions, Endpoint, connect};
use crate::tls;
use crate::wire::Wire;

/// Bytes read at one go, at least.
const READ: usize = 16 * 1024;

/// What has come and is not decoded yet.
#[derive(Default)]
pub(super) struct Input(BytesMut);

impl Input {
    /// The next thing the broker says.
    pub(super) async fn event(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
        shared: &Shared,
    ) -> Result<Event, String> {
        loop {
            let max = shared.options.max_payload;
            let decoded = match shared.url.dialect {
                Dialect::Redis => redis::decode(&mut self.0, max)?,
                Dialect::Nats => nats::decode(&mut self.0, max)?,
            };
            if let Some(event) = decoded {
                return Ok(event);
            }
            if self.0.is_empty() && self.0.capacity() > KEEP {
                self.0 = BytesMut::new();
            }
            self.0.reserve(READ);
            match from.read_buf(&mut self.0).await {
                Ok(0) => return Err("it closed the connection".to_owned()),
                Ok(_) => shared.heard.set(Instant::now()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// A connection whose login was accepted.
pub(super) struct Link {
    pub(super) wire: Wire,
    pub(super) input: Input,
    /// The largest message that the broker takes, where it says so.
    pub(super) max_payload: Option<usize>,
}

impl Link {
    async fn to(host: &Host, shared: &Shared) -> Result<Self, String> {
        // NATS says in plain text whether it speaks TLS.
        let tls = shared.url.tls && shared.url.dialect == Dialect::Redis;
        let endpoint = Endpoint { host: host.name.clone(), port: host.port, tls };
        let options = ConnectOptions {
            tls: shared.options.tls.clone(),
            tls_name: shared.options.tls_name.clone(),
            ..ConnectOptions::default()
        };
        let wire = connect(&endpoint, &options).await.map_err(|failure| failure.message)?;
        Ok(Self { wire, input: Input::default(), max_payload: None })
    }

    async fn event(&mut self, shared: &Shared) -> Result<Event, String> {
        self.input.event(&mut self.wire, shared).await
    }

    async fn send(&mut self, out: &mut BytesMut) -> Result<(), String> {
        self.wire.write_all(&out.split()).await.map_err(|error| error.to_string())?;
        self.wire.flush().await.map_err(|error| error.to_string())
    }

    /// Waits for the answer to a greeting.
    async fn log_in(mut self, shared: &Shared, mut out: BytesMut) -> Result<Self, String> {
        self.send(&mut out).await?;
        loop {
            match self.event(shared).await? {
                Event::Pong => return Ok(self),
                Event::Error(text) => return Err(refused(&text)),
                Event::Ping => {
                    nats::pong(&mut out);
                    self.send(&mut out).await?;
                }
                // The answer to ROLE.
                Event::List(words) if words.first().is_some_and(|role| role != "master") => {
                    return Err(format!("the master that Sentinel named is a {}", words[0]));
                }
                _ => {}
            }
        }
    }
}

fn refused(text: &str) -> String {
    format!("it refused the login: {text} (user and password in the URL)")
}

/// A connection that is logged in, to the server whose turn it is.
pub(super) async fn open(shared: &Shared) -> Result<Link, String> {
    match (shared.url.dialect, shared.url.topology) {
        (Dialect::Redis, Topology::Sentinels) => {
            let master = ask_sentinels(shared).await?;
            open_redis(&master, shared).await.map_err(|why| format!("{master}: {why}"))
        }
        (dialect, _) => {
            let host = shared.host();
            let opened = match dialect {
                Dialect::Redis => open_redis(host, shared).await,
                Dialect::Nats => open_nats(host, shared).await,
            };
            opened.map_err(|why| if shared.url.hosts.len() == 1 { why } else { format!("{host}: {why}") })
        }
    }
}

async fn open_redis(host: &Host, shared: &Shared) -> Result<Link, String> {
    let url = &shared.url;
    let link = Link::to(host, shared).await?;
    let mut out = BytesMut::new();
    let login = url.secret.as_deref().map(|secret| (&*url.user, secret));
    redis::greet(&mut out, login, url.database, url.topology == Topology::Sentinels);
    link.log_in(shared, out).await
}

async fn open_nats(host: &Host, shared: &Shared) -> Result<Link, String> {
    let mut link = Link::to(host, shared).await?;
    let info = loop {
        match link.event(shared).await? {
            Event::Info(info) => break info,
            Event::Error(text) => return Err(refused(&text)),
            _ => {}
        }
    };
    if shared.url.tls || info.tls_required {
        link = with_tls(link, host, &info, shared).await?;
    }
    link.max_payload = info.max_payload;
    let mut out = BytesMut::new();
    nats::greet(&mut out, &shared.url, shared.options.credentials.as_deref(), &info.nonce);
    link.log_in(shared, out).await
}

/// The connection goes on in TLS, as NATS does it: behind the first INFO.
async fn with_tls(link: Link, host: &Host, info: &Info, shared: &Shared) -> Result<Link, String> {
    if !info.tls_required && !info.tls_available {
        return Err("it does not offer TLS, which the URL demands".to_owned());
    }
    // Whoever sits in between could put words in front of the handshake that would count as the server's.
    if !link.input.0.is_empty() {
        return Err("it sent more than its INFO before TLS".to_owned());
    }
    let Wire::Plain(base) = link.wire else { return Ok(link) };
    let name = shared.options.tls_name.as_deref().unwrap_or(&host.name);
    let stream = tls::connect(base, name, &shared.options.tls).await.map_err(|error| error.to_string())?;
    Ok(Link { wire: Wire::Tls(Box::new(stream)), ..link })
}

/// The master, from the first Sentinel that knows it, beginning with the one whose turn it is.
async fn ask_sentinels(shared: &Shared) -> Result<Host, String> {
    let mut whys = Vec::new();
    for host in shared.hosts() {
        // One that hangs leaves time for the others.
        let limit = shared.options.connect_timeout / (shared.url.hosts.len() as u32 + 1);
        match tokio::time::timeout(limit, ask_sentinel(host, shared)).await {
            Ok(Ok(master)) => return Ok(master),
            Ok(Err(why)) => whys.push(format!("Sentinel {host}: {why}")),
            Err(_) => whys.push(format!("Sentinel {host}: no answer")),
        }
    }
    // In the order of the URL: the same trouble has the same words whoever was asked first.
    whys.sort();
    Err(whys.join("; "))
}

async fn ask_sentinel(host: &Host, shared: &Shared) -> Result<Host, String> {
    let mut link = Link::to(host, shared).await?;
    let mut out = BytesMut::new();
    let login = shared.options.sentinel_login.as_ref().map(|(user, secret)| (&**user, &**secret));
    redis::ask_master(&mut out, &shared.url.service, login);
    link.send(&mut out).await?;
    let mut pongs = 0;
    while pongs < 2 {
        match link.event(shared).await? {
            Event::List(words) => {
                let [name, port] = &words[..] else { continue };
                let port = port.parse().map_err(|_| "it named a master without a port")?;
                return Ok(Host { name: name.clone(), port });
            }
            Event::Pong => pongs += 1,
            Event::Error(text) => return Err(format!("{text} (broker_sentinel_user, broker_sentinel_password)")),
            _ => {}
        }
    }
    Err(format!("it knows no master \"{}\"", shared.url.service))
}
