//! Lists of networks: addresses and prefixes.

use std::net::IpAddr;

use crate::field::Field;
use crate::value::Value;

/// Addresses and prefixes (`192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`), and `unix` for the clients of Unix sockets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks {
    given: Vec<String>,
    unix: bool,
    ranges: Vec<Range>,
}

/// An address as one of IPv6, and how many of its bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    base: u128,
    bits: u32,
}

impl Networks {
    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Whether an address is in one; `None` is the client of a Unix socket.
    pub fn contain(&self, address: Option<IpAddr>) -> bool {
        let Some(address) = address else { return self.unix };
        let address = as_v6(address);
        self.ranges.iter().any(|range| prefix(address, range.bits) == range.base)
    }

    fn add(&mut self, text: &str) -> Option<()> {
        let name = text.trim();
        if name == "unix" || name == "unix:" {
            self.unix = true;
        } else {
            let (address, bits) = match name.split_once('/') {
                Some((address, bits)) => (address, Some(bits)),
                None => (name, None),
            };
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = match bits {
                Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => bits.parse().ok()?,
                Some(_) => return None,
                None => most,
            };
            let bits = 128 - most + Some(bits).filter(|bits| *bits <= most)?;
            self.ranges.push(Range { base: prefix(as_v6(address), bits), bits });
        }
        self.given.push(name.to_owned());
        Some(())
    }

    /// Whether a text names a network.
    pub(crate) fn is_network(text: &str) -> bool {
        Self::default().add(text).is_some()
    }
}

fn as_v6(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The first bits of an address.
fn prefix(address: u128, bits: u32) -> u128 {
    if bits == 0 { 0 } else { address & (u128::MAX << (128 - bits)) }
}

impl Field for Networks {
    fn load(value: &Value) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let mut networks = Self::default();
        for item in items {
            networks.add(&String::load(item)?)?;
        }
        Some(networks)
    }

    fn show(&self) -> Value {
        Value::List(self.given.iter().map(String::show).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[&str]) -> Networks {
        Networks::load(&Value::List(given.iter().map(|text| Value::Str((*text).to_owned())).collect())).unwrap()
    }

    #[test]
    fn an_address_is_in_its_prefix() {
        let networks = of(&["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "unix"]);
        for inside in ["10.255.1.2", "192.0.2.7", "2001:db8:ffff::1", "::ffff:10.0.0.1"] {
            assert!(networks.contain(Some(inside.parse().unwrap())), "{inside}");
        }
        for outside in ["11.0.0.1", "192.0.2.8", "2001:db9::", "::1", "::a00:1"] {
            assert!(!networks.contain(Some(outside.parse().unwrap())), "{outside}");
        }
        assert!(networks.contain(None) && !of(&["0.0.0.0/0"]).contain(None));
        assert!(of(&["0.0.0.0/0"]).contain(Some("8.8.8.8".parse().unwrap())));
        assert!(!of(&["0.0.0.0/0"]).contain(Some("2001::".parse().unwrap())));
        assert!(of(&["::/0"]).contain(Some("8.8.8.8".parse().unwrap())));
    }

    #[test]
    fn other_texts_are_no_networks() {
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "host", "10.0.0.0/-1", "10.0.0.0/+8", "1.2.3.4/"] {
            assert!(!Networks::is_network(wrong), "{wrong}");
        }
    }
}
