//! The configuration file that `apus.config` names: what it says rules over what the script gave to `set()`.

use std::rc::Rc;

use apus_options::{ConfigFile, Listen, PortSection};
use apus_process::ListenAddr;
use apus_zend::object::Object;
use apus_zend::{Raise, engine};

use super::core::ServerCore;
use super::port_core::{Given, PortCore, refused};
use super::{address, class, host};

/// The entry of php.ini that names the file; relative paths are those of the working directory.
const SETTING: &str = "apus.config";

/// The file, where there is one.
pub(super) fn path() -> Option<String> {
    engine::ini(SETTING).filter(|path| !path.is_empty())
}

/// Applies the file, where there is one, to a server that is about to start.
pub(super) fn apply(core: &Rc<ServerCore>, server: &Object) -> Result<(), Raise> {
    let Some(path) = path() else { return Ok(()) };
    let text = std::fs::read_to_string(&path).map_err(|error| refused(&format!("{SETTING}: {path}: {error}")))?;
    let file = ConfigFile::parse(&text).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
        refused(&told.join("\n"))
    })?;
    core.configure(&Given::of_file(file.server))?;
    for section in file.hosts {
        host::configure(core, section)?;
    }
    for section in file.ports {
        port(core, server, &path, section)?;
    }
    Ok(())
}

/// Applies a section to the port that listens there, which is added where the script has none.
fn port(core: &Rc<ServerCore>, server: &Object, path: &str, section: PortSection) -> Result<(), Raise> {
    let (host, port, kind) = match &section.listen {
        Listen::Tcp(host, port) => (host, i64::from(*port), address::SOCK_TCP),
        Listen::Unix(path) => (path, 0, address::SOCK_UNIX_STREAM),
    };
    let addr = address::parse(host, port, kind).map_err(|why| refused(&format!("{path}: {why}")))?;
    let known = core.ports.borrow().iter().find(|port| listens_at(port, &addr)).cloned();
    let port = match known {
        Some(port) => port,
        None => class::add_port(core, server, PortCore::bind(host, port, kind)?)?,
    };
    port.add(Given::of_file(section.settings));
    Ok(())
}

/// Whether a stream port has this address.
fn listens_at(port: &PortCore, addr: &ListenAddr) -> bool {
    !address::is_datagram(port.kind) && port.addr == *addr
}
