//! The certificate that `apus run --tls` serves with on a developer's machine: made once, kept for the user.
//!
//! It signs itself and is no authority: whoever gets hold of its key can pretend to be localhost, and nothing else.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, date_time_ymd};

use crate::failure::{Failure, Outcome};

/// What the certificate is made for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// Some systems take no certificate that lives for more than 398 days.
const LIFE: Duration = Duration::from_secs(397 * 86_400);
/// A new one is made in time.
const RENEW_AFTER: Duration = Duration::from_secs(365 * 86_400);

/// Where certificate and key are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Development {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
    /// Whether it was just made: nothing trusts it yet.
    pub(crate) fresh: bool,
}

impl Development {
    /// The user's; made where there is none, or an old one.
    pub(crate) fn of_user() -> Outcome<Self> {
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
        let data = data.ok_or_else(|| {
            Failure::failed("there is no place for a development certificate").advise("set HOME or XDG_DATA_HOME")
        })?;
        let folder = data.join("apus/tls");
        Self::in_folder(&folder).map_err(|why| Failure::failed(format!("development certificate: {why}")))
    }

    fn in_folder(folder: &Path) -> Result<Self, String> {
        let at = |fresh| Self { cert: folder.join("localhost.pem"), key: folder.join("localhost.key"), fresh };
        let kept = at(false);
        if kept.is_usable()? {
            return Ok(kept);
        }
        make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(at(true))
    }

    /// Whether it is there, and young enough; an error where its key is not the user's secret.
    fn is_usable(&self) -> Result<bool, String> {
        let (Ok(cert), Ok(key)) = (fs::metadata(&self.cert), fs::metadata(&self.key)) else { return Ok(false) };
        if key.uid() != rustix::process::geteuid().as_raw() || key.mode() & 0o077 != 0 {
            let path = self.key.display();
            return Err(format!("{path} must belong to you and be readable by nobody else: remove it, or chmod 600"));
        }
        Ok(cert.modified().is_ok_and(|made| made.elapsed().unwrap_or_default() < RENEW_AFTER))
    }

    /// What a developer should know of it.
    pub(crate) fn advice(&self) -> String {
        let cert = self.cert.display();
        let serves = format!("apus: https for {} with {cert}", NAMES.join(", "));
        if !self.fresh {
            return serves;
        }
        let debian = "/usr/local/share/ca-certificates/apus-localhost.crt";
        format!(
            "{serves}\napus: nothing trusts this new certificate yet; to have it trusted\n  \
             by curl:               curl --cacert {cert} https://localhost:PORT/\n  \
             by Debian and Ubuntu:  sudo cp {cert} {debian} && sudo update-ca-certificates\n  \
             by Chromium on Linux:  certutil -d sql:$HOME/.pki/nssdb -A -t P,, -n apus-localhost -i {cert}\n  \
             by Firefox:            accept it at the first visit\n  \
             by macOS:              security add-trusted-cert -p ssl {cert}"
        )
    }
}

/// Makes both in a folder that takes its place in one step: nobody sees the one without the other.
fn make(folder: &Path) -> io::Result<()> {
    let private = |path: &Path| DirBuilder::new().mode(0o700).recursive(true).create(path);
    let parent = folder.parent().unwrap_or(folder);
    private(parent)?;
    let aside = |what: &str| parent.join(format!("tls-{what}-{}", std::process::id()));
    let (new, old) = (aside("new"), aside("old"));
    private(&new)?;
    let (cert, key) = pair().map_err(io::Error::other)?;
    write(&new.join("localhost.key"), 0o600, &key)?;
    write(&new.join("localhost.pem"), 0o644, &cert)?;
    if fs::rename(folder, &old).is_ok() {
        fs::remove_dir_all(&old)?;
    }
    match fs::rename(&new, folder) {
        // Another process was faster: its pair is as good.
        Err(_) if folder.is_dir() => fs::remove_dir_all(&new),
        renamed => renamed,
    }
}

fn write(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let mut file = File::options().create_new(true).write(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A certificate and its key, PEM.
fn pair() -> Result<(String, String), rcgen::Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = |since: Duration| date_time_ymd(1970, 1, 1) + since;
    let mut params = CertificateParams::new(NAMES.map(String::from))?;
    params.distinguished_name.push(DnType::CommonName, "localhost (Apus development)");
    // Clocks of containers and machines differ a little.
    params.not_before = at(now.saturating_sub(Duration::from_secs(3_600)));
    params.not_after = at(now + LIFE);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn it_is_made_once_and_its_key_is_the_users_secret() {
        let scratch = Folder::new("certificate");
        let folder = scratch.path().join("apus/tls");
        let made = Development::in_folder(&folder).expect("made");
        assert!(made.fresh && made.advice().contains("--cacert"));
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&folder), mode(&made.key)), (0o700, 0o600));
        let text = fs::read(&made.cert).expect("a certificate");
        let again = Development::in_folder(&folder).expect("kept");
        assert!(!again.fresh && !again.advice().contains("--cacert"));
        assert_eq!(fs::read(&again.cert).expect("a certificate"), text);
        assert_eq!(fs::read_dir(folder.parent().expect("a parent")).expect("a folder").count(), 1, "nothing is left");

        fs::set_permissions(&made.key, fs::Permissions::from_mode(0o644)).expect("chmod");
        assert!(Development::in_folder(&folder).expect_err("others may read it").contains("chmod 600"));
    }

    #[test]
    fn an_old_one_is_replaced() {
        let scratch = Folder::new("certificate-old");
        let made = Development::in_folder(&scratch.path().join("tls")).expect("made");
        let text = fs::read(&made.cert).expect("a certificate");
        let long_ago = SystemTime::now() - RENEW_AFTER - Duration::from_secs(1);
        File::options().write(true).open(&made.cert).and_then(|file| file.set_modified(long_ago)).expect("utimes");
        let again = Development::in_folder(&scratch.path().join("tls")).expect("made anew");
        assert!(again.fresh);
        assert_ne!(fs::read(&again.cert).expect("a certificate"), text);
    }
}
