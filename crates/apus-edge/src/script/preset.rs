//! What a directory holds, found by looking: where its documents are, and what nginx would be told of it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes read of a file that is looked into.
const LOOK: u64 = 64 * 1024;

/// A kind of application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `WordPress`, in the directory itself.
    WordPress,
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
    /// The setting `document_root_links`.
    pub links: Vec<PathBuf>,
}

impl Kind {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::WordPress => "WordPress",
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
        let has = |name: &str| directory.join(name).is_file();
        if has("wp-load.php") && directory.join("wp-includes").is_dir() {
            return Self::wordpress(directory);
        }
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

    fn wordpress(directory: &Path) -> Self {
        // Whatever is uploaded is data: WordPress's own advice for nginx.
        let data = ["/uploads/*", "*/uploads/*", "/files/*", "*/files/*"];
        let mut preset = Self { forbidden: data.map(str::to_owned).into(), ..Self::new(Kind::WordPress, directory) };
        // Debian has uploads and plugins outside of the package's directory.
        let content = Path::new("/var/lib/wordpress/wp-content");
        if fs::canonicalize(directory).is_ok_and(|real| real == Path::new("/usr/share/wordpress")) && content.is_dir() {
            preset.links = vec![content.to_owned(), "/usr/share/javascript".into()];
            preset.links.retain(|link| link.is_dir());
        }
        preset
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
            Kind::Plain => &["$uri", "$uri/"],
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
        let forbidden = if self.forbidden.is_empty() {
            String::new()
        } else {
            format!("; no PHP in {}", self.forbidden.join(", "))
        };
        format!("{} in {}{front}{forbidden}", self.kind.name(), self.root.display())
    }
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
            if root == "public" {
                assert_eq!(Preset::find(&found.root), found, "{files:?} from its documents");
            }
        }
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
