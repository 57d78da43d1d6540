//! What a directory holds, found by looking: where its documents are, and what nginx would be told of it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::known;

/// Bytes read of a file that is looked into.
const LOOK: u64 = 64 * 1024;
/// Entries of the directory of the documents that are looked at.
const ENTRIES: usize = 1000;

/// A kind of application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `WordPress`, in the directory itself.
    WordPress,
    /// `MediaWiki`, in the directory itself.
    MediaWiki,
    /// phpMyAdmin, in the directory itself.
    PhpMyAdmin,
    /// `DokuWiki`, in the directory itself.
    DokuWiki,
    /// Roundcube, in `public_html/` where it has one.
    Roundcube,
    /// Laravel, in `public/`.
    Laravel,
    /// Symfony, in `public/`.
    Symfony,
    /// A front controller in `public/`, as Slim and most others have it.
    Public,
    /// A front controller that `.htaccess` leads to, as Drupal and Joomla have it.
    Front,
    /// Scripts.
    Plain,
}

/// What a directory is served as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// What it is.
    pub kind: Kind,
    /// The directory of the documents.
    pub root: PathBuf,
    /// The setting `try_files`.
    pub tries: Vec<String>,
    /// The setting `http_index_files`.
    pub index: Vec<String>,
    /// The setting `denied_scripts`.
    pub forbidden: Vec<String>,
    /// The setting `denied_paths`.
    pub denied: Vec<String>,
    /// The setting `document_root_links`.
    pub links: Vec<PathBuf>,
}

impl Kind {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::WordPress => "WordPress",
            Self::MediaWiki => "MediaWiki",
            Self::PhpMyAdmin => "phpMyAdmin",
            Self::DokuWiki => "DokuWiki",
            Self::Roundcube => "Roundcube",
            Self::Laravel => "Laravel",
            Self::Symfony => "Symfony",
            Self::Public => "a front controller in public/",
            Self::Front => "a front controller, by its .htaccess",
            Self::Plain => "plain PHP scripts",
        }
    }
}

impl Preset {
    /// What a directory holds. It may be that of the project or that of its documents.
    pub fn find(directory: &Path) -> Self {
        let mut found = known::find(directory).unwrap_or_else(|| Self::other(directory));
        let mut closed = closed(&found.root);
        closed.retain(|path| !found.denied.contains(path));
        found.denied.append(&mut closed);
        found
    }

    fn other(directory: &Path) -> Self {
        let has = |name: &str| directory.join(name).is_file();
        if has("public/index.php") && is_project(directory) {
            return Self::project(directory, &directory.join("public"));
        }
        let project = directory.parent().filter(|_| directory.file_name().is_some_and(|name| name == "public"));
        if let Some(project) = project.filter(|project| has("index.php") && is_project(project)) {
            return Self::project(project, directory);
        }
        let leads = text_of(&directory.join(".htaccess")).is_some_and(|text| leads_to_front(&text));
        let kind = if leads && has("index.php") { Kind::Front } else { Kind::Plain };
        Self::new(kind, directory)
    }

    fn project(project: &Path, root: &Path) -> Self {
        if project.join("artisan").is_file() {
            let storage = project.join("storage/app/public");
            let mut preset = Self::new(Kind::Laravel, root);
            preset.forbidden = vec!["/storage/*".to_owned()];
            // `artisan storage:link` has public/storage lead there.
            preset.links = storage.is_dir().then_some(storage).into_iter().collect();
            return preset;
        }
        let composer = text_of(&project.join("composer.json")).unwrap_or_default();
        let symfony = project.join("bin/console").is_file()
            || composer.contains("\"symfony/framework-bundle\"")
            || composer.contains("\"symfony/runtime\"");
        if symfony {
            let mut preset = Self::new(Kind::Symfony, root);
            preset.forbidden = vec!["/uploads/*".to_owned()];
            return preset;
        }
        Self::new(Kind::Public, root)
    }

