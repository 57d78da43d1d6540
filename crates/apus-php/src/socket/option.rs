//! `getOption()` and `setOption()`: the options of socket(7), in the forms that PHP's sockets extension gives them.

use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd as _;

use apus_zend::arg::Any;
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value};

use super::core::Sock;
use super::fault::Outcome;
use super::multicast;
use crate::swoole::{There, there};
use crate::wait::Timeout;

/// What an option holds.
enum Shape {
    /// A number.
    Int,
    /// `['l_onoff' => int, 'l_linger' => int]`.
    Linger,
    /// `['sec' => int, 'usec' => int]`: the socket's own limits of time, which waits in coroutines keep, too.
    Time,
    /// Bytes.
    Text,
    /// Whether or not, or a number, out of these.
    Among(std::ops::RangeInclusive<i64>),
    Switch,
    /// An interface, which is told by its number.
    Interface,
    /// Groups of addresses, with a source or without.
    Group {
        with_source: bool,
    },
    /// Where packets come from.
    PacketInfo,
    /// What the kernel knows of a connection of TCP.
    Connection,
}

fn shape(level: i32, name: i32) -> Shape {
    match (level, name) {
        (libc::SOL_SOCKET, libc::SO_LINGER) => Shape::Linger,
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO) => Shape::Time,
        (libc::SOL_SOCKET, libc::SO_BINDTODEVICE) | (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => Shape::Text,
        (libc::IPPROTO_IP | libc::IPPROTO_IPV6, multicast::MCAST_JOIN_GROUP | multicast::MCAST_LEAVE_GROUP) => {
            Shape::Group { with_source: false }
        }
        (
            libc::IPPROTO_IP | libc::IPPROTO_IPV6,
            multicast::MCAST_BLOCK_SOURCE
            | multicast::MCAST_UNBLOCK_SOURCE
            | multicast::MCAST_JOIN_SOURCE_GROUP
            | multicast::MCAST_LEAVE_SOURCE_GROUP,
        ) => Shape::Group { with_source: true },
        (libc::IPPROTO_IP, libc::IP_MULTICAST_IF) | (libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_IF) => Shape::Interface,
        (libc::IPPROTO_IP, libc::IP_MULTICAST_TTL) => Shape::Among(0..=255),
        (libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_HOPS) => Shape::Among(-1..=255),
        (libc::IPPROTO_IP, libc::IP_MULTICAST_LOOP) | (libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_LOOP) => Shape::Switch,
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => Shape::PacketInfo,
        (libc::IPPROTO_TCP, libc::TCP_INFO) => Shape::Connection,
        _ => Shape::Int,
    }
}

fn raw_get(sock: &Sock, level: i32, name: i32, into: &mut [u8]) -> Outcome<usize> {
    let descriptor = sock.descriptor()?;
    let mut len = into.len() as libc::socklen_t;
    let fd = descriptor.socket().as_raw_fd();
    // SAFETY: the kernel writes at most `len` bytes into memory that is ours alone.
    let status = unsafe { libc::getsockopt(fd, level, name, into.as_mut_ptr().cast(), &raw mut len) };
    if status == 0 { Ok(len as usize) } else { Err(io::Error::last_os_error().into()) }
}

fn raw_set(sock: &Sock, level: i32, name: i32, bytes: &[u8]) -> Outcome<()> {
    let descriptor = sock.descriptor()?;
    let fd = descriptor.socket().as_raw_fd();
    // SAFETY: the kernel reads `bytes.len()` bytes.
    let status = unsafe { libc::setsockopt(fd, level, name, bytes.as_ptr().cast(), bytes.len() as libc::socklen_t) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error().into()) }
}

fn get_int(sock: &Sock, level: i32, name: i32) -> Outcome<i64> {
    let mut bytes = [0; size_of::<i32>()];
    // Some options fill one byte only.
    Ok(match raw_get(sock, level, name, &mut bytes)? {
        1 => i64::from(bytes[0]),
        _ => i64::from(i32::from_ne_bytes(bytes)),
    })
}

/// The single bytes at the beginning of the kernel's `struct tcp_info`, two of which hold smaller numbers.
const TCP_BYTES: [&str; 6] = ["state", "ca_state", "retransmits", "probes", "backoff", "options"];
/// Where its numbers of 32 bits begin, and their names.
const TCP_NUMBERS_AT: usize = 8;
const TCP_NUMBERS: [&str; 24] = [
    "rto",
    "ato",
    "snd_mss",
    "rcv_mss",
    "unacked",
    "sacked",
    "lost",
    "retrans",
    "fackets",
    "last_data_sent",
    "last_ack_sent",
    "last_data_recv",
    "last_ack_recv",
    "pmtu",
    "rcv_ssthresh",
    "rtt",
    "rttvar",
    "snd_ssthresh",
    "snd_cwnd",
    "advmss",
    "reordering",
    "rcv_rtt",
    "rcv_space",
    "total_retrans",
];

/// What the kernel knows of a connection of TCP, as far as it tells.
fn connection(sock: &Sock) -> Result<Outcome<Value>, Raise> {
    let mut bytes = [0; TCP_NUMBERS_AT + TCP_NUMBERS.len() * size_of::<u32>()];
    let told = match raw_get(sock, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes) {
        Ok(len) => &bytes[..len],
        Err(fault) => return Ok(Err(fault)),
    };
    let mut array = Array::new(TCP_BYTES.len() + TCP_NUMBERS.len())?;
    for (name, byte) in TCP_BYTES.iter().zip(told) {
        array.set(name.as_bytes(), Value::int(i64::from(*byte)))?;
    }
    let (numbers, _) = told.get(TCP_NUMBERS_AT..).unwrap_or_default().as_chunks();
    for (name, number) in TCP_NUMBERS.iter().zip(numbers) {
        array.set(name.as_bytes(), Value::int(i64::from(u32::from_ne_bytes(*number))))?;
    }
    Ok(Ok(array.into()))
}

