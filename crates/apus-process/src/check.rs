//! What a start would refuse of settings, found without starting: nothing is made, listened on or written.

use std::io;
use std::path::Path;

use apus_options::Settings;
use rustix::fs::{Access, access};

use crate::access::{self, AccessSettings};
use crate::error::Error;
use crate::identity::Identity;
use crate::observe;

/// All that [`run`](crate::run) would refuse of a server's settings, for the user and in the directory of this process.
pub fn refused(settings: &Settings) -> Vec<Error> {
    let identity = Identity::from_settings(settings).map(drop);
    let files = [("log_file", &settings.log_file), ("pid_file", &settings.pid_file)];
    let files = files.map(|(setting, path)| writable(setting, path));
    let all = [identity, observe::check(&settings.metrics_address), refused_log(&AccessSettings::from(settings))];
    all.into_iter().chain(files).filter_map(Result::err).collect()
}

/// What it would refuse of an access log: of the server, or of a host.
pub fn refused_log(log: &AccessSettings) -> Result<(), Error> {
    access::check(log)?;
    if access::is_file(&log.path) { writable("access_log", &log.path) } else { Ok(()) }
}

/// Whether a file could be written, or be made. An empty path is none.
fn writable(setting: &'static str, path: &str) -> Result<(), Error> {
    let path = Path::new(path);
    let failed = |source: io::Error| Error::File { setting, path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match path.metadata() {
        _ if path.as_os_str().is_empty() => Ok(()),
        Ok(about) if about.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(_) => access(path, Access::WRITE_OK).map_err(|error| failed(error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| failed(error.into()))
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use apus_options::Value;
    use apus_scratch::Folder;

    use super::*;

    fn told(given: &[(&str, &str)]) -> Vec<String> {
        let mut settings = Settings::default();
        for (name, value) in given {
            settings.set(name, &Value::from(*value)).unwrap();
        }
        refused(&settings).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_start_would_refuse() {
        let folder = Folder::new("check");
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        assert!(told(&[]).is_empty());
        let (log, gone, beneath) = (file("log"), file("gone/log"), file("a/b"));
        folder.write("a", "");
        assert!(told(&[("log_file", &log), ("pid_file", &log), ("access_log", &log)]).is_empty());
        assert!(std::fs::metadata(&log).is_err(), "nothing is made");
        for (given, why) in [
            (("log_file", gone.as_str()), "No such file"),
            (("pid_file", &gone), "No such file"),
            (("access_log", &gone), "No such file"),
            (("log_file", &beneath), "Not a directory"),
            (("pid_file", folder.path().to_str().unwrap()), "is a directory"),
            (("access_log_format", "$nothing"), "$nothing"),
            (("metrics_address", "nowhere"), "is no address"),
            (("metrics_address", "unix:"), "needs a path"),
            (("user", "nobody-of-that-name"), "no user"),
            (("group", "nobody-of-that-name"), "no group"),
            (("chroot", &gone), "No such file"),
        ] {
            let told = told(&[given]);
            assert!(told.len() == 1 && told[0].contains(why) && told[0].contains(given.0), "{given:?}: {told:?}");
        }
        assert!(told(&[("access_log", "stdout")]).is_empty());
    }
}