    /// A kind without anything of its own.
    pub fn new(kind: Kind, root: &Path) -> Self {
        let tries: &[&str] = match kind {
            Kind::Plain | Kind::PhpMyAdmin | Kind::DokuWiki | Kind::Roundcube => &["$uri", "$uri/"],
            // Its routes may be called as directories are.
            Kind::Symfony => &["$uri", "/index.php"],
            _ => &["$uri", "$uri/", "/index.php"],
        };
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            kind,
            root: root.to_owned(),
            tries: owned(tries),
            index: owned(&["index.php", "index.html"]),
            forbidden: Vec::new(),
            denied: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Who answers what nothing is there for.
    pub fn front(&self) -> Option<&str> {
        self.tries
            .last()
            .map(String::as_str)
            .filter(|last| !last.contains("$uri") && super::target::is_script(last.as_bytes()))
    }

    /// One line that says what was found.
    pub fn told(&self) -> String {
        let front = self.front().map(|front| format!(", what is no file goes to {front}")).unwrap_or_default();
        let all = |said: &str, patterns: &[String]| match patterns {
            [] => String::new(),
            some => format!("; {said} {}", some.join(", ")),
        };
        let (forbidden, denied) = (all("no PHP in", &self.forbidden), all("nobody gets", &self.denied));
        format!("{} in {}{front}{forbidden}{denied}", self.kind.name(), self.root.display())
    }
}

/// Patterns of the directories right below one that nobody gets into under Apache, by an `.htaccess` of theirs.
fn closed(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let names = entries.take(ENTRIES).flatten().filter_map(|entry| entry.file_name().into_string().ok());
    // A pattern has `*` for anything: a name with one would say more than itself.
    let is_closed = |name: &String| {
        !name.starts_with('.')
            && !name.contains('*')
            && text_of(&root.join(name).join(".htaccess")).is_some_and(|rules| denies_all(&rules))
    };
    let mut found: Vec<String> = names.filter(is_closed).map(|name| format!("/{name}/*")).collect();
    found.sort_unstable();
    found
}

/// Whether rules for Apache deny everything: not only some files of it, nor only under a condition other than which
/// Apache it is.
fn denies_all(rules: &str) -> bool {
    let mut within = 0_usize;
    for line in rules.lines().map(|line| line.trim().to_ascii_lowercase()) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            [first, ..] if first.starts_with("</") => within = within.saturating_sub(usize::from(!is_version(first))),
            [first, ..] if first.starts_with('<') => within += usize::from(!is_version(first)),
            ["deny", "from", "all"] | ["require", "all", "denied"] if within == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Whether a section of such rules asks for modules or the version only.
fn is_version(section: &str) -> bool {
    let name = section.trim_start_matches(['<', '/']).trim_end_matches('>');
    matches!(name, "ifmodule" | "ifversion")
}

/// Whether a directory is that of a project, whose documents are in `public/`.
fn is_project(directory: &Path) -> bool {
    ["composer.json", "artisan", "bin/console", "vendor/autoload.php"].iter().any(|name| directory.join(name).is_file())
}

/// Whether rules for Apache send what is no file to `index.php`.
fn leads_to_front(rules: &str) -> bool {
    rules.lines().map(str::trim_start).any(|line| {
        let mut words = line.split_ascii_whitespace();
        let word = words.next().unwrap_or_default();
        let target = match () {
            () if word.eq_ignore_ascii_case("RewriteRule") => words.nth(1),
            () if word.eq_ignore_ascii_case("FallbackResource") => words.next(),
            () => None,
        };
        target.is_some_and(|target| {
            let path = target.split(['?', '/']).find(|name| super::target::is_script(name.as_bytes()));
            path == Some("index.php")
        })
    })
}

fn text_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LOOK).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let (name, text) = file.split_once('=').unwrap_or((file, ""));
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn applications_are_told_by_their_files() {
        for (files, kind, root) in [
            (&["wp-load.php", "wp-includes/x", "index.php"][..], Kind::WordPress, ""),
            (&["index.php", "load.php", "includes/WebStart.php"], Kind::MediaWiki, ""),
            (&["index.php", "url.php", "libraries/x", "templates/x", "themes/x"], Kind::PhpMyAdmin, ""),
            (&["doku.php", "inc/init.php", "index.php"], Kind::DokuWiki, ""),
            (&["index.php", "program/include/iniset.php", "public_html/index.php"], Kind::Roundcube, "public_html"),
            (&["index.php", "program/include/iniset.php"], Kind::Roundcube, ""),
            (&["artisan", "public/index.php", "composer.json={}"], Kind::Laravel, "public"),
            (&["bin/console", "public/index.php"], Kind::Symfony, "public"),
            (&["composer.json={\"symfony/runtime\":1}", "public/index.php"], Kind::Symfony, "public"),
            (&["composer.json={}", "public/index.php"], Kind::Public, "public"),
            (&["index.php", ".htaccess=RewriteRule ^(.*)$ index.php?q=$1 [L,QSA]"], Kind::Front, ""),
            (&["index.php", ".htaccess=  FallbackResource /sub/index.php"], Kind::Front, ""),
            (&["index.php", ".htaccess=RewriteRule ^old$ other.php"], Kind::Plain, ""),
            (&["index.php", ".htaccess=# RewriteRule . index.php"], Kind::Plain, ""),
            (&["index.php", "public/index.php"], Kind::Plain, ""),
            (&[], Kind::Plain, ""),
        ] {
            let folder = folder(files);
            let found = Preset::find(folder.path());
            assert_eq!(
                (found.kind, &found.root),
                (kind, &folder.path().join(root).components().collect()),
                "{files:?}"
            );
            if !root.is_empty() {
                assert_eq!(Preset::find(&found.root), found, "{files:?} from its documents");
            }
        }
    }

    #[test]
    fn directories_that_apache_denies_are_denied() {
        let folder = folder(&[
            "index.php",
            "data/.htaccess=# mine\n<IfModule mod_authz_core.c>\n  Require all denied\n</IfModule>",
            "conf/.htaccess=order allow,deny\nDENY from all",
            "open/.htaccess=<Files \"x\">\nDeny from all\n</Files>",
            "commented/.htaccess=# Deny from all",
            "plain/x",
            "deep/er/.htaccess=Deny from all",
        ]);
        let found = Preset::find(folder.path());
        assert_eq!(found.denied, ["/conf/*", "/data/*"]);
        assert!(found.told().ends_with("; nobody gets /conf/*, /data/*"), "{}", found.told());
    }

    #[test]
    fn what_was_found_is_told() {
        let folder = folder(&["artisan", "public/index.php", "storage/app/public/x"]);
        let found = Preset::find(folder.path());
        let at = folder.path().display();
        assert_eq!(
            found.told(),
            format!("Laravel in {at}/public, what is no file goes to /index.php; no PHP in /storage/*")
        );
        assert_eq!(found.links, [folder.path().join("storage/app/public")]);
        let told = Preset::new(Kind::Plain, Path::new("/srv")).told();
        assert_eq!(told, "plain PHP scripts in /srv");
    }
}
