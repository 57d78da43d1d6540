//! Whom a port answers: lists of clients, and how often each may ask.

use std::net::IpAddr;
use std::sync::Arc;

use apus_options::{Networks, Settings};
use apus_shm::Limiter;

/// Bits of an address of IPv6 that one client has.
const CLIENT_BITS: u32 = 64;
/// Bytes of a field or a path by which clients are told apart.
const MAX_KEY: usize = 256;

/// What makes requests one client's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum By {
    Address,
    Path,
    Header(String),
}

/// How often each client may ask.
#[derive(Debug, Clone)]
pub struct Rate {
    by: By,
    limiter: Arc<Limiter>,
}

/// Whom a port answers.
#[derive(Debug, Clone)]
pub struct Gate {
    allowed: Networks,
    denied: Networks,
    rate: Option<Rate>,
}

impl Rate {
    /// The limit that settings ask for, in memory that the processes share which are forked later; none where they ask
    /// for none.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn of(settings: &Settings) -> Result<Option<Self>, String> {
        if settings.rate_limit == 0 {
            return Ok(None);
        }
        let by = match settings.rate_limit_by.split_once(':') {
            None if settings.rate_limit_by == "address" => By::Address,
            None if settings.rate_limit_by == "path" => By::Path,
            Some(("header", name)) if !name.trim().is_empty() => By::Header(name.trim().to_owned()),
            _ => {
                return Err(format!(
                    "rate_limit_by must be \"address\", \"path\" or \"header:NAME\", \"{}\" given",
                    settings.rate_limit_by
                ));
            }
        };
        let burst = if settings.rate_limit_burst > 0 { settings.rate_limit_burst } else { settings.rate_limit };
        let (rate, per) = (f64::from(settings.rate_limit), settings.rate_limit_period);
        match Limiter::new(settings.rate_limit_clients, rate, per, burst.into()) {
            Some(Ok(limiter)) => Ok(Some(Self { by, limiter: Arc::new(limiter) })),
            Some(Err(error)) => Err(format!("no memory for rate_limit_clients: {error}")),
            None => Err("rate_limit is out of range for its period and burst".to_owned()),
        }
    }

    /// Seconds that the client has to wait; `None`: it is served.
    fn wait(&self, asks: &Asks<'_>) -> Option<u64> {
        let address;
        let key = match &self.by {
            By::Address => {
                address = client(asks.address);
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

/// The part of an address that is one client's; that of a Unix socket's is all zero.
fn client(address: Option<IpAddr>) -> [u8; 16] {
    match address {
        Some(IpAddr::V4(address)) => address.to_ipv6_mapped().octets(),
        Some(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
            Some(_) => address.octets(),
            None => (address.to_bits() & (u128::MAX << (128 - CLIENT_BITS))).to_be_bytes(),
        },
        None => [0; 16],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_ipv6_has_a_prefix() {
        let key = |text: &str| client(Some(text.parse().unwrap()));
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("192.0.2.1"), key("::ffff:192.0.2.1"));
    }

    #[test]
    fn settings_say_what_a_client_is() {
        let of = |by: &str| {
            let mut settings = Settings { rate_limit: 5, ..Settings::default() };
            by.clone_into(&mut settings.rate_limit_by);
            Rate::of(&settings).map(|rate| rate.unwrap().by)
        };
        assert_eq!(of("address"), Ok(By::Address));
        assert_eq!(of("header: X-Key"), Ok(By::Header("X-Key".to_owned())));
        assert!(of("cookie").unwrap_err().contains("\"cookie\" given"));
        assert!(Rate::of(&Settings::default()).unwrap().is_none());
    }
}
