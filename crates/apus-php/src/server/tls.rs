//! TLS of a server's ports: what their settings ask for, and the files it is made of.
//!
//! The master reads the files, because workers may have given up the right to; workers inherit what it read.

use std::cell::RefCell;
use std::path::PathBuf;

use apus_net::Tls;
use apus_net::tls::{Choice, Files, Identity, ServerTls, TicketSecret, TlsError, Versions};
use apus_options::Settings;
use apus_zend::Raise;

use super::core::ServerCore;
use crate::exception;

/// Bits of `ssl_protocols`.
const TLS_1_2: u32 = 1 << 5;
const TLS_1_3: u32 = 1 << 6;

/// The TLS that settings ask for. `demanded`: by the kind of the socket; `http`: the port says by ALPN what it speaks.
pub(super) fn of(settings: &Settings, demanded: bool, http: bool) -> Result<Option<ServerTls>, String> {
    if settings.ssl_cert_file.is_empty() {
        return if demanded || settings.open_ssl {
            Err("a certificate is needed: set ssl_cert_file and ssl_key_file".to_owned())
        } else {
            Ok(None)
        };
    }
    let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
    let cert_file = PathBuf::from(&settings.ssl_cert_file);
    let names = settings.ssl_sni_certs.iter().map(|certificate| {
        let identity = Identity {
            cert_file: PathBuf::from(&certificate.cert_file),
            key_file: PathBuf::from(&certificate.key_file),
            passphrase: certificate.passphrase.clone(),
            stapling_file: None,
        };
        (certificate.host.clone(), identity)
    });
    let any = settings.ssl_protocols == 0;
    Ok(Some(ServerTls {
        identity: Identity {
            key_file: path(&settings.ssl_key_file).unwrap_or_else(|| cert_file.clone()),
            cert_file,
            passphrase: settings.ssl_passphrase.clone(),
            stapling_file: path(&settings.ssl_stapling_file),
        },
        names: names.collect(),
        versions: Versions {
            tls12: any || settings.ssl_protocols & TLS_1_2 != 0,
            tls13: any || settings.ssl_protocols & TLS_1_3 != 0,
        },
        choice: Choice { ciphers: settings.ssl_ciphers.clone(), curves: settings.ssl_ecdh_curve.clone() },
        verify_peer: settings.ssl_verify_peer,
        ca_file: path(&settings.ssl_client_cert_file),
        ca_path: path(&settings.ssl_capath),
        alpn: if http { vec![b"http/1.1".to_vec()] } else { Vec::new() },
    }))
}

/// The TLS of a server that lives in a coroutine: read and used by one process.
pub(crate) fn alone(settings: &Settings, demanded: bool) -> Result<Option<Tls>, Raise> {
    let Some(tls) = of(settings, demanded, true).map_err(|why| refused(&why))? else { return Ok(None) };
    let made = || tls.build(&Files::read([&tls])?, &TicketSecret::draw()?);
    made().map(|config| Some(Tls::new(config))).map_err(|error| refused(&error))
}

/// What was read of the files that the ports' settings name, and the secret of tickets, which all workers share.
#[derive(Default)]
pub(super) struct ServerCertificates {
    read: RefCell<Option<(Files, TicketSecret)>>,
}

impl ServerCertificates {
    /// Reads the files before the server starts, and sees whether they can be used.
    pub(super) fn prepare(&self, core: &ServerCore) -> Result<(), Raise> {
        let ports = tls_ports(core)?;
        if !ports.is_empty() {
            let secret = TicketSecret::draw().map_err(|error| refused(&error))?;
            let files = usable(&ports, &secret).map_err(|error| refused(&error))?;
            *self.read.borrow_mut() = Some((files, secret));
        }
        Ok(())
    }

    /// Reads them anew, in the master, for the workers that it forks from now on. Where they cannot be used, the server
    /// goes on with those that it has.
    pub(super) fn read_again(&self, core: &ServerCore) {
        let Ok(ports) = tls_ports(core) else { return };
        let mut read = self.read.borrow_mut();
        let Some((files, secret)) = read.as_mut() else { return };
        match usable(&ports, secret) {
            Ok(found) if found != *files => {
                *files = found;
                apus_process::log::notice(format_args!("certificates were read anew"));
            }
            Ok(_) => {}
            Err(error) => apus_process::log::error(format_args!(
                "certificates are not replaced, the server goes on with those it has: {error}"
            )),
        }
    }

    /// TLS of a port, in a worker.
    pub(super) fn of_port(&self, tls: &ServerTls) -> Result<Tls, Raise> {
        let read = self.read.borrow();
        let Some((files, secret)) = read.as_ref() else {
            return Err(refused(&"the certificates of the port were not read before the start"));
        };
        tls.build(files, secret).map(Tls::new).map_err(|error| refused(&error))
    }
}

fn tls_ports(core: &ServerCore) -> Result<Vec<ServerTls>, Raise> {
    let ports = core.ports.borrow().clone();
    let plans = ports.iter().map(|port| port.plan(core).map(|plan| plan.tls));
    plans.filter_map(Result::transpose).collect()
}

fn usable(ports: &[ServerTls], secret: &TicketSecret) -> Result<Files, TlsError> {
    let files = Files::read(ports)?;
    for port in ports {
        port.build(&files, secret)?;
    }
    Ok(files)
}

fn refused(why: &dyn std::fmt::Display) -> Raise {
    exception::throw(exception::code::server::OPTION, &format!("TLS: {why}"))
}
