//! Between a value in its kind's own form and the typed field of `Settings`.

use std::time::Duration;

use crate::value::Value;

/// A type a field of `Settings` may have. `load` is given only values that `coerce` made for the row of that field; it
/// answers `None` when the field's type cannot hold one that the row's limits allow, which a test rules out.
pub(crate) trait Field: Sized {
    fn load(value: &Value) -> Option<Self>;
    fn show(&self) -> Value;
}

macro_rules! whole_number {
    ($($int:ty),*) => {$(
        impl Field for $int {
            fn load(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(n) => <$int>::try_from(*n).ok(),
                    _ => None,
                }
            }

            fn show(&self) -> Value {
                Value::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

whole_number!(u8, u16, u32, u64, usize, i64);

macro_rules! as_it_is {
    ($($type:ty => $kind:ident),*) => {$(
        impl Field for $type {
            fn load(value: &Value) -> Option<Self> {
                match value {
                    Value::$kind(value) => Some(value.clone()),
                    _ => None,
                }
            }

            fn show(&self) -> Value {
                Value::$kind(self.clone())
            }
        }
    )*};
}

as_it_is!(bool => Bool, f64 => Float, String => Str);

impl Field for Duration {
    fn load(value: &Value) -> Option<Self> {
        match value {
            Value::Float(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::Float(self.as_secs_f64())
    }
}

/// A time-out, which there may be none of: -1, or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(Option<Duration>);

impl Limit {
    /// No limit.
    pub const NONE: Self = Self(None);

    /// A limit of so many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Some(Duration::from_secs(seconds)))
    }

    /// This limit, or the other one where this is 0.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.0.is_some_and(|time| time.is_zero()) { other } else { self }
    }

    /// The time, if there is a limit.
    pub fn get(self) -> Option<Duration> {
        self.0.filter(|time| !time.is_zero())
    }
}

impl Field for Limit {
    fn load(value: &Value) -> Option<Self> {
        match value {
            Value::Float(seconds) if *seconds < 0.0 => Some(Self::NONE),
            Value::Float(seconds) => Duration::try_from_secs_f64(*seconds).ok().map(|time| Self(Some(time))),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::Float(self.0.map_or(-1.0, |time| time.as_secs_f64()))
    }
}

impl Field for Vec<u32> {
    fn load(value: &Value) -> Option<Self> {
        match value {
            Value::List(items) => items.iter().map(u32::load).collect(),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::List(self.iter().map(|n| Value::Int(i64::from(*n))).collect())
    }
}

impl Field for Vec<String> {
    fn load(value: &Value) -> Option<Self> {
        match value {
            Value::List(items) => items.iter().map(String::load).collect(),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::List(self.iter().map(String::show).collect())
    }
}

impl Field for Vec<(String, String)> {
    fn load(value: &Value) -> Option<Self> {
        match value {
            Value::Map(items) => items.iter().map(|(name, text)| Some((name.clone(), String::load(text)?))).collect(),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::Map(self.iter().map(|(name, text)| (name.clone(), text.show())).collect())
    }
}

/// A certificate for clients that ask for one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCertificate {
    /// The host's name; `*.` begins a wildcard.
    pub host: String,
    /// PEM file of the certificate and its chain.
    pub cert_file: String,
    /// PEM file of its key.
    pub key_file: String,
    /// What the key is encrypted with; empty where it is not.
    pub passphrase: String,
    /// DER file of an OCSP response that is stapled to it; empty for none.
    pub stapling_file: String,
}

impl Field for Vec<HostCertificate> {
    fn load(value: &Value) -> Option<Self> {
        let Value::Map(hosts) = value else { return None };
        let one = |(host, given): &(String, Value)| {
            let Value::Map(given) = given else { return None };
            let text = |wanted: &str| {
                given
                    .iter()
                    .find(|(name, _)| name == wanted)
                    .and_then(|(_, value)| String::load(value))
                    .unwrap_or_default()
            };
            let cert_file = text("ssl_cert_file");
            let key_file =
                Some(text("ssl_key_file")).filter(|file| !file.is_empty()).unwrap_or_else(|| cert_file.clone());
            let (passphrase, stapling_file) = (text("ssl_passphrase"), text("ssl_stapling_file"));
            Some(HostCertificate { host: host.clone(), cert_file, key_file, passphrase, stapling_file })
        };
        hosts.iter().map(one).collect()
    }

    fn show(&self) -> Value {
        let one = |certificate: &HostCertificate| {
            let HostCertificate { host, cert_file, key_file, passphrase, stapling_file } = certificate;
            let mut given = vec![("ssl_cert_file", cert_file), ("ssl_key_file", key_file)];
            if !passphrase.is_empty() {
                given.push(("ssl_passphrase", passphrase));
            }
            if !stapling_file.is_empty() {
                given.push(("ssl_stapling_file", stapling_file));
            }
            let given = given.into_iter().map(|(name, text)| (name.to_owned(), Value::Str(text.clone()))).collect();
            (host.clone(), Value::Map(given))
        };
        Value::Map(self.iter().map(one).collect())
    }
}
