//! Where a broker is, read from its URL.

use std::fmt;

/// What a broker speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Redis 6 or newer, or what speaks RESP3 as it does.
    Redis,
    /// NATS.
    Nats,
}

/// A broker's URL: `redis://[user:password@]host[:port][/database]`, `redis://:password@host`, or
/// `nats://[user:password@]host[:port]`, `nats://token@host`. Reserved characters in names are `%XX`.
#[derive(Clone, PartialEq, Eq)]
pub struct BrokerUrl {
    /// What it speaks.
    pub dialect: Dialect,
    /// A name or an address without brackets.
    pub host: String,
    /// The port: 6379 for Redis, 4222 for NATS where the URL has none.
    pub port: u16,
    /// The user; empty for the default one of Redis, and with a NATS token.
    pub user: String,
    /// The password, or the NATS token.
    pub secret: Option<String>,
    /// The number of a Redis database. Messages do not depend on it.
    pub database: u32,
}

/// The secret stays out of logs.
impl fmt::Debug for BrokerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrokerUrl({self})")
    }
}

/// Without user and secret: for messages.
impl fmt::Display for BrokerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.dialect {
            Dialect::Redis => "redis",
            Dialect::Nats => "nats",
        };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

impl BrokerUrl {
    /// Reads a URL. The error says what is wrong with it, and never repeats it: it may hold a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (dialect, rest) = if let Some(rest) = text.strip_prefix("redis://") {
            (Dialect::Redis, rest)
        } else if let Some(rest) = text.strip_prefix("nats://") {
            (Dialect::Nats, rest)
        } else {
            return Err("the URL of a broker begins with redis:// or nats://".to_owned());
        };
        if rest.contains(['?', '#']) {
            return Err("the URL of a broker has no ? and no #; in a name or password they are %3F and %23".to_owned());
        }
        // The last @: one in a password need not be escaped.
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, rest),
        };
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = host_and_port(authority, dialect)?;
        let (user, secret) = login.map_or(Ok((String::new(), None)), |login| user_and_secret(login, dialect))?;
        let database = database(path, dialect)?;
        Ok(Self { dialect, host, port, user, secret, database })
    }
}

fn host_and_port(authority: &str, dialect: Dialect) -> Result<(String, u16), String> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("the URL of the broker has a [ without a ]")?;
        (host, after.strip_prefix(':').or_else(|| after.is_empty().then_some("")))
    } else if let Some((host, port)) = authority.rsplit_once(':') {
        if host.contains(':') {
            return Err("an IPv6 address in the URL of a broker stands in brackets: redis://[::1]:6379".to_owned());
        }
        (host, Some(port))
    } else {
        (authority, Some(""))
    };
    if host.is_empty() {
        return Err("the URL of the broker has no host: redis://host:port or nats://host:port".to_owned());
    }
    let usual = match dialect {
        Dialect::Redis => 6379,
        Dialect::Nats => 4222,
    };
    match port {
        Some("") => Ok((host.to_owned(), usual)),
        Some(port) => match port.parse() {
            Ok(port) if port != 0 => Ok((host.to_owned(), port)),
            _ => Err("the port in the URL of the broker must be a number from 1 to 65535".to_owned()),
        },
        None => Err("after the ] in the URL of the broker comes a colon and the port".to_owned()),
    }
}

fn user_and_secret(login: &str, dialect: Dialect) -> Result<(String, Option<String>), String> {
    match (login.split_once(':'), dialect) {
        (Some((user, secret)), _) => Ok((decode(user)?, Some(decode(secret)?))),
        (None, Dialect::Nats) => Ok((String::new(), Some(decode(login)?))),
        (None, Dialect::Redis) => Err("the URL of the broker has a user and no password: \
            redis://user:password@host, or redis://:password@host for the default user"
            .to_owned()),
    }
}

fn database(path: &str, dialect: Dialect) -> Result<u32, String> {
    match dialect {
        _ if path.is_empty() => Ok(0),
        Dialect::Redis => path
            .parse()
            .map_err(|_| "after the host of a Redis URL comes the number of a database, or nothing".to_owned()),
        Dialect::Nats => Err("after the host of a NATS URL comes nothing".to_owned()),
    }
}

fn decode(text: &str) -> Result<String, String> {
    let wrong = || "a % in the URL of the broker is followed by two hexadecimal digits; % itself is %25".to_owned();
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = rest.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit)).ok_or_else(wrong)?;
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        out.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        rest = &rest[2..];
    }
    String::from_utf8(out).map_err(|_| "user and password in the URL of a broker are UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, u16, String, Option<String>, u32) {
        let url = BrokerUrl::parse(text).unwrap();
        (url.host, url.port, url.user, url.secret, url.database)
    }

    #[test]
    fn urls_are_read() {
        let none = String::new;
        assert_eq!(read("redis://cache"), ("cache".to_owned(), 6379, none(), None, 0));
        assert_eq!(
            read("redis://a:b%40c@10.0.0.1:7000/3"),
            ("10.0.0.1".to_owned(), 7000, "a".to_owned(), Some("b@c".to_owned()), 3)
        );
        assert_eq!(read("redis://:p@ss@h/"), ("h".to_owned(), 6379, none(), Some("p@ss".to_owned()), 0));
        assert_eq!(read("nats://t0ken@[::1]:4333"), ("::1".to_owned(), 4333, none(), Some("t0ken".to_owned()), 0));
        assert_eq!(read("nats://u:p@h").4, 0);
        assert_eq!(read("nats://[::1]").1, 4222);
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        for (text, word) in [
            ("http://s3cret@h", "redis://"),
            ("redis://s3cret@h", "no password"),
            ("redis://", "no host"),
            ("redis://:s3cret@", "no host"),
            ("redis://h:0", "1 to 65535"),
            ("redis://h:99999", "1 to 65535"),
            ("redis://::1", "brackets"),
            ("redis://[::1", "without a ]"),
            ("redis://[::1]6379", "colon"),
            ("redis://:s3cret%zz@h", "hexadecimal"),
            ("redis://h/x", "number of a database"),
            ("nats://h/x", "nothing"),
            ("redis://h?x=1", "no ?"),
        ] {
            let error = BrokerUrl::parse(text).unwrap_err();
            assert!(error.contains(word) && !error.contains("s3cret"), "{text}: {error}");
        }
    }

    #[test]
    fn shown_without_the_secret() {
        let url = BrokerUrl::parse("nats://u:s3cret@[::1]:1").unwrap();
        assert_eq!(
            (url.to_string(), format!("{url:?}")),
            ("nats://[::1]:1".to_owned(), "BrokerUrl(nats://[::1]:1)".to_owned())
        );
    }
}
