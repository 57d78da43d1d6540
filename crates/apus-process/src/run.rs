//! How a server begins.

use std::path::PathBuf;

use crate::error::Error;
use crate::identity::Identity;
use crate::listener::Listener;
use crate::master::Master;
use crate::notify::Notify;
use crate::pid_file::PidFile;
use crate::program::{Config, Outcome, Program};
use crate::{daemon, log};

/// Runs a server: the calling process becomes the master and returns when the server has stopped; each worker returns,
/// too, as [`Outcome::Worker`]. With `daemonize` the calling process ends inside, and its grandchild is the master.
pub fn run(config: &Config, listeners: &[Listener], program: &mut dyn Program) -> Result<Outcome, Error> {
    let settings = &config.settings;
    log::set_level(settings.log_level);
    if !settings.log_file.is_empty() {
        let path = PathBuf::from(&settings.log_file);
        log::open(&path).map_err(|source| Error::File { setting: "log_file", path, source })?;
    }
    let identity = Identity::from_settings(settings)?;
    let mut pid_file = match settings.pid_file.as_str() {
        "" => None,
        path => Some(PidFile::lock(path.as_ref())?),
    };
    let mut notify = Notify::from_environment();
    if settings.daemonize {
        notify.set_launcher(daemon::detach()?);
        listeners.iter().for_each(Listener::adopt);
    }
    log::prepare();
    let started =
        pid_file.as_mut().map_or(Ok(()), PidFile::write).and_then(|()| Master::new(config, listeners, identity));
    match started {
        Ok(master) => Ok(master.live(program, notify, pid_file)),
        Err(error) => {
            notify.trouble(&error.to_string());
            Err(error)
        }
    }
}
