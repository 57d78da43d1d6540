//! `new`: a project that runs, with what it needs to be tested and deployed.

use std::fs;
use std::io;
use std::path::Path;

use crate::cli::NewArgs;
use crate::failure::{Failure, Outcome};

/// Stands for the project's name in the files below.
const NAME: &str = "{{name}}";

/// Path in the project, and text.
type Files = [(&'static str, &'static str)];

/// A small application.
const APP: &Files = &[
    ("server.php", include_str!("skeleton/server.php")),
    ("src/app.php", include_str!("skeleton/app.php")),
    ("tests/run.php", include_str!("skeleton/test.php")),
    ("README.md", include_str!("skeleton/README.md")),
    ("deploy/{{name}}.service", include_str!("skeleton/unit.service")),
    ("Dockerfile", include_str!("skeleton/Dockerfile")),
    (".dockerignore", include_str!("skeleton/dockerignore")),
    (".gitignore", include_str!("skeleton/gitignore")),
];

/// Files of the gateway stand among the examples, as they are.
macro_rules! gateway {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../examples/gateway/", $path)))),*]
    };
}

/// The push gateway.
const GATEWAY: &Files = gateway![
    ".dockerignore",
    ".gitignore",
    "Dockerfile",
    "README.md",
    "bin/push.php",
    "bin/token.php",
    "config.php",
    "deploy/gateway.service",
    "public/gateway.js",
    "public/page.html",
    "server.php",
    "src/Browsers.php",
    "src/Config.php",
    "src/ConfigError.php",
    "src/Counters.php",
    "src/Desk.php",
    "src/Door.php",
    "src/Gateway.php",
    "src/Letter.php",
    "src/Limiter.php",
    "src/Mailbox.php",
    "src/Name.php",
    "src/Peers.php",
    "src/PostOffice.php",
    "src/Push.php",
    "src/Refusal.php",
    "src/Token.php",
    "src/Visitor.php",
    "src/Web.php",
    "src/autoload.php",
];

/// A kind of project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    App,
    Gateway,
}

impl Kind {
    fn called(name: &Path) -> Option<Self> {
        match name.to_str()? {
            "app" => Some(Self::App),
            "gateway" => Some(Self::Gateway),
            _ => None,
        }
    }

    const fn files(self) -> &'static Files {
        match self {
            Self::App => APP,
            Self::Gateway => GATEWAY,
        }
    }
}

/// `apus new`.
pub(crate) fn create(args: &NewArgs) -> Outcome<()> {
    let (kind, path) = asked(args)?;
    let name = project_name(path)?;
    make(kind, path, &name).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    println!("{name} is ready:\n  cd {} && apus run server.php", path.display());
    Ok(())
}

/// `KIND NAME`, `NAME`, or `gateway`, which is a kind and a name.
fn asked(args: &NewArgs) -> Outcome<(Kind, &Path)> {
    let first = Kind::called(&args.first);
    match (&args.second, first) {
        (Some(path), Some(kind)) => Ok((kind, path)),
        (Some(_), None) => {
            Err(usage(format!("there is no kind of project `{}`", args.first.display()), "app or gateway"))
        }
        (None, Some(Kind::Gateway)) => Ok((Kind::Gateway, &args.first)),
        (None, _) => Ok((Kind::App, &args.first)),
    }
}

fn usage(what: String, advice: &str) -> Failure {
    Failure::new(crate::failure::Kind::Usage, what).advise(advice)
}

/// The last part of the path; it becomes a file name, a unit's name and a user's name.
fn project_name(path: &Path) -> Outcome<String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if starts_well && name.len() <= 31 && name.chars().all(plain) {
        return Ok(name.to_owned());
    }
    Err(usage(
        format!("`{name}` cannot name a project"),
        "letters, digits, - and _, beginning with a letter, at most 31",
    ))
}

/// Writes the files into a directory that is not there yet, or empty.
fn make(kind: Kind, path: &Path, name: &str) -> io::Result<()> {
    fs::create_dir_all(path)?;
    if fs::read_dir(path)?.next().is_some() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "is not empty; nothing was written"));
    }
    for (file, text) in kind.files() {
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
    use apus_scratch::Folder;

    #[test]
    fn the_skeleton_carries_the_name_and_nothing_unfilled() {
        let scratch = Folder::new("skeleton");
        let path = scratch.path().join("shop");
        make(Kind::App, &path, "shop").expect("a project");
        for (file, _) in APP {
            let text = fs::read_to_string(path.join(file.replace(NAME, "shop"))).expect("the file");
            assert!(!text.contains("{{"), "{file}");
        }
        assert!(path.join("deploy/shop.service").is_file());
    }

    /// All files below a folder, as paths relative to it.
    fn below(folder: &Path) -> Vec<std::path::PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(folder).expect("below it").to_path_buf());
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn the_gateway_is_the_example_whole() {
        let scratch = Folder::new("gateway");
        let path = scratch.path().join("shop-push");
        make(Kind::Gateway, &path, "shop-push").expect("a project");
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
        assert_eq!(below(&path), below(&example));
        for file in below(&path) {
            assert_eq!(fs::read(path.join(&file)).ok(), fs::read(example.join(&file)).ok(), "{}", file.display());
        }
    }

    #[test]
    fn kinds_and_names() {
        let args = |first: &str, second: Option<&str>| NewArgs { first: first.into(), second: second.map(Into::into) };
        let plain = |first, second| asked(&args(first, second)).map(|(kind, path)| (kind, path.to_path_buf())).ok();
        assert_eq!(plain("shop", None), Some((Kind::App, "shop".into())));
        assert_eq!(plain("/srv/shop", None), Some((Kind::App, "/srv/shop".into())));
        assert_eq!(plain("gateway", None), Some((Kind::Gateway, "gateway".into())));
        assert_eq!(plain("gateway", Some("push")), Some((Kind::Gateway, "push".into())));
        assert_eq!(plain("app", Some("gateway")), Some((Kind::App, "gateway".into())));
        assert_eq!(plain("./gateway", None), Some((Kind::App, "./gateway".into())));
        assert_eq!(plain("shop", Some("push")), None);
    }

    #[test]
    fn nothing_is_written_over() {
        let scratch = Folder::new("full");
        scratch.write("kept", "");
        assert!(make(Kind::App, scratch.path(), "shop").is_err());
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
