//! Scripts found in a directory, and what hostile paths find there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

fn write(root: &Path, name: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, name).unwrap();
}

/// A site with everything that paths are tried on, and a secret beside it.
fn site(tries: &[&str]) -> (tempfile::TempDir, Arc<Scripts>) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("www");
    for name in [
        "index.php",
        "a b.php",
        "style.css",
        "lib.inc",
        "admin/index.php",
        "admin/x.php",
        "both/index.php",
        "both/index.html",
        "pages/index.html",
        "empty/x.txt",
        "uploads/evil.php",
        "private/index.php",
        "private/x.txt",
        "uploads/deep/evil.php",
        "uploads/evil.jpg",
        "dir.php/real.php",
        "UPPER.PHP",
        ".env",
        ".git/hook.php",
        "sub/.hidden.php",
        ".well-known/x",
        ".well-known/run.php",
    ] {
        write(&root, name);
    }
    write(folder.path(), "secret.php");
    symlink("../secret.php", root.join("out.php")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("admin/x.php", root.join("near.php")).unwrap();
    let config = ScriptsConfig {
        root,
        links: Vec::new(),
        tries: tries.iter().map(|text| (*text).to_owned()).collect(),
        index: vec!["index.php".into(), "index.html".into()],
        forbidden: vec!["/uploads/*".into()],
        denied: vec!["/private/*".into()],
        stays: None,
    };
    (folder, Scripts::open(config).unwrap())
}

fn script(scripts: &Scripts, name: &str, path_info: &str) -> Resolved {
    Resolved::Script(Script {
        filename: format!("{}{name}", scripts.document_root),
        script_name: name.into(),
        path_info: path_info.into(),
        document_root: Arc::clone(&scripts.document_root),
    })
}

const FRONT: [&str; 3] = ["$uri", "$uri/", "/index.php"];
const PLAIN: [&str; 2] = ["$uri", "$uri/"];