/// The value of an option.
pub(super) fn get(sock: &Sock, level: i32, name: i32) -> Result<Outcome<Value>, Raise> {
    match shape(level, name) {
        Shape::Interface if level == libc::IPPROTO_IP => {
            let mut bytes = [0; size_of::<u32>()];
            let read = raw_get(sock, level, name, &mut bytes);
            Ok(read.and_then(|_| multicast::interface_with(bytes.into())).map(|index| Value::int(i64::from(index))))
        }
        // The kernel has no array to tell of the others.
        Shape::Int | Shape::Among(_) | Shape::Switch | Shape::Interface | Shape::Group { .. } | Shape::PacketInfo => {
            Ok(get_int(sock, level, name).map(Value::int))
        }
        Shape::Connection => connection(sock),
        Shape::Text => {
            let mut bytes = [0; 256];
            Ok(match raw_get(sock, level, name, &mut bytes) {
                Ok(len) => Ok(Value::string(bytes[..len].split(|&b| b == 0).next().unwrap_or_default())?),
                Err(fault) => Err(fault),
            })
        }
        Shape::Linger => {
            let mut bytes = [0; 2 * size_of::<i32>()];
            if let Err(fault) = raw_get(sock, level, name, &mut bytes) {
                return Ok(Err(fault));
            }
            let (on, seconds) = bytes.split_at(size_of::<i32>());
            let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |chunk| i64::from(i32::from_ne_bytes(*chunk)));
            pair((b"l_onoff", number(on)), (b"l_linger", number(seconds)))
        }
        Shape::Time => {
            let limits = sock.limits.get();
            let own = if name == libc::SO_RCVTIMEO { limits.read } else { limits.write };
            let limit = own.and_then(Timeout::limit).unwrap_or_default();
            pair((b"sec", limit.as_secs() as i64), (b"usec", i64::from(limit.subsec_micros())))
        }
    }
}

fn pair(first: (&[u8], i64), second: (&[u8], i64)) -> Result<Outcome<Value>, Raise> {
    let mut array = Array::new(2)?;
    array.set_int(first.0, first.1)?;
    array.set_int(second.0, second.1)?;
    Ok(Ok(array.into()))
}

/// Two numbers out of an array argument.
fn two(given: Any<'_>, first: &str, second: &str) -> Result<(i64, i64), Raise> {
    let View::Array(array) = given.view() else {
        return Err(given.type_error("of type array for this option"));
    };
    match (array.get(first), array.get(second)) {
        (Some(View::Int(a)), Some(View::Int(b))) => Ok((a, b)),
        (None, _) => Err(multicast::no_key(given, first)),
        (_, None) => Err(multicast::no_key(given, second)),
        _ => Err(given.value_error(&format!("must have the integers \"{first}\" and \"{second}\""))),
    }
}

/// Sets an option to what an argument holds.
pub(super) fn set(sock: &Sock, level: i32, name: i32, given: Any<'_>) -> Result<Outcome<()>, Raise> {
    match shape(level, name) {
        Shape::Int | Shape::Connection => {
            let value = given.int()?;
            let Ok(value) = i32::try_from(value) else {
                return Err(given.value_error("must fit in 32 bits"));
            };
            Ok(raw_set(sock, level, name, &value.to_ne_bytes()))
        }
        Shape::Text => Ok(raw_set(sock, level, name, given.bytes()?)),
        Shape::Among(range) => {
            let value = given.int()?;
            if !range.contains(&value) {
                let text = format!("a value between {} and {}", range.start(), range.end());
                return Err(there(
                    given.value_error(&format!("must be {text}")),
                    There::Text(format!("Expected {text}")),
                ));
            }
            Ok(raw_set(sock, level, name, &(value as i32).to_ne_bytes()))
        }
        Shape::Switch => {
            let on = if let View::Bool(on) = given.view() { on } else { given.int()? != 0 };
            Ok(raw_set(sock, level, name, &i32::from(on).to_ne_bytes()))
        }
        Shape::Interface => {
            let index = multicast::interface(given)?;
            Ok(index.and_then(|index| match level {
                libc::IPPROTO_IP => raw_set(sock, level, name, &multicast::address_of(index)?.octets()),
                _ => raw_set(sock, level, name, &index.to_ne_bytes()),
            }))
        }
        Shape::Group { with_source } => {
            Ok(multicast::group(given, with_source)?.and_then(|bytes| raw_set(sock, level, name, &bytes)))
        }
        Shape::PacketInfo => Ok(multicast::packet_info(given)?.and_then(|bytes| raw_set(sock, level, name, &bytes))),
        Shape::Linger => {
            let (on, seconds) = two(given, "l_onoff", "l_linger")?;
            let bytes = [(on as i32).to_ne_bytes(), (seconds as i32).to_ne_bytes()].concat();
            Ok(raw_set(sock, level, name, &bytes))
        }
        Shape::Time => {
            let (seconds, micros) = two(given, "sec", "usec")?;
            if seconds < 0 || !(0..1_000_000).contains(&micros) {
                return Err(given.value_error("must have a \"sec\" of 0 or more and a \"usec\" below 1000000"));
            }
            let total = seconds as f64 + micros as f64 / 1e6;
            let mut limits = sock.limits.get();
            // 0 is no limit, as socket(7) has it.
            let own = Some(if total == 0.0 { Timeout::NEVER } else { Timeout::of_setting(total) });
            if name == libc::SO_RCVTIMEO {
                limits.read = own;
            } else {
                limits.write = own;
            }
            sock.limits.set(limits);
            Ok(Ok(()))
        }
    }
}
