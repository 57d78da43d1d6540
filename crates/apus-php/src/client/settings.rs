//! From settings to what the clients take.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use apus_client::connect::{ConnectOptions, Endpoint};
use apus_client::http::Options;
use apus_client::http2::Http2Options;
use apus_client::proto::websocket::Limits;
use apus_client::proxy::{Proxy, ProxyKind};
use apus_client::tls::TlsOptions;
use apus_client::websocket::WebSocketOptions;
use apus_options::client::http::Settings;
use apus_zend::Raise;
use apus_zend::value::ArrayView;

use crate::convert::pairs;
use crate::exception::{self};
use crate::runtime::State;
use crate::socket::{tls, tolerable};
use crate::swoole::{self, There};
use crate::wait;

/// zlib's level for WebSocket messages: most of the gain for a third of the cost of level 6.
const WEBSOCKET_LEVEL: u32 = 3;
/// How long a server may say nothing where no time-out at all was set.
const IDLE: Duration = Duration::from_secs(60);

/// Applies an array of settings, all or none. `lenient`: by the conventions of Swoole, see [`tolerable`].
pub(super) fn apply(settings: &RefCell<Settings>, given: ArrayView<'_>, lenient: bool) -> Result<(), Raise> {
    let refused = |text: String| exception::throw(exception::code::client::OPTION, &text);
    let given = pairs(given).map_err(refused)?;
    let mut changed = settings.borrow().clone();
    for (name, value) in given {
        match changed.set(&name, &value) {
            // There nothing holds of what comes with this mistake.
            Err(error) if lenient && name != "max_retries" => tolerable(&error)?,
            set => set.map_err(|error| refused(error.to_string()))?,
        }
    }
    if changed.http_proxy_host.is_empty() != (changed.http_proxy_port == 0)
        || changed.socks5_host.is_empty() != (changed.socks5_port == 0)
    {
        return Err(refused("a proxy needs both its host and its port".to_owned()));
    }
    if !changed.common.bind_address.is_empty() && changed.common.bind_address.parse::<IpAddr>().is_err() {
        return Err(refused(format!("bind_address \"{}\" is not an IP address", changed.common.bind_address)));
    }
    tls::options(&changed.common).map_err(|why| refused(why.to_owned()))?;
    *settings.borrow_mut() = changed;
    Ok(())
}

/// A time-out in seconds: negative for no limit, 0 for `fallback`.
pub(super) fn limit(seconds: f64, fallback: Option<Duration>) -> Option<Duration> {
    if seconds == 0.0 { fallback } else { wait::limit(seconds) }
}

/// The time for a whole request.
pub(super) fn whole(settings: &Settings, state: &State) -> Option<Duration> {
    let of_all = state.settings.borrow();
    limit(settings.common.timeout, of_all.socket_read_timeout.or(of_all.socket_timeout).get())
}

fn proxy(settings: &Settings, always_tunnel: bool) -> Option<Proxy> {
    let credentials = |user: &str, password: &str| (!user.is_empty()).then(|| (user.to_owned(), password.to_owned()));
    if !settings.socks5_host.is_empty() {
        return Some(Proxy {
            kind: ProxyKind::Socks5,
            host: settings.socks5_host.clone(),
            port: settings.socks5_port,
            credentials: credentials(&settings.socks5_username, &settings.socks5_password),
            always_tunnel,
        });
    }
    (!settings.http_proxy_host.is_empty()).then(|| Proxy {
        kind: ProxyKind::Http,
        host: settings.http_proxy_host.clone(),
        port: settings.http_proxy_port,
        credentials: credentials(&settings.http_proxy_user, &settings.http_proxy_password),
        always_tunnel,
    })
}

fn connect(settings: &Settings, state: &State, alpn: &[&[u8]], always_tunnel: bool) -> ConnectOptions {
    let address = settings.common.bind_address.parse().ok();
    let bind = (address.is_some() || settings.common.bind_port != 0)
        .then(|| SocketAddr::new(address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), settings.common.bind_port));
    ConnectOptions {
        timeout: limit(settings.common.connect_timeout, state.settings.borrow().socket_connect_timeout.get()),
        bind,
        proxy: proxy(settings, always_tunnel),
        // What cannot be was refused when it was set.
        tls: TlsOptions {
            alpn: alpn.iter().map(|name| name.to_vec()).collect(),
            ..tls::options(&settings.common).unwrap_or_default()
        },
        tls_name: (!settings.common.ssl_host_name.is_empty()).then(|| settings.common.ssl_host_name.clone()),
    }
}

/// How requests are made.
pub(super) fn http(settings: &Settings, state: &State, websocket: bool) -> Options {
    let whole = whole(settings, state);
    Options {
        connect: connect(settings, state, &[b"http/1.1"], websocket),
        timeout: whole,
        idle_timeout: limit(settings.common.read_timeout, if whole.is_none() { Some(IDLE) } else { None }),
        keep_alive: settings.keep_alive,
        decode: settings.body_decompression,
        max_body: settings.package_max_length,
        max_download: settings.max_download,
        max_head: settings.max_header_size,
        max_fields: settings.max_headers,
        max_redirects: settings.max_redirects,
        max_retries: settings.max_retries,
        repeats: true,
        event_stream: false,
    }
}

/// How an HTTP/2 connection behaves.
pub(super) fn http2(settings: &Settings, state: &State) -> Http2Options {
    Http2Options {
        connect: connect(settings, state, &[b"h2"], true),
        decode: settings.body_decompression,
        max_body: settings.package_max_length,
        max_head: u32::try_from(settings.max_header_size).unwrap_or(u32::MAX),
        window: settings.http2_window_size,
        pieces: false,
    }
}

/// How a WebSocket behaves.
pub(super) fn websocket(settings: &Settings) -> WebSocketOptions {
    let most = usize::try_from(settings.package_max_length).unwrap_or(usize::MAX);
    WebSocketOptions {
        limits: Limits { max_frame: most, max_message: most, lenient: swoole::is_on() },
        compression: settings.websocket_compression,
        level: WEBSOCKET_LEVEL,
        mask: settings.websocket_mask,
    }
}

/// How long a method that reads waits: `read_timeout`, or else `timeout`.
pub(super) fn reading(settings: &Settings, state: &State) -> Option<Duration> {
    limit(settings.common.read_timeout, whole(settings, state))
}

/// The endpoint that a constructor's arguments (host, port, TLS) mean.
pub(super) fn endpoint(host: &[u8], port: i64, tls: bool) -> Result<Endpoint, Raise> {
    let refused = |text: &str, there: &str| {
        let raise = exception::throw(exception::code::client::ARGUMENT, text);
        swoole::there(raise, There::Text(there.to_owned()))
    };
    let text = std::str::from_utf8(host)
        .ok()
        .filter(|text| !text.is_empty() && (text.starts_with("unix:") || !text.contains(['/', '?', '#', '@', ' '])));
    let text = text.filter(|text| !text.bytes().any(|byte| byte.is_ascii_control()));
    let Some(text) = text else {
        let wrong = "the host must be a name, an IP address or unix:/path, without scheme, port or path";
        return Err(refused(wrong, if host.is_empty() { "host is empty" } else { wrong }));
    };
    let port = match port {
        0 if tls => 443,
        0 => 80,
        port => {
            let wrong = || format!("the port must be between 0 and 65535, {port} given");
            u16::try_from(port).map_err(|_| refused(&wrong(), "The port is invalid"))?
        }
    };
    let host = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    Ok(Endpoint { host: host.to_owned(), port, tls })
}
