//! From an array of settings to what a socket does.

use std::cell::RefCell;
use std::rc::Rc;

use apus_client::tls::TlsOptions;
use apus_net::proto::framing::{Framing, LengthType, Rule};
use apus_options::client::socket::{Bytes, Settings};
use apus_options::{self as options, OptionError};
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value, engine};

use super::core::{Limits, Sock, TlsPlan};
use super::tls;
use crate::convert::to_option;
use crate::exception;
use crate::swoole::{self, There};
use crate::wait::Timeout;

/// Settings as a program gave them.
#[derive(Default, Clone)]
pub(super) struct Given {
    pub(super) settings: RefCell<Settings>,
    /// `package_length_func`.
    tell: RefCell<Option<Rc<Callable>>>,
}

fn refused(message: &str) -> Raise {
    exception::throw(exception::code::client::OPTION, message)
}

impl Given {
    /// By the conventions of Swoole, where no peer is verified who was not to be.
    pub(super) fn trust(&self) {
        self.settings.borrow_mut().common.ssl_verify_peer = false;
    }

    /// The function that tells how long a message is.
    pub(super) fn tell(&self) -> Option<Rc<Callable>> {
        self.tell.borrow().clone()
    }

    /// Takes over an array of settings, all or none. `lenient`: by the conventions of Swoole.
    pub(super) fn take(&self, given: ArrayView<'_>, lenient: bool) -> Result<(), Raise> {
        let mut settings = self.settings.borrow().clone();
        let mut tell = self.tell();
        for (key, value) in given.iter() {
            let Key::Str(name) = key else {
                return Err(refused("settings are given as 'name' => value, but a numeric key was found"));
            };
            let value = value.value();
            match (name, value.view()) {
                (b"package_length_func", View::Null) => tell = None,
                (b"package_length_func", _) => tell = Some(Rc::new(callable(value)?)),
                // Any bytes may end a message, and settings hold text.
                (b"package_eof", View::Str(b"")) if swoole::is_on() => {
                    let text = "package_eof cannot be an empty string";
                    return Err(swoole::there(refused(text), There::Fatal(text.to_owned())));
                }
                (b"package_eof", View::Str(bytes)) => settings.package_eof = Bytes(bytes.to_vec()),
                (b"package_eof", _) => {
                    return Err(refused("setting \"package_eof\" must be a string of 1 to 64 bytes"));
                }
                (name, view) => set(&mut settings, &String::from_utf8_lossy(name), view, lenient)?,
            }
        }
        framing(&settings, tell.is_some())?;
        tls_options(&settings)?;
        *self.settings.borrow_mut() = settings;
        // What is replaced is dropped last: its destructor may run PHP code that comes here again.
        let _old = self.tell.replace(tell);
        Ok(())
    }

    /// Has the socket do what the settings say.
    pub(super) fn install(&self, sock: &Sock) -> Result<(), Raise> {
        let settings = self.settings.borrow();
        let framing = framing(&settings, self.tell.borrow().is_some())?;
        *sock.framing.borrow_mut() = framing.map(Rc::new);
        let common = &settings.common;
        sock.limits.set(Limits {
            connect: common.limit(common.connect_timeout).map(Timeout::of_setting),
            read: common.limit(common.read_timeout).map(Timeout::of_setting),
            write: common.limit(common.write_timeout).map(Timeout::of_setting),
        });
        *sock.plan.borrow_mut() = TlsPlan {
            options: tls_options(&settings)?,
            host: common.ssl_host_name.clone(),
            from_start: settings.open_ssl,
        };
        if let Ok(descriptor) = sock.descriptor() {
            let socket = descriptor.socket();
            // Hints to the kernel, which a socket of another kind does not take.
            if sock.is_stream() && super::address::has_ports(sock.domain) {
                let _ = socket.set_tcp_nodelay(settings.open_tcp_nodelay);
            }
            if settings.socket_buffer_size > 0 {
                let _ = socket.set_send_buffer_size(settings.socket_buffer_size);
                let _ = socket.set_recv_buffer_size(settings.socket_buffer_size);
            }
        }
        Ok(())
    }
}

fn callable(mut value: Value) -> Result<Callable, Raise> {
    Callable::new(&mut value).map_err(|not| {
        not.or(|why| {
            refused(&format!("setting \"package_length_func\" must be a callable (string $bytes): int, but {why}"))
        })
    })
}

fn set(settings: &mut Settings, name: &str, view: View<'_>, lenient: bool) -> Result<(), Raise> {
    let value =
        to_option(view).ok_or_else(|| refused(&format!("setting \"{name}\" cannot be an object or a resource")))?;
    // Both names of one rule: switching one off must not undo the other, which came before it.
    if name == "open_eof_split" && value.is_off() && !matches!(value, options::Value::Null) {
        return Ok(());
    }
    match settings.set(name, &value) {
        Err(error) if lenient => tolerable(&error),
        set => set.map_err(|error| refused(&error.to_string())),
    }
}

fn framing(settings: &Settings, told: bool) -> Result<Option<Framing>, Raise> {
    let rule = if settings.open_length_check && told {
        Rule::Asked
    } else if settings.open_length_check {
        let letter = &settings.package_length_type;
        let kind = LengthType::of_letter(letter).ok_or_else(|| {
            let letters = LengthType::LETTERS;
            refused(&format!("setting \"package_length_type\" must be one of {letters}, \"{letter}\" given"))
        })?;
        Rule::Length { kind, offset: settings.package_length_offset, body_offset: settings.package_body_offset }
    } else if settings.open_eof_check {
        Rule::End(settings.package_eof.0.clone())
    } else if settings.open_mqtt_protocol {
        Rule::Mqtt
    } else {
        return Ok(None);
    };
    Framing::new(rule, settings.package_max_length).map(Some).map_err(|why| refused(&why))
}

fn tls_options(settings: &Settings) -> Result<TlsOptions, Raise> {
    tls::options(&settings.common).map_err(refused)
}

/// What `$setting` shows after another array of settings: the one before with the new values.
pub(super) fn merged(before: &Value, given: ArrayView<'_>) -> Result<Array, Raise> {
    let mut array = Array::new(given.len() + 8)?;
    if let View::Array(before) = before.view() {
        copy(&mut array, before)?;
    }
    copy(&mut array, given)?;
    Ok(array)
}

fn copy(array: &mut Array, from: ArrayView<'_>) -> Result<(), Raise> {
    for (key, value) in from.iter() {
        let value = value.value();
        match key {
            Key::Str(name) => array.set(name, value)?,
            Key::Index(index) => array.set_index(index, value)?,
        }
    }
    Ok(())
}

/// What programs written for Swoole may set: names that nobody knows mean nothing there, and what cannot be is told of
/// without an end to the others.
pub(crate) fn tolerable(error: &OptionError) -> Result<(), Raise> {
    if matches!(error, OptionError::Unknown { .. }) { Ok(()) } else { engine::warning(&error.to_string()) }
}
