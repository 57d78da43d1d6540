//! TLS of a server's ports: what their settings ask for, and the files it is made of.
//!
//! The master reads the files, because workers may have given up the right to; workers inherit what it read.

use std::cell::{OnceCell, RefCell};
use std::fmt::Display;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use apus_net::tls::{Choice, Demand, Files, FilesState, ServerTls, TicketSecret, Tickets, TlsError};
use apus_net::{Tls, check_hsts, demand, identities, identity, versions};
use apus_options::Settings;
use apus_process::Parcel;
use apus_process::log::{self, Level, Repeats};
use apus_zend::Raise;

use super::core::ServerCore;
use super::host::HostCore;
use crate::exception;

/// The TLS that settings ask for. `demanded`: by the kind of the socket; `http`: the port says by ALPN what it speaks.
pub(super) fn of(
    settings: &Settings,
    demanded: bool,
    http: bool,
    hosts: &[(Rc<HostCore>, Settings)],
) -> Result<Option<ServerTls>, String> {
    if settings.ssl_cert_file.is_empty() {
        let mut own = hosts.iter().filter(|(host, _)| host.has_certificate());
        if (demanded || settings.open_ssl)
            && let Some((_, of_host)) = own.next()
        {
            let first = Settings {
                ssl_cert_file: of_host.ssl_cert_file.clone(),
                ssl_key_file: of_host.ssl_key_file.clone(),
                ssl_passphrase: of_host.ssl_passphrase.clone(),
                ssl_stapling_file: of_host.ssl_stapling_file.clone(),
                ..settings.clone()
            };
            return of(&first, demanded, http, hosts);
        }
        if http && let Some((cert, key)) = development() {
            let files = Settings { ssl_cert_file: cert, ssl_key_file: key, ..settings.clone() };
            return of(&files, demanded, http, hosts);
        }
        return if demanded || settings.open_ssl {
            Err("a certificate is needed: set ssl_cert_file and ssl_key_file".to_owned())
        } else {
            Ok(None)
        };
    }
    check_hsts(settings)?;
    let own = hosts.iter().filter(|(host, _)| host.has_certificate());
    let of_hosts = own.flat_map(|(host, of_host)| host.names.iter().map(|name| (name.clone(), identity(of_host))));
    Ok(Some(ServerTls {
        identity: identity(settings),
        names: identities(settings).into_iter().chain(of_hosts).collect(),
        versions: versions(settings),
        choice: Choice { ciphers: settings.ssl_ciphers.clone(), curves: settings.ssl_ecdh_curve.clone() },
        demand: demand(settings),
        demands: demands(settings, hosts),
        alpn: if http { protocols(settings) } else { Vec::new() },
    }))
}

/// The names of hosts that demand something else of clients than their port does.
fn demands(settings: &Settings, hosts: &[(Rc<HostCore>, Settings)]) -> Vec<(String, Demand)> {
    let named = |(host, own): &(Rc<HostCore>, Settings)| {
        let demand = demand(own);
        host.names.iter().map(|name| (name.clone(), demand.clone())).collect::<Vec<_>>()
    };
    let all: Vec<_> = hosts.iter().flat_map(named).collect();
    // Where one differs, each name of a host is told: one may lie within the wildcard of another.
    if all.iter().all(|(_, demanded)| *demanded == demand(settings)) { Vec::new() } else { all }
}

/// Which certificate each host shows, and what it demands of clients: 0 is what the port itself does, and those of one
/// number do the same.
pub(super) fn certificates(tls: &ServerTls, hosts: &[(Rc<HostCore>, Settings)]) -> Vec<usize> {
    let mut seen = vec![(&tls.identity, tls.demand.clone())];
    let number = |(host, own): &(Rc<HostCore>, Settings)| {
        let identity = host.names.first().map_or(&tls.identity, |name| tls.identity_of(name));
        let shown = (identity, demand(own));
        seen.iter().position(|known| *known == shown).unwrap_or_else(|| {
            seen.push(shown);
            seen.len() - 1
        })
    };
    hosts.iter().map(number).collect()
}

/// What a port for HTTP speaks, by ALPN, the best first.
fn protocols(settings: &Settings) -> Vec<Vec<u8>> {
    let http2 = settings.open_http2_protocol.then(|| b"h2".to_vec());
    http2.into_iter().chain([b"http/1.1".to_vec()]).collect()
}

/// The certificate that `apus run --tls` serves with, and its key.
fn development() -> Option<(String, String)> {
    Some((std::env::var("APUS_DEVELOPMENT_CERT").ok()?, std::env::var("APUS_DEVELOPMENT_KEY").ok()?))
}

/// The TLS of a server that lives in a coroutine: read and used by one process.
pub(crate) fn alone(settings: &Settings, demanded: bool) -> Result<Option<Tls>, Raise> {
    let Some(tls) = of(settings, demanded, true, &[]).map_err(|why| refused(&why))? else { return Ok(None) };
    let made = || tls.build(&Files::read([&tls])?, &Arc::new(Tickets::new(TicketSecret::draw()?)));
    made().map(|config| Some(Tls::new(config))).map_err(|error| refused(&error))
}

/// What was read of the files that the ports' settings name, and the secret of tickets, which all workers share.
#[derive(Default)]
pub(super) struct ServerCertificates {
    /// From the start on, where a port speaks TLS.
    kept: RefCell<Option<Kept>>,
    /// In a worker: the ports that it serves, and what its tickets are made with.
    served: RefCell<Vec<(ServerTls, Tls)>>,
    tickets: OnceCell<Arc<Tickets>>,
}

