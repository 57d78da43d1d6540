//! Names to addresses, by the system's resolver on other threads.

use std::cell::RefCell;
use std::ffi::{CString, c_int};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use apus_zend::{Array, Call, Raise, Value};
use tokio::sync::Semaphore;

use super::failure::{RESOLVE_FAILED, RESOLVE_TIMEOUT, give, name, waited};
use crate::runtime::State;
use crate::wait::time_limit;

/// Lookups at once in a process: each takes a thread for as long as the resolver takes, waited for or not.
const LOOKUPS: usize = 64;

thread_local! {
    /// The places of a process: those of a forked process's parent are taken for good.
    static PLACES: RefCell<Option<(u32, Arc<Semaphore>)>> = const { RefCell::new(None) };
}

fn places() -> Arc<Semaphore> {
    let me = std::process::id();
    PLACES.with(|places| {
        let mut places = places.borrow_mut();
        match &*places {
            Some((process, semaphore)) if *process == me => Arc::clone(semaphore),
            _ => Arc::clone(&places.insert((me, Arc::new(Semaphore::new(LOOKUPS)))).1),
        }
    })
}

/// What is asked of the resolver.
struct Query {
    host: CString,
    service: Option<CString>,
    family: c_int,
    kind: c_int,
    protocol: c_int,
}

/// What the resolver answered, freed when dropped.
struct Answer(NonNull<libc::addrinfo>);

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: made by getaddrinfo, freed once.
        unsafe { libc::freeaddrinfo(self.0.as_ptr()) };
    }
}

impl Answer {
    fn addresses(&self) -> Vec<IpAddr> {
        let mut found = Vec::new();
        let mut next = Some(self.0);
        while let Some(entry) = next {
            // SAFETY: the list lives as long as self; each entry's address is of the family that it tells.
            unsafe {
                let entry = entry.as_ref();
                match entry.ai_family {
                    libc::AF_INET if !entry.ai_addr.is_null() => {
                        let address = entry.ai_addr.cast::<libc::sockaddr_in>().read_unaligned();
                        found.push(IpAddr::from(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr))));
                    }
                    libc::AF_INET6 if !entry.ai_addr.is_null() => {
                        let address = entry.ai_addr.cast::<libc::sockaddr_in6>().read_unaligned();
                        found.push(IpAddr::from(Ipv6Addr::from(address.sin6_addr.s6_addr)));
                    }
                    _ => {}
                }
                next = NonNull::new(entry.ai_next);
            }
        }
        found
    }
}

impl Query {
    /// Asks the resolver; blocks.
    fn ask(&self) -> Result<Vec<IpAddr>, c_int> {
        // SAFETY: all zeroes are the defaults of a hint.
        let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
        hints.ai_family = self.family;
        hints.ai_socktype = self.kind;
        hints.ai_protocol = self.protocol;
        let service = self.service.as_ref().map_or(std::ptr::null(), |service| service.as_ptr());
        let mut list = std::ptr::null_mut();
        // SAFETY: the texts end in NUL and outlive the call; the out pointer is local.
        let failed = unsafe { libc::getaddrinfo(self.host.as_ptr(), service, &raw const hints, &raw mut list) };
        match (failed, NonNull::new(list)) {
            (0, Some(list)) => Ok(Answer(list).addresses()),
            (libc::EAI_AGAIN, _) => Err(RESOLVE_TIMEOUT),
            _ => Err(RESOLVE_FAILED),
        }
    }

    /// The address that the name spells itself; it needs no resolver.
    fn spelled(&self) -> Option<IpAddr> {
        let address: IpAddr = self.host.to_str().ok()?.parse().ok()?;
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        (family == self.family && self.service.is_none()).then_some(address)
    }

    /// Asks on another thread, where a place is kept until the answer is there, even when nobody waits any more.
    async fn run(self) -> Result<Vec<IpAddr>, c_int> {
        if let Some(address) = self.spelled() {
            return Ok(vec![address]);
        }
        let place = places().acquire_owned().await.map_err(|_| libc::ECANCELED)?;
        let job = tokio::task::spawn_blocking(move || {
            let answer = self.ask();
            drop(place);
            answer
        });
        let found = job.await.map_err(|_| libc::EIO)??;
        if found.is_empty() { Err(RESOLVE_FAILED) } else { Ok(found) }
    }
}

fn text(bytes: &[u8]) -> CString {
    // The callers have refused NUL.
    CString::new(bytes).unwrap_or_default()
}

fn family(call: &Call, index: usize) -> Result<c_int, Raise> {
    let given = call.int(index, i64::from(libc::AF_INET))?;
    match c_int::try_from(given) {
        Ok(family @ (libc::AF_INET | libc::AF_INET6)) => Ok(family),
        _ => Err(call.value_error(
            index,
            &format!("must be AF_INET ({}) or AF_INET6 ({}), {given} given", libc::AF_INET, libc::AF_INET6),
        )),
    }
}

fn look_up(what: &'static str, limit: Option<Duration>, query: Query) -> Result<Result<Vec<IpAddr>, c_int>, Raise> {
    let found = waited(&*State::get()?, what, limit, query.run())?;
    Ok(found.map_err(|code| if code == libc::ETIMEDOUT { RESOLVE_TIMEOUT } else { code }))
}

fn first(call: &Call, what: &'static str, family: c_int, limit: Option<Duration>) -> Result<(), Raise> {
    let query = Query { host: text(name(call, 0)?), service: None, family, kind: libc::SOCK_STREAM, protocol: 0 };
    let found = match look_up(what, limit, query)? {
        Ok(found) => match found.first() {
            Some(address) => Ok(Value::string(address.to_string().as_bytes())?),
            None => Err(RESOLVE_FAILED),
        },
        Err(code) => Err(code),
    };
    give(call, found)
}

/// `System::gethostbyname()`.
pub(super) fn gethostbyname(call: &Call) -> Result<(), Raise> {
    let family = family(call, 1)?;
    let limit = time_limit(call, 2, -1.0)?;
    first(call, "Coroutine\\System::gethostbyname()", family, limit)
}

/// `System::dnsLookup()`.
pub(super) fn dns_lookup(call: &Call) -> Result<(), Raise> {
    let limit = time_limit(call, 1, 60.0)?;
    let family = family(call, 2)?;
    first(call, "Coroutine\\System::dnsLookup()", family, limit)
}

/// `System::getaddrinfo()`.
pub(super) fn getaddrinfo(call: &Call) -> Result<(), Raise> {
    let host = text(name(call, 0)?);
    let family = family(call, 1)?;
    let number = |index: usize, default: c_int| {
        let given = call.int(index, i64::from(default))?;
        c_int::try_from(given).map_err(|_| call.value_error(index, &format!("must be a small number, {given} given")))
    };
    let (kind, protocol) = (number(2, libc::SOCK_STREAM)?, number(3, libc::IPPROTO_TCP)?);
    let service = call.opt_bytes(4)?.filter(|service| !service.is_empty());
    if service.is_some_and(|service| service.contains(&0)) {
        return Err(call.value_error(4, "must not contain any null bytes"));
    }
    let limit = time_limit(call, 5, -1.0)?;
    let query = Query { host, service: service.map(text), family, kind, protocol };
    let found = match look_up("Coroutine\\System::getaddrinfo()", limit, query)? {
        Ok(found) => {
            let mut array = Array::new(found.len())?;
            for address in found {
                array.push(Value::string(address.to_string().as_bytes())?)?;
            }
            Ok(Value::from(array))
        }
        Err(code) => Err(code),
    };
    give(call, found)
}