#[test]
fn scripts_answer_their_paths() {
    let (_folder, scripts) = site(&FRONT);
    for (path, name, path_info) in [
        ("/", "/index.php", ""),
        ("/index.php", "/index.php", ""),
        ("/index.php/", "/index.php", "/"),
        ("/index.php/a/b.php/c", "/index.php", "/a/b.php/c"),
        ("/index.php/%ff%0a", "/index.php", ""),
        ("/a%20b.php", "/a b.php", ""),
        ("/admin/", "/admin/index.php", ""),
        ("//admin//x.php", "/admin/x.php", ""),
        ("/x/../admin/./x.php/y", "/admin/x.php", "/y"),
        ("/admin%2fx.php", "/admin/x.php", ""),
        ("/both/", "/both/index.php", ""),
        ("/dir.php/real.php/z", "/dir.php/real.php", "/z"),
        ("/near.php", "/near.php", ""),
        ("/.well-known/run.php", "/.well-known/run.php", ""),
        // What is nothing else is the front controller's.
        ("/blog/post", "/index.php", ""),
        ("/blog/post/", "/index.php", ""),
        ("/style.css/", "/index.php", ""),
        ("/%ff", "/index.php", ""),
        ("/.env", "/index.php", ""),
        ("/UPPER.PHP", "/index.php", ""),
        ("/index.php5", "/index.php", ""),
    ] {
        let found = scripts.resolve_now(path.as_bytes());
        if path == "/index.php/%ff%0a" {
            assert!(matches!(found, Resolved::Script(found) if found.path_info == b"/\xff\n"));
            continue;
        }
        let expected = match path {
            "/UPPER.PHP" => Resolved::Status(403),
            _ => script(&scripts, name, path_info),
        };
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn files_directories_and_refusals() {
    let (_folder, scripts) = site(&PLAIN);
    for (path, expected) in [
        ("/style.css", Resolved::File("/style.css".into())),
        ("//style.css", Resolved::File("/style.css".into())),
        ("/pages/", Resolved::File("/pages/index.html".into())),
        ("/uploads/evil.jpg", Resolved::File("/uploads/evil.jpg".into())),
        ("/.well-known/x", Resolved::File("/.well-known/x".into())),
        ("/admin", Resolved::Directory("/admin/".into())),
        ("/empty", Resolved::Directory("/empty/".into())),
        ("/empty/", Resolved::Status(403)),
        ("/lib.inc", Resolved::Status(403)),
        ("/uploads/evil.php", Resolved::Status(403)),
        ("/private/x.txt", Resolved::Status(403)),
        ("/private/index.php/x", Resolved::Status(403)),
        ("/private/", Resolved::Status(403)),
        ("/x/../private/nothing", Resolved::Status(403)),
        ("/%70rivate%2fx.txt", Resolved::Status(403)),
        ("/uploads/deep/evil.php/x", Resolved::Status(403)),
        ("/uploads/evil.jpg/x.php", Resolved::Status(404)),
        ("/none.php", Resolved::Status(404)),
        ("/none.php/index.php", Resolved::Status(404)),
        ("/style.css/x.php", Resolved::Status(404)),
        ("/none", Resolved::Status(404)),
        ("/style.css/", Resolved::Status(404)),
        ("/.git/hook.php", Resolved::Status(404)),
        ("/sub/.hidden.php", Resolved::Status(404)),
        ("/out.php", Resolved::Status(404)),
        ("/up/secret.php", Resolved::Status(404)),
        ("/index.php%00.css", Resolved::Status(400)),
        ("/../secret.php", Resolved::Status(400)),
        ("/%2e%2e/secret.php", Resolved::Status(400)),
        ("/a%2f..%2f..%2fsecret.php", Resolved::Status(400)),
    ] {
        assert_eq!(scripts.resolve_now(path.as_bytes()), expected, "{path}");
    }
}

#[test]
fn tries_are_those_of_the_application() {
    let (_folder, symfony) = site(&["$uri", "/index.php"]);
    assert_eq!(symfony.resolve_now(b"/admin"), script(&symfony, "/index.php", ""));
    assert_eq!(symfony.resolve_now(b"/admin/"), script(&symfony, "/index.php", ""));
    assert_eq!(symfony.resolve_now(b"/"), script(&symfony, "/index.php", ""));
    let (_folder, short) = site(&["$uri", "$uri.php", "=410"]);
    assert_eq!(short.resolve_now(b"/admin/x"), script(&short, "/admin/x.php", ""));
    assert_eq!(short.resolve_now(b"/uploads/evil"), Resolved::Status(403));
    assert_eq!(short.resolve_now(b"/none"), Resolved::Status(410));
}

#[test]
fn links_lead_out_where_that_is_allowed() {
    let (folder, scripts) = site(&PLAIN);
    let shared = folder.path().join("shared");
    write(&shared, "picture.png");
    write(&shared, "run.php");
    symlink(&shared, scripts.config.root.join("storage")).unwrap();
    assert_eq!(scripts.resolve_now(b"/storage/picture.png"), Resolved::Status(404));
    let allowing = Scripts::open(ScriptsConfig { links: vec![shared], ..scripts.config.clone() }).unwrap();
    assert_eq!(allowing.resolve_now(b"/storage/picture.png"), Resolved::File("/storage/picture.png".into()));
    assert_eq!(allowing.resolve_now(b"/storage/run.php"), script(&allowing, "/storage/run.php", ""));
    assert_eq!(allowing.resolve_now(b"/out.php"), Resolved::Status(404));
    assert_eq!(allowing.resolve_now(b"/up/secret.php"), Resolved::Status(404));
    let absent = ScriptsConfig { links: vec![folder.path().join("none")], ..scripts.config.clone() };
    assert!(Scripts::open(absent).unwrap_err().to_string().contains("none"));
}

#[test]
fn settings_at_their_defaults_are_those_of_what_the_directory_holds() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["artisan", "public/index.php", "other/x"] {
        write(folder.path(), name);
    }
    let document_root = folder.path().to_str().unwrap().to_owned();
    let settings = Settings { document_root, ..Settings::default() };
    let found = ScriptsConfig::of(&settings).unwrap();
    assert_eq!((&found.root, &found.forbidden), (&folder.path().join("public"), &vec!["/storage/*".to_owned()]));
    assert_eq!((&found.tries[..], &found.index[0][..]), (&FRONT.map(str::to_owned)[..], "index.php"));
    let own = vec!["$uri".to_owned(), "=404".to_owned()];
    assert_eq!(ScriptsConfig::of(&Settings { try_files: own.clone(), ..settings }).unwrap().tries, own);
    assert!(Site::open(&Settings::default()).is_err_and(|why| why.contains("not set")));
}

/// Whatever is made of these pieces, nothing but a script of the site below no forbidden directory is executed, and
/// nothing but a file that is no code is sent.
#[test]
fn hostile_paths_find_nothing_else() {
    const PIECES: [&str; 31] = [
        "/", "//", "..", ".", "%2e", "%2E%2e", "%2f", "%5c", "\\", "%00", "%0a", "%25", "%", "%c0%ae", "\u{fe}",
        "index", ".php", ".PHP", "evil", "secret", "uploads", "admin", "up", "out", ".git", "hook", ".env", "%20", "x",
        "dir", "private",
    ];
    let (_folder, front) = site(&FRONT);
    let (_other, plain) = site(&PLAIN);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let mut executed = 0;
    for _ in 0..40_000 {
        let mut path = String::from("/");
        for _ in 0..=next(9) {
            path.push_str(PIECES[next(PIECES.len())]);
        }
        for scripts in [&front, &plain] {
            match scripts.resolve_now(path.as_bytes()) {
                Resolved::Script(script) => {
                    executed += 1;
                    let real = fs::canonicalize(&script.filename).unwrap();
                    let below = real.strip_prefix(fs::canonicalize(&scripts.config.root).unwrap());
                    let below = below.unwrap_or_else(|_| panic!("{path} executes {}", real.display()));
                    let text = below.to_str().unwrap();
                    let denied = text.starts_with("uploads") || text.starts_with("private");
                    assert!(!denied && !target::is_hidden(text), "{path} executes {text}");
                    assert!(real.is_file() && target::is_script(text.as_bytes()), "{path} executes {text}");
                }
                Resolved::File(name) => {
                    assert!(!name.starts_with("/private/"), "{path} sends {name}");
                    assert!(!crate::statics::is_code(&name) && !target::is_hidden(&name[1..]), "{path} sends {name}");
                    assert!(Decoded::read(name.as_bytes()).is_some(), "{path} sends {name}");
                }
                Resolved::Directory(_) | Resolved::Status(400 | 403 | 404) => {}
                Resolved::Status(status) => panic!("{path}: {status}"),
            }
        }
    }
    assert!(executed > 1000, "{executed}");
}

#[test]
fn a_script_that_stays_answers_in_place_of_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("public");
    for file in ["in/worker.php", "other.php", "style.css"] {
        write(&root, file);
    }
    let [document_root, script_worker] =
        [root.clone(), root.join("in/worker.php")].map(|path| path.to_str().unwrap().to_owned());
    let settings = Settings { document_root, script_worker: script_worker.clone(), ..Settings::default() };
    let scripts = Scripts::open(ScriptsConfig::of(&settings).unwrap()).unwrap();
    for (path, path_info) in [("/", ""), ("/a/b", ""), ("/other.php/x", ""), ("/in/worker.php/x", "/x")] {
        let Resolved::Script(script) = scripts.resolve_now(path.as_bytes()) else { panic!("{path} is a script's") };
        assert_eq!((&script.filename, &script.script_name[..]), (&script_worker, "/in/worker.php"), "{path}");
        assert_eq!(script.path_info, path_info.as_bytes(), "{path}");
    }
    assert_eq!(scripts.resolve_now(b"/style.css"), Resolved::File("/style.css".to_owned()));
    assert!(ScriptsConfig::of(&Settings { script_worker: "/elsewhere/worker.php".to_owned(), ..settings }).is_err());
}
