//! Whom a port answers: lists of clients, and how often each may ask.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use apus_options::{Networks, Settings, Value};
use apus_shm::{Crowd, Limiter};

/// Bytes of a field or a path by which clients are told apart.
const MAX_KEY: usize = 256;

/// What makes requests one client's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum By {
    Address,
    Path,
    Header(String),
}

/// How many bits of an address one client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Prefix {
    v4: u32,
    v6: u32,
}

/// How often each client may ask.
#[derive(Debug, Clone)]
struct Limit {
    by: By,
    limiter: Arc<Limiter>,
    prefix: Prefix,
}

/// How often each client may ask: of all, and of what lies below some paths.
#[derive(Debug, Clone)]
pub struct Rate {
    all: Option<Limit>,
    routes: Vec<(String, Limit)>,
}

/// How many connections each client may have.
#[derive(Debug, Clone)]
pub struct Connections {
    crowd: Arc<Crowd>,
    most: u64,
    prefix: Prefix,
    /// Which process counts.
    owner: usize,
}

/// A client's place among its connections.
#[derive(Debug)]
pub(crate) struct ClientPlace {
    of: Connections,
    key: [u8; 16],
}

/// Whom a port answers.
#[derive(Debug, Clone)]
pub struct Gate {
    allowed: Networks,
    denied: Networks,
    rate: Option<Rate>,
}

impl Prefix {
    fn of(settings: &Settings) -> Self {
        Self { v4: settings.client_prefix_v4, v6: settings.client_prefix_v6 }
    }

    /// The part of an address that is one client's; that of a Unix socket's is all zero.
    fn client(self, address: Option<IpAddr>) -> [u8; 16] {
        let (bits, base) = match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V4(address)) => (96 + self.v4, address.to_ipv6_mapped().to_bits()),
            Some(IpAddr::V6(address)) => (self.v6, address.to_bits()),
            None => return [0; 16],
        };
        (base & (u128::MAX << (128 - bits.clamp(1, 128)))).to_be_bytes()
    }
}

impl By {
    fn read(setting: &str, text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "address" => Ok(Self::Address),
            None if text == "path" => Ok(Self::Path),
            Some(("header", name)) if !name.trim().is_empty() => Ok(Self::Header(name.trim().to_owned())),
            _ => Err(format!("{setting} must be \"address\", \"path\" or \"header:NAME\", \"{text}\" given")),
        }
    }
}

impl Limit {
    fn new(settings: &Settings, by: By, (rate, per): (u32, Duration), burst: u32) -> Result<Self, String> {
        let burst = if burst > 0 { burst } else { rate };
        let prefix = Prefix::of(settings);
        match Limiter::new(settings.rate_limit_clients, rate.into(), per, burst.into()) {
            Some(Ok(limiter)) => Ok(Self { by, limiter: Arc::new(limiter), prefix }),
            Some(Err(error)) => Err(format!("no memory for rate_limit_clients: {error}")),
            None => Err("rate_limit is out of range for its period and burst".to_owned()),
        }
    }

    /// One of `rate_limits`: `REQUESTS/PERIOD [by WHAT]`.
    fn read(settings: &Settings, path: &str, text: &str) -> Result<Self, String> {
        let wrong = || format!("rate_limits: \"{text}\" of {path} must be like \"5/1m\" or \"100/1s by header:X-Key\"");
        let (rate, by) = text.split_once(" by ").unwrap_or((text, "address"));
        let (count, per) = rate.split_once('/').ok_or_else(wrong)?;
        let mut probe = Settings::default();
        let set = |probe: &mut Settings, name: &str, text: &str| {
            probe.set(name, &Value::Str(text.trim().to_owned())).map_err(|_| wrong())
        };
        set(&mut probe, "rate_limit", count)?;
        set(&mut probe, "rate_limit_period", per)?;
        if probe.rate_limit == 0 || !path.starts_with('/') {
            return Err(wrong());
        }
        let by = By::read("rate_limits", by.trim())?;
        Self::new(settings, by, (probe.rate_limit, probe.rate_limit_period), 0)
    }

    /// Seconds that the client has to wait; `None`: it is served.
    fn wait(&self, asks: &Asks<'_>) -> Option<u64> {
        let address;
        let key = match &self.by {
            By::Address => {
                address = self.prefix.client(asks.address);
                &address[..]
            }
            By::Path => asks.path,
            // Who does not send it is limited with all others who do not.
            By::Header(name) => (asks.header)(name.as_bytes()).unwrap_or_default(),
        };
        let key = &key[..key.len().min(MAX_KEY)];
        if self.limiter.allow(key, 1) {
            return None;
        }
        let wait = self.limiter.check(key, 1).retry_after.unwrap_or_default();
        Some((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }
}

impl Rate {
    /// The limits that settings ask for, in memory that the processes share which are forked later; none where they ask
    /// for none.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn of(settings: &Settings) -> Result<Option<Self>, String> {
        let by = By::read("rate_limit_by", &settings.rate_limit_by)?;
        let rate = (settings.rate_limit, settings.rate_limit_period);
        let all = (settings.rate_limit > 0).then(|| Limit::new(settings, by, rate, settings.rate_limit_burst));
        let route = |(path, text): &(String, String)| {
            Ok((path.trim_end_matches('/').to_owned(), Limit::read(settings, path, text)?))
        };
        let mut routes = settings.rate_limits.iter().map(route).collect::<Result<Vec<_>, String>>()?;
        // The longest that a path lies below is found first.
        routes.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let all = all.transpose()?;
        Ok((all.is_some() || !routes.is_empty()).then_some(Self { all, routes }))
    }

    /// Seconds that the client has to wait; `None`: it is served.
    fn wait(&self, asks: &Asks<'_>) -> Option<u64> {
        let lies = |path: &str| {
            let rest = asks.path.strip_prefix(path.as_bytes());
            rest.is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
        };
        let route = self.routes.iter().find(|(path, _)| lies(path));
        route.and_then(|(_, limit)| limit.wait(asks)).or_else(|| self.all.as_ref()?.wait(asks))
    }
}

impl Connections {
    /// The limit that settings ask for, in memory that the processes share which are forked later; none where they ask
    /// for none.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn of(settings: &Settings) -> Result<Option<Self>, String> {
        if settings.max_client_connections == 0 {
            return Ok(None);
        }
        let crowd = Crowd::new(settings.max_connection as usize);
        let crowd = crowd.map_err(|error| format!("no memory for max_client_connections: {error}"))?;
        let most = settings.max_client_connections.into();
        Ok(Some(Self { crowd: Arc::new(crowd), most, prefix: Prefix::of(settings), owner: 0 }))
    }

