//! Where a broker is, read from its URL.

use std::fmt;

/// Hosts in one URL.
pub(super) const MAX_HOSTS: usize = 32;

/// What a broker speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Redis 6 or newer, or what speaks RESP3 as it does.
    Redis,
    /// NATS.
    Nats,
}

/// What the hosts of a URL are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topology {
    /// One server.
    Single,
    /// Each of them will do: the servers of a NATS cluster, the nodes of a Redis Cluster, which pass on to each other
    /// what is published.
    Any,
    /// Redis Sentinels, which know the master.
    Sentinels,
}

/// The schemes: name, dialect, TLS, topology.
const SCHEMES: [(&str, Dialect, bool, Topology); 8] = [
    ("redis", Dialect::Redis, false, Topology::Single),
    ("rediss", Dialect::Redis, true, Topology::Single),
    ("redis+sentinel", Dialect::Redis, false, Topology::Sentinels),
    ("rediss+sentinel", Dialect::Redis, true, Topology::Sentinels),
    ("redis+cluster", Dialect::Redis, false, Topology::Any),
    ("rediss+cluster", Dialect::Redis, true, Topology::Any),
    ("nats", Dialect::Nats, false, Topology::Any),
    ("tls", Dialect::Nats, true, Topology::Any),
];

/// A host and its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// A name or an address without brackets.
    pub name: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, port } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

/// A broker's URL. Reserved characters in names and passwords are `%XX`, and `rediss` stands for TLS:
///
/// - `redis://[user:password@]host[:port][/database]`
/// - `redis+sentinel://[user:password@]host[:port],.../service[/database]`
/// - `redis+cluster://[user:password@]host[:port],...`
/// - `nats://[user:password@]host[:port],...` or `nats://token@host`; `tls://` instead demands TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct BrokerUrl {
    scheme: &'static str,
    /// What it speaks.
    pub dialect: Dialect,
    /// Whether TLS is demanded. A NATS server that demands it gets it in any case.
    pub tls: bool,
    pub(super) topology: Topology,
    /// The servers (or Sentinels): at least one.
    pub hosts: Vec<Host>,
    /// What the Sentinels call the master; empty without them.
    pub service: String,
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
        write!(f, "{}://", self.scheme)?;
        for (at, host) in self.hosts.iter().enumerate() {
            write!(f, "{}{host}", if at == 0 { "" } else { "," })?;
        }
        if self.service.is_empty() { Ok(()) } else { write!(f, "/{}", self.service) }
    }
}

impl BrokerUrl {
    /// Reads a URL. The error says what is wrong with it, and never repeats it: it may hold a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = text.split_once("://").and_then(|(scheme, rest)| {
            SCHEMES
                .iter()
                .find(|(name, ..)| *name == scheme)
                .map(|&(name, dialect, tls, topology)| (name, dialect, tls, topology, rest))
        });
        let Some((scheme, dialect, tls, topology, rest)) = known else {
            return Err(
                "the URL of a broker begins with redis://, rediss:// (TLS), redis+sentinel://, redis+cluster://, \
                nats:// or tls:// (NATS with TLS)"
                    .to_owned(),
            );
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
        let port = default_port(dialect, topology);
        let hosts: Vec<Host> = authority.split(',').map(|host| read_host(host, port)).collect::<Result<_, _>>()?;
        if topology == Topology::Single && hosts.len() > 1 {
            return Err(
                "several hosts in the URL of a broker are for redis+sentinel://, redis+cluster:// and nats://: \
                servers that know nothing of each other would not share their messages"
                    .to_owned(),
            );
        }
        if hosts.len() > MAX_HOSTS {
            return Err(format!("the URL of a broker has at most {MAX_HOSTS} hosts"));
        }
        let (user, secret) = login.map_or(Ok((String::new(), None)), |login| user_and_secret(login, dialect))?;
        let (service, path) = match topology {
            Topology::Sentinels => read_service(path)?,
            _ => (String::new(), path),
        };
        let database = database(path, dialect)?;
        Ok(Self { scheme, dialect, tls, topology, hosts, service, user, secret, database })
    }
}

/// The port of a host that the URL gives none for.
fn default_port(dialect: Dialect, topology: Topology) -> u16 {
    match (dialect, topology) {
        (Dialect::Redis, Topology::Sentinels) => 26379,
        (Dialect::Redis, _) => 6379,
        (Dialect::Nats, _) => 4222,
    }
}

fn read_host(text: &str, usual: u16) -> Result<Host, String> {
    let (name, port) = if let Some(rest) = text.strip_prefix('[') {
        let (name, after) = rest.split_once(']').ok_or("the URL of the broker has a [ without a ]")?;
        (name, after.strip_prefix(':').or_else(|| after.is_empty().then_some("")))
    } else if let Some((name, port)) = text.rsplit_once(':') {
        if name.contains(':') {
            return Err("an IPv6 address in the URL of a broker stands in brackets: redis://[::1]:6379".to_owned());
        }
        (name, Some(port))
    } else {
        (text, Some(""))
    };
    if name.is_empty() {
        return Err("the URL of the broker has no host: redis://host:port or nats://host:port".to_owned());
    }
    let port = match port {
        Some("") => usual,
        Some(port) => match port.parse() {
            Ok(port) if port != 0 => port,
            _ => return Err("the port in the URL of the broker must be a number from 1 to 65535".to_owned()),
        },
        None => return Err("after the ] in the URL of the broker comes a colon and the port".to_owned()),
    };
    Ok(Host { name: name.to_owned(), port })
}

/// The service of `/service[/database]`, and what is left.
fn read_service(path: &str) -> Result<(String, &str), String> {
    let (service, database) = path.split_once('/').unwrap_or((path, ""));
    if service.is_empty() {
        return Err("after the Sentinels comes the name of the master: redis+sentinel://host:26379/mymaster".to_owned());
    }
    Ok((decode(service)?, database))
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
        let [host] = <[Host; 1]>::try_from(url.hosts).unwrap();
        (host.name, host.port, url.user, url.secret, url.database)
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
    fn several_hosts_schemes_and_services_are_read() {
        for (text, shown, tls, topology, service) in [
            ("rediss://h", "rediss://h:6379", true, Topology::Single, ""),
            (
                "redis+sentinel://u:p@a,b:1,[::1]/my%20master/2",
                "redis+sentinel://a:26379,b:1,[::1]:26379/my master",
                false,
                Topology::Sentinels,
                "my master",
            ),
            ("rediss+cluster://a,b:7001", "rediss+cluster://a:6379,b:7001", true, Topology::Any, ""),
            ("nats://t@a,b", "nats://a:4222,b:4222", false, Topology::Any, ""),
            ("tls://a", "tls://a:4222", true, Topology::Any, ""),
        ] {
            let url = BrokerUrl::parse(text).unwrap();
            assert_eq!(
                (url.to_string(), url.tls, url.topology, &*url.service),
                (shown.to_owned(), tls, topology, service)
            );
        }
        assert_eq!(BrokerUrl::parse("redis+sentinel://a/m/3").unwrap().database, 3);
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
            ("redis://a,b", "several hosts"),
            ("redis+sentinel://h", "name of the master"),
            ("redis+sentinel://h/m/x", "number of a database"),
            ("nats://a,,b", "no host"),
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
