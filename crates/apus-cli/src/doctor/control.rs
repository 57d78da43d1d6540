//! The directory where a server of this user puts its control socket.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::{Finding, Level};

pub(crate) fn examine() -> Finding {
    let uid = geteuid().as_raw();
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
    match runtime {
        Some(runtime) if !runtime.is_dir() => without_runtime(&runtime),
        Some(runtime) => directory(&runtime.join("apus"), uid),
        None => directory(Path::new(&format!("/tmp/apus-{uid}")), uid),
    }
}

fn without_runtime(runtime: &Path) -> Finding {
    let found = format!("XDG_RUNTIME_DIR names {}, which is not there: no control socket", runtime.display());
    Finding::new("control", Level::Warn, found).fix(["unset XDG_RUNTIME_DIR", "or: sudo loginctl enable-linger $USER"])
}

/// The master makes it when it is missing, and refuses one that others could put something into.
fn directory(path: &Path, uid: u32) -> Finding {
    let shown = path.display();
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Finding::new("control", Level::Ok, format!("control sockets: {shown}, made when a server starts"));
    };
    if !meta.is_dir() || meta.uid() != uid {
        let found = format!("{shown} is not a directory of user {uid}: no control socket");
        return Finding::new("control", Level::Warn, found).fix([format!("sudo rm -r {shown}")]);
    }
    if meta.mode() & 0o077 != 0 {
        let found = format!("{shown} is open to other users: no control socket");
        return Finding::new("control", Level::Warn, found).fix([format!("chmod 700 {shown}")]);
    }
    Finding::new("control", Level::Ok, format!("control sockets: {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_directory_must_be_ours_alone() {
        let scratch = Folder::new("control");
        let uid = geteuid().as_raw();
        let own = scratch.path().join("apus");
        assert_eq!(directory(&own, uid).level, Level::Ok);
        fs::create_dir(&own).expect("a directory");
        for (mode, level) in [(0o755, Level::Warn), (0o700, Level::Ok)] {
            fs::set_permissions(&own, fs::Permissions::from_mode(mode)).expect("permissions");
            assert_eq!(directory(&own, uid).level, level);
        }
        assert_eq!(directory(&own, uid + 1).level, Level::Warn);
        assert_eq!(directory(&scratch.write("file", ""), uid).level, Level::Warn);
    }

    #[test]
    fn a_runtime_directory_that_is_missing_is_warned_of() {
        assert!(without_runtime(Path::new("/run/user/7")).found.contains("/run/user/7"));
    }
}
