//! `new`: a project that runs, with what it needs to be tested and deployed.

use std::fs;
use std::io;
use std::path::Path;

use crate::cli::NewArgs;
use crate::failure::{Failure, Outcome};

/// Stands for the project's name in the files below.
const NAME: &str = "{{name}}";

/// Path in the project, and text.
const FILES: [(&str, &str); 8] = [
    ("server.php", include_str!("skeleton/server.php")),
    ("src/app.php", include_str!("skeleton/app.php")),
    ("tests/run.php", include_str!("skeleton/test.php")),
    ("README.md", include_str!("skeleton/README.md")),
    ("deploy/{{name}}.service", include_str!("skeleton/unit.service")),
    ("Dockerfile", include_str!("skeleton/Dockerfile")),
    (".dockerignore", include_str!("skeleton/dockerignore")),
    (".gitignore", include_str!("skeleton/gitignore")),
];

/// `apus new`.
pub(crate) fn create(args: &NewArgs) -> Outcome<()> {
    let name = project_name(&args.path)?;
    make(&args.path, &name).map_err(|error| Failure::failed(format!("{}: {error}", args.path.display())))?;
    println!("{name} is ready:\n  cd {} && apus run server.php", args.path.display());
    Ok(())
}

/// The last part of the path; it becomes a file name, a unit's name and a user's name.
fn project_name(path: &Path) -> Outcome<String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if starts_well && name.len() <= 31 && name.chars().all(plain) {
        return Ok(name.to_owned());
    }
    Err(Failure::new(crate::failure::Kind::Usage, format!("`{name}` cannot name a project"))
        .advise("letters, digits, - and _, beginning with a letter, at most 31"))
}

/// Writes the files into a directory that is not there yet, or empty.
fn make(path: &Path, name: &str) -> io::Result<()> {
    fs::create_dir_all(path)?;
    if fs::read_dir(path)?.next().is_some() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "is not empty; nothing was written"));
    }
    for (file, text) in FILES {
        let target = path.join(file.replace(NAME, name));
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(target, text.replace(NAME, name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_skeleton_carries_the_name_and_nothing_unfilled() {
        let scratch = Scratch::new("skeleton");
        let path = scratch.path().join("shop");
        make(&path, "shop").expect("a project");
        for (file, _) in FILES {
            let text = fs::read_to_string(path.join(file.replace(NAME, "shop"))).expect("the file");
            assert!(!text.contains("{{"), "{file}");
        }
        assert!(path.join("deploy/shop.service").is_file());
    }

    #[test]
    fn nothing_is_written_over() {
        let scratch = Scratch::new("full");
        scratch.write("kept", "");
        assert!(make(scratch.path(), "shop").is_err());
        assert!(!scratch.path().join("server.php").exists());
    }

    #[test]
    fn names_that_systemd_or_a_shell_would_misread_are_refused() {
        for name in ["", "9lives", "a b", "../..", "a/..", "naïve"] {
            assert!(project_name(Path::new(name)).is_err(), "{name}");
        }
        assert_eq!(project_name(Path::new("/srv/shop-2")).expect("a name"), "shop-2");
    }
}
