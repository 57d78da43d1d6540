//! Who the workers are: user, group, root directory, CPU.

use std::path::{Path, PathBuf};

use apus_options::Settings;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::{Gid, Group, Pid, Uid, User, chdir, chroot, initgroups, setgid, setgroups, setuid};

use crate::error::Error;

/// What a worker becomes after the fork; looked up before it, so that errors come early and the chroot needs no /etc.
#[derive(Debug, Default)]
pub(crate) struct Identity {
    user: Option<(Uid, std::ffi::CString)>,
    group: Option<Gid>,
    root: Option<PathBuf>,
    cpus: Vec<usize>,
}

impl Identity {
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Error> {
        let mut identity = Self { cpus: cpus(settings)?, ..Self::default() };
        if !settings.user.is_empty() {
            let user = find_user(&settings.user)?;
            identity.group = Some(user.gid);
            let name = std::ffi::CString::new(user.name).map_err(|e| wrong("user", e.to_string()))?;
            identity.user = Some((user.uid, name));
        }
        if !settings.group.is_empty() {
            identity.group = Some(find_group(&settings.group)?);
        }
        if !settings.chroot.is_empty() {
            let root = Path::new(&settings.chroot);
            let real = root.canonicalize().map_err(|e| wrong("chroot", format!("{}: {e}", root.display())))?;
            identity.root = Some(real);
        }
        identity.check_rights()?;
        Ok(identity)
    }

    /// Only root can become someone else; being who one is already is fine.
    fn check_rights(&mut self) -> Result<(), Error> {
        if Uid::effective().is_root() {
            return Ok(());
        }
        if self.root.is_some() {
            return Err(wrong(
                "chroot",
                "the master must run as root to change the workers' root directory".to_owned(),
            ));
        }
        if self.user.as_ref().is_some_and(|(uid, _)| *uid != Uid::effective()) {
            return Err(wrong("user", "the master must run as root to run its workers as another user".to_owned()));
        }
        if self.group.is_some_and(|gid| gid != Gid::effective()) {
            return Err(wrong("group", "the master must run as root to run its workers as another group".to_owned()));
        }
        (self.user, self.group) = (None, None);
        Ok(())
    }

    /// Makes the calling process what a worker with this id is, `bound` to a core where the settings say so. Order
    /// matters: the root directory and the groups need the rights that the user change gives up.
    pub(crate) fn assume(&self, worker: u16, bound: bool) -> Result<(), Error> {
        if bound && !self.cpus.is_empty() {
            let mut set = CpuSet::new();
            set.set(self.cpus[usize::from(worker) % self.cpus.len()]).map_err(Error::system("sched_setaffinity"))?;
            sched_setaffinity(Pid::from_raw(0), &set).map_err(Error::system("sched_setaffinity"))?;
        }
        match (&self.user, self.group) {
            (Some((_, name)), Some(gid)) => initgroups(name, gid).map_err(Error::system("initgroups"))?,
            (None, Some(gid)) => setgroups(&[gid]).map_err(Error::system("setgroups"))?,
            _ => {}
        }
        if let Some(root) = &self.root {
            chroot(root).map_err(Error::system("chroot"))?;
            chdir("/").map_err(Error::system("chdir"))?;
        }
        if let Some(gid) = self.group {
            setgid(gid).map_err(Error::system("setgid"))?;
        }
        if let Some((uid, _)) = &self.user {
            setuid(*uid).map_err(Error::system("setuid"))?;
            // From here on nothing may lead back.
            if !uid.is_root() && setuid(Uid::from_raw(0)).is_ok() {
                return Err(wrong("user", "root's rights could be taken back".to_owned()));
            }
        }
        Ok(())
    }
}

fn wrong(setting: &'static str, reason: String) -> Error {
    Error::Identity { setting, reason }
}

fn find_user(name: &str) -> Result<User, Error> {
    let found = match name.parse() {
        Ok(number) => User::from_uid(Uid::from_raw(number)),
        Err(_) => User::from_name(name),
    };
    found
        .map_err(|e| wrong("user", e.to_string()))?
        .ok_or_else(|| wrong("user", format!("there is no user \"{name}\"")))
}

fn find_group(name: &str) -> Result<Gid, Error> {
    if let Ok(number) = name.parse() {
        return Ok(Gid::from_raw(number));
    }
    let found = Group::from_name(name).map_err(|e| wrong("group", e.to_string()))?;
    found.map(|group| group.gid).ok_or_else(|| wrong("group", format!("there is no group \"{name}\"")))
}

/// The CPUs to spread workers over: those this process may use, without the ignored ones; none when affinity is off.
fn cpus(settings: &Settings) -> Result<Vec<usize>, Error> {
    if !settings.open_cpu_affinity {
        return Ok(Vec::new());
    }
    let allowed = sched_getaffinity(Pid::from_raw(0)).map_err(Error::system("sched_getaffinity"))?;
    let cpus: Vec<usize> = (0..CpuSet::count())
        .filter(|cpu| allowed.is_set(*cpu).unwrap_or(false) && !settings.cpu_affinity_ignore.contains(&(*cpu as u32)))
        .collect();
    if cpus.is_empty() {
        let reason = "no CPU is left to bind workers to: ignore fewer".to_owned();
        return Err(wrong("cpu_affinity_ignore", reason));
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_told_before_any_fork() {
        let settings = Settings { user: "no-such-user-here".to_owned(), ..Settings::default() };
        let error = Identity::from_settings(&settings).unwrap_err().to_string();
        assert_eq!(error, "setting \"user\": there is no user \"no-such-user-here\"");
        let settings = Settings { chroot: "/no/such/directory".to_owned(), ..Settings::default() };
        assert!(Identity::from_settings(&settings).unwrap_err().to_string().contains("chroot"));
    }

    #[test]
    fn ignoring_every_cpu_is_refused() {
        let all = (0..1024).collect();
        let settings = Settings { open_cpu_affinity: true, cpu_affinity_ignore: all, ..Settings::default() };
        assert!(Identity::from_settings(&settings).unwrap_err().to_string().contains("ignore fewer"));
    }
}
