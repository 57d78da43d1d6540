//! Names to addresses, by the system's resolver on other threads.

use std::cell::RefCell;
use std::ffi::{CString, c_int};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::NonNull;
use std::sync::Arc;

use apus_shm::ForkEpoch;
use apus_zend::arg::{Given, Want};
use apus_zend::{Array, Raise, Value};
use tokio::sync::Semaphore;

use super::failure::{Name, Noted, RESOLVE_FAILED, RESOLVE_TIMEOUT, Text, waited};
use crate::runtime::State;
use crate::wait::Timeout;

/// Lookups at once in a process: each takes a thread for as long as the resolver takes, waited for or not.
const LOOKUPS: usize = 64;

thread_local! {
    /// The places of a process: those of a forked process's parent are taken for good.
    static PLACES: RefCell<Option<(ForkEpoch, Arc<Semaphore>)>> = const { RefCell::new(None) };
}

fn places() -> Arc<Semaphore> {
    PLACES.with(|places| {
        let mut places = places.borrow_mut();
        match &*places {
            Some((process, semaphore)) if process.is_now() => Arc::clone(semaphore),
            _ => Arc::clone(&places.insert((ForkEpoch::now(), Arc::new(Semaphore::new(LOOKUPS)))).1),
        }
    })
}

/// What is asked of the resolver.
struct Query {
    host: CString,
    service: Option<CString>,
    family: Family,
    kind: c_int,
    protocol: c_int,
}

/// The IP address in a record of the C library.
///
/// # Safety
/// The record is null, or alive and of the family that it tells.
pub(super) unsafe fn ip_address(raw: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: as promised by the caller; records need not be aligned.
    unsafe {
        match c_int::from(raw.as_ref()?.sa_family) {
            libc::AF_INET => {
                let address = raw.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let address = raw.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
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
        let mut next = self.0.as_ptr().cast_const();
        // SAFETY: the list lives as long as self; each entry's address is of the family that it tells.
        let entry = |at: *const libc::addrinfo| unsafe { at.as_ref().map(|it| (ip_address(it.ai_addr), it.ai_next)) };
        while let Some((address, after)) = entry(next) {
            found.extend(address);
            next = after;
        }
        found
    }
}

impl Query {
    /// Asks the resolver; blocks.
    fn ask(&self) -> Result<Vec<IpAddr>, c_int> {
        let hints = libc::addrinfo {
            ai_flags: 0,
            ai_family: self.family.0,
            ai_socktype: self.kind,
            ai_protocol: self.protocol,
            ai_addrlen: 0,
            ai_addr: std::ptr::null_mut(),
            ai_canonname: std::ptr::null_mut(),
            ai_next: std::ptr::null_mut(),
        };
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
        (self.family.has(address) && self.service.is_none()).then_some(address)
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

/// An argument `int $family`.
#[derive(Clone, Copy)]
pub(crate) struct Family(c_int);

impl Family {
    pub(super) fn has(self, address: IpAddr) -> bool {
        self.0 == if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }
    }
}

impl Want<i64> for Family {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        match c_int::try_from(given.value) {
            Ok(family @ (libc::AF_INET | libc::AF_INET6)) => Ok(Self(family)),
            _ => Err(given.value_error(&format!(
                "must be AF_INET ({}) or AF_INET6 ({}), {} given",
                libc::AF_INET,
                libc::AF_INET6,
                given.value
            ))),
        }
    }
}

/// An argument that is a C int.
pub(crate) struct Small(c_int);

impl Want<i64> for Small {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number("a small number").map(Self)
    }
}

/// An argument `?string $service`; the empty one is none.
pub(crate) struct Service(Option<CString>);

impl Want<Option<&[u8]>> for Service {
    fn want(given: Given<Option<&[u8]>>) -> Result<Self, Raise> {
        let name = given.value.filter(|name| !name.is_empty());
        let name = name.map(|value| Text::want(Given { index: given.index, value })).transpose()?;
        Ok(Self(name.map(|Text(name)| name)))
    }
}

fn look_up(what: &'static str, timeout: Timeout, query: Query) -> Result<Result<Vec<IpAddr>, c_int>, Raise> {
    let found = waited(&*State::get()?, what, timeout.limit(), query.run())?;
    Ok(found.map_err(|code| if code == libc::ETIMEDOUT { RESOLVE_TIMEOUT } else { code }))
}

fn first(what: &'static str, host: Name, family: Family, timeout: Timeout) -> Result<Noted<String>, Raise> {
    let query = Query { host: host.0, service: None, family, kind: libc::SOCK_STREAM, protocol: 0 };
    let found = look_up(what, timeout, query)?;
    Ok(Noted(found.and_then(|found| found.first().map(IpAddr::to_string).ok_or(RESOLVE_FAILED))))
}

/// `System::gethostbyname()`.
pub(crate) fn gethostbyname(host: Name, family: Family, timeout: Timeout) -> Result<Noted<String>, Raise> {
    first("Coroutine\\System::gethostbyname()", host, family, timeout)
}

/// `System::dnsLookup()`.
pub(crate) fn dns_lookup(host: Name, timeout: Timeout, family: Family) -> Result<Noted<String>, Raise> {
    first("Coroutine\\System::dnsLookup()", host, family, timeout)
}

/// The same in code written for Swoole, where a name that nobody tells of in time is one without an address.
pub(crate) fn dns_lookup_there(host: Name, timeout: Timeout, family: Family) -> Result<Noted<String>, Raise> {
    let Noted(found) = dns_lookup(host, timeout, family)?;
    Ok(Noted(found.map_err(|code| if code == RESOLVE_TIMEOUT { RESOLVE_FAILED } else { code })))
}

/// `System::getaddrinfo()` in code written for Swoole, with the number of a wait that is over.
pub(crate) fn getaddrinfo_there(
    host: Name,
    family: Family,
    kind: Small,
    protocol: Small,
    service: Service,
    timeout: Timeout,
) -> Result<Noted<Array>, Raise> {
    const TIMED_OUT: c_int = crate::swoole::error::TIMED_OUT as c_int;
    let Noted(found) = getaddrinfo(host, family, kind, protocol, service, timeout)?;
    Ok(Noted(found.map_err(|code| if code == RESOLVE_TIMEOUT { TIMED_OUT } else { code })))
}

/// `System::getaddrinfo()`.
pub(crate) fn getaddrinfo(
    Name(host): Name,
    family: Family,
    Small(kind): Small,
    Small(protocol): Small,
    Service(service): Service,
    timeout: Timeout,
) -> Result<Noted<Array>, Raise> {
    let query = Query { host, service, family, kind, protocol };
    let found = match look_up("Coroutine\\System::getaddrinfo()", timeout, query)? {
        Ok(found) => found,
        Err(code) => return Ok(Noted(Err(code))),
    };
    let mut array = Array::new(found.len())?;
    for address in found {
        array.push(Value::string(address.to_string().as_bytes())?)?;
    }
    Ok(Noted(Ok(array)))
}