struct Kept {
    ports: Vec<ServerTls>,
    files: Files,
    secret: TicketSecret,
    /// How the files looked when they were last read, and at the last look.
    tried: FilesState,
    seen: FilesState,
}

impl ServerCertificates {
    /// Reads the files before the server starts, and sees whether they can be used.
    pub(super) fn prepare(&self, core: &ServerCore) -> Result<(), Raise> {
        let ports = tls_ports(core)?;
        if !ports.is_empty() {
            let secret = TicketSecret::draw().map_err(|error| refused(&error))?;
            let tried = Files::state(&ports);
            let files = usable(&ports, &secret).map_err(|error| refused(&error))?;
            *self.kept.borrow_mut() = Some(Kept { ports, files, secret, seen: tried.clone(), tried });
        }
        Ok(())
    }

    /// Whether a port speaks TLS.
    pub(super) fn any(&self) -> bool {
        self.kept.borrow().is_some()
    }

    /// Reads them anew, in the master: at once where somebody asked for it, else where they look as they did at the
    /// last look but not as when they were read. A certificate and its key are rarely written in one moment. `None`:
    /// they hold what they held.
    pub(super) fn renew(&self, asked: bool) -> Result<Option<Parcel>, String> {
        let mut kept = self.kept.borrow_mut();
        let Some(kept) = kept.as_mut() else { return Ok(None) };
        kept.secret.refresh();
        let state = Files::state(&kept.ports);
        let settled = std::mem::replace(&mut kept.seen, state.clone()) == state;
        if !asked && (!settled || state == kept.tried) {
            return Ok(None);
        }
        kept.tried = state;
        let files = usable(&kept.ports, &kept.secret).map_err(|error| error.to_string())?;
        if files == kept.files {
            return Ok(None);
        }
        let parcel = Parcel::pack(&files.pack()).map_err(|error| format!("workers cannot be given them: {error}"))?;
        kept.files = files;
        Ok(Some(parcel))
    }

    /// The master has read them anew: in a worker, new connections begin with those.
    pub(super) fn replace(&self, parcel: Parcel) -> Result<(), String> {
        let mut kept = self.kept.borrow_mut();
        let Some(kept) = kept.as_mut() else { return Ok(()) };
        let packed = parcel.open().map_err(|error| error.to_string())?;
        kept.files = Files::unpack_wiping(packed).ok_or("what came from the master cannot be read")?;
        let tickets = self.tickets(kept);
        for (settings, tls) in &*self.served.borrow() {
            tls.replace(settings.build(&kept.files, &tickets).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// TLS of a port, in a worker.
    pub(super) fn of_port(&self, settings: &ServerTls) -> Result<Tls, Raise> {
        let kept = self.kept.borrow();
        let Some(kept) = kept.as_ref() else {
            return Err(refused(&"the certificates of the port were not read before the start"));
        };
        let config = settings.build(&kept.files, &self.tickets(kept)).map_err(|error| refused(&error))?;
        let tls = Tls::new(config);
        self.served.borrow_mut().push((settings.clone(), tls.clone()));
        Ok(tls)
    }

    fn tickets(&self, kept: &Kept) -> Arc<Tickets> {
        Arc::clone(self.tickets.get_or_init(|| Arc::new(Tickets::new(kept.secret.clone()))))
    }
}

fn tls_ports(core: &ServerCore) -> Result<Vec<ServerTls>, Raise> {
    let ports = core.ports.borrow().clone();
    let plans = ports.iter().map(|port| port.plan(core).map(|plan| plan.tls.clone()));
    plans.filter_map(Result::transpose).collect()
}

fn usable(ports: &[ServerTls], secret: &TicketSecret) -> Result<Files, TlsError> {
    let (files, tickets) = (Files::read(ports)?, Arc::new(Tickets::new(secret.clone())));
    for port in ports {
        port.build(&files, &tickets)?;
    }
    Ok(files)
}

fn refused(why: &dyn std::fmt::Display) -> Raise {
    exception::throw(exception::code::server::OPTION, &format!("TLS: {why}"))
}

/// `SWOOLE_ERROR_SSL_VERIFY_FAILED`
const VERIFY_FAILED: i64 = 1014;

/// Peers that do not come to speak TLS.
static UNSEALED: Repeats = Repeats::new(Level::Warning, "clients do not come to speak TLS");

/// Tells, where the log has the form of Swoole's, of a peer that did not come to speak TLS.
pub(crate) fn tell_unsealed(fd: i64, peer: (impl Display, u16), error: &io::Error) {
    if log::is_there() {
        tell_unsealed_there(fd, &peer.0, peer.1, error);
    }
}

/// The same in the words there.
pub(crate) fn tell_unsealed_there(fd: i64, ip: &dyn Display, port: u16, error: &io::Error) {
    if let Some((number, why)) = apus_net::tls::unverified(error) {
        // Of clients that show none nothing is said there.
        return log::there(
            if number == 0 { Level::Debug } else { Level::Notice },
            format_args!(
                "Socket::ssl_verify() (ERRNO {VERIFY_FAILED}): can not verify peer from fd#{fd} with error#{number}: {why}"
            ),
        );
    }
    let (reason, why) = match error.get_ref() {
        Some(inner) => (UNKNOWN, inner.to_string()),
        None => (HTTP_REQUEST, "http request".to_owned()),
    };
    UNSEALED
        .tell(format_args!("Socket::ssl_accept(): bad SSL client[{ip}:{port}], reason={reason}, error_string={why}"));
}

/// OpenSSL's number for a client that speaks HTTP.
const HTTP_REQUEST: u32 = 156;
/// For what OpenSSL has no number.
const UNKNOWN: u32 = 0;
