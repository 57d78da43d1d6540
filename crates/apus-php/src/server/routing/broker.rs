//! From the settings of a server to those of its broker's client.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use apus_client::broker::{BrokerOptions, BrokerUrl, Credentials, Report};
use apus_client::tls::{self, TlsOptions};
use apus_options::Settings;
use apus_process::log;

/// What proves to NATS who we are: read in the master, whose user may read more than that of the workers.
static CREDENTIALS: Mutex<Option<Arc<Credentials>>> = Mutex::new(None);

fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

fn tls_options(settings: &Settings) -> TlsOptions {
    TlsOptions {
        verify_peer: settings.broker_ssl_verify_peer,
        verify_name: settings.broker_ssl_verify_peer,
        allow_self_signed: settings.broker_ssl_allow_self_signed,
        ca_file: path(&settings.broker_ssl_cafile),
        cert_file: path(&settings.broker_ssl_cert_file),
        key_file: path(&settings.broker_ssl_key_file).or_else(|| path(&settings.broker_ssl_cert_file)),
        ..TlsOptions::default()
    }
}

/// In the master, before the first fork: looks at the settings, and reads the files that they name.
pub(super) fn prepare(settings: &Settings) -> Result<(), String> {
    let url = BrokerUrl::parse(&settings.broker).map_err(|why| format!("setting \"broker\": {why}"))?;
    let options = tls_options(settings);
    // What is read here need not be readable for the workers. A server of NATS may demand TLS unasked.
    if url.tls || options != TlsOptions::default() {
        tls::prepare(&options, false)
            .map_err(|why| format!("setting \"broker\": {}", in_our_words(&why.to_string())))?;
    }
    let credentials = match &*settings.broker_credentials {
        "" => None,
        file => {
            let read = Credentials::read(Path::new(file));
            Some(Arc::new(read.map_err(|why| format!("setting \"broker_credentials\": {why}"))?))
        }
    };
    *CREDENTIALS.lock().unwrap_or_else(PoisonError::into_inner) = credentials;
    Ok(())
}

/// The client's hints name the client's settings; the broker's have the same names behind `broker_`.
fn in_our_words(text: &str) -> String {
    text.replace("ssl_", "broker_ssl_")
}

/// The client's options: `room` bytes may wait in each direction. `connected` hears that there is a connection.
pub(super) fn options(
    settings: &Settings,
    shown: String,
    room: usize,
    connected: impl Fn() + 'static,
) -> BrokerOptions {
    let heard = move |what: &Report| {
        report(&shown, what);
        if matches!(what, Report::Connected | Report::Reconnected(_)) {
            connected();
        }
    };
    let (user, password) = (&settings.broker_sentinel_user, &settings.broker_sentinel_password);
    BrokerOptions {
        max_queued: room,
        max_received: room,
        tls: tls_options(settings),
        tls_name: (!settings.broker_ssl_host_name.is_empty()).then(|| settings.broker_ssl_host_name.clone()),
        credentials: CREDENTIALS.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        sentinel_login: (!password.is_empty()).then(|| (user.clone(), password.clone())),
        report: Rc::new(heard),
        ..BrokerOptions::default()
    }
}

fn report(url: &str, report: &Report) {
    match report {
        Report::Connected => log::notice(format_args!("broker {url}: connected")),
        Report::Reconnected(gap) => log::warning(format_args!(
            "broker {url}: connected again after {}; what other servers sent meanwhile did not come",
            duration(*gap)
        )),
        Report::Lost(why) => log::warning(format_args!(
            "broker {url} is lost: {}; it is tried again, other servers hear nothing meanwhile",
            in_our_words(why)
        )),
        Report::Refused(what) => log::warning(format_args!("broker {url} refuses: {what}")),
        Report::Dropped(count) => {
            log::warning(format_args!("broker {url}: {count} messages for other servers were dropped"));
        }
    }
}

fn duration(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}