    /// The same, counted by one of the processes.
    #[must_use]
    pub fn counted_by(&self, owner: usize) -> Self {
        Self { owner, ..self.clone() }
    }

    /// Forgets a process that is gone.
    pub fn forget(&self, owner: usize) {
        self.crowd.purge(owner);
    }

    /// A place for one more connection, unless the client has as many as it may.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<ClientPlace> {
        let key = self.prefix.client(Some(address));
        self.crowd.enter(&key, self.owner, self.most).then(|| ClientPlace { of: self.clone(), key })
    }
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        self.of.crowd.leave(&self.key, self.of.owner);
    }
}

/// What is known of a request.
pub(crate) struct Asks<'a> {
    /// The client's; none of a Unix socket.
    pub(crate) address: Option<IpAddr>,
    pub(crate) path: &'a [u8],
    pub(crate) header: &'a dyn Fn(&[u8]) -> Option<&'a [u8]>,
}

/// Why a request is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barred {
    /// 403.
    Forbidden,
    /// 429: the client may come again after so many seconds.
    TooMany(u64),
}

impl Gate {
    /// Whom the settings of a port let in; none where they let all in.
    pub fn of(settings: &Settings, rate: Option<Rate>) -> Option<Self> {
        let (allowed, denied) = (settings.allowed_clients.clone(), settings.denied_clients.clone());
        let any = !allowed.is_empty() || !denied.is_empty() || rate.is_some();
        any.then_some(Self { allowed, denied, rate })
    }

    /// How often each client may ask.
    pub fn rate(&self) -> Option<&Rate> {
        self.rate.as_ref()
    }

    /// Why a request is not let in, if it is not.
    #[cold]
    pub(crate) fn bars(&self, asks: &Asks<'_>) -> Option<Barred> {
        let (denied, allowed) = (&self.denied, &self.allowed);
        if denied.contain(asks.address) || !(allowed.is_empty() || allowed.contain(asks.address)) {
            return Some(Barred::Forbidden);
        }
        self.rate.as_ref()?.wait(asks).map(Barred::TooMany)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_ipv6_has_a_prefix() {
        let prefix = Prefix::of(&Settings::default());
        let key = |text: &str| prefix.client(Some(text.parse().unwrap()));
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("192.0.2.1"), key("::ffff:192.0.2.1"));
        let wide = Prefix { v4: 24, v6: 48 };
        let key = |text: &str| wide.client(Some(text.parse().unwrap()));
        assert_eq!(key("192.0.2.1"), key("192.0.2.254"));
        assert_ne!(key("192.0.2.1"), key("192.0.3.1"));
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
    }

    #[test]
    fn paths_have_limits_of_their_own() {
        let limits = [("/login", "2/1h"), ("/login/reset/", "1/1h by header:X-Key"), ("/api", "1000/1m")];
        let rate_limits = limits.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
        let rate = Rate::of(&Settings { rate_limits, ..Settings::default() }).unwrap().unwrap();
        let none = |_: &[u8]| None;
        let ask = |path: &'static str| {
            rate.wait(&Asks { address: Some([192, 0, 2, 1].into()), path: path.as_bytes(), header: &none }).is_none()
        };
        assert!(ask("/login") && ask("/login/x") && !ask("/login"));
        assert!(ask("/logins") && ask("/") && ask("/login/reset") && !ask("/login/reset/x"));
        for wrong in ["", "5", "0/1s", "5/", "5/1x", "a/1s", "5/1s by cookie"] {
            let rate_limits = vec![("/".to_owned(), wrong.to_owned())];
            assert!(Rate::of(&Settings { rate_limits, ..Settings::default() }).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_say_what_a_client_is() {
        let of = |by: &str| {
            let mut settings = Settings { rate_limit: 5, ..Settings::default() };
            by.clone_into(&mut settings.rate_limit_by);
            Rate::of(&settings).map(|rate| rate.unwrap().all.unwrap().by)
        };
        assert_eq!(of("address"), Ok(By::Address));
        assert_eq!(of("header: X-Key"), Ok(By::Header("X-Key".to_owned())));
        assert!(of("cookie").unwrap_err().contains("\"cookie\" given"));
        assert!(Rate::of(&Settings::default()).unwrap().is_none());
    }
}
