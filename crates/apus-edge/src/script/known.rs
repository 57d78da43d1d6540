//! Applications that are known by their own files: what the manuals of each, and Debian's files for Apache, say of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::preset::{Kind, Preset};

/// What is known of an application that lies in the directory of its documents.
struct Known {
    kind: Kind,
    /// Files and directories that it has, and others have not together.
    marks: &'static [&'static str],
    forbidden: &'static [&'static str],
    denied: &'static [&'static str],
    /// Where Debian has it, and what links of its package lead to.
    package: &'static str,
    links: &'static [&'static str],
}

const KNOWN: [Known; 5] = [
    Known {
        kind: Kind::WordPress,
        marks: &["wp-load.php", "wp-includes"],
        // Whatever is uploaded is data: WordPress's own advice for nginx.
        forbidden: &["/uploads/*", "*/uploads/*", "/files/*", "*/files/*"],
        denied: &[],
        package: "/usr/share/wordpress",
        links: &["/var/lib/wordpress/wp-content", "/usr/share/javascript"],
    },
    Known {
        kind: Kind::MediaWiki,
        marks: &["load.php", "includes/WebStart.php"],
        forbidden: &["/images/*", "/upload/*", "/config/*"],
        denied: &[
            "/cache/*",
            "/includes/*",
            "/languages/*",
            "/maintenance/*",
            "/vendor/*",
            "/tests/*",
            "/images/deleted/*",
            "/images/lockdir/*",
            "/LocalSettings.php*",
        ],
        package: "/usr/share/mediawiki",
        links: &["/usr/share/mediawiki", "/var/lib/mediawiki", "/usr/share/javascript"],
    },
    Known {
        kind: Kind::PhpMyAdmin,
        marks: &["url.php", "libraries", "templates", "themes"],
        forbidden: &[],
        denied: &[
            "/libraries/*",
            "/templates/*",
            "/setup/frames/*",
            "/setup/lib/*",
            "/sql/*",
            "/tmp/*",
            "/vendor/*",
            "/config.inc.php*",
        ],
        package: "/usr/share/phpmyadmin",
        links: &["/usr/share/javascript", "/usr/share/doc/phpmyadmin"],
    },
    Known {
        kind: Kind::DokuWiki,
        marks: &["doku.php", "inc/init.php"],
        forbidden: &[],
        denied: &["/bin/*", "/conf/*", "/data/*", "/inc/*", "/vendor/*"],
        package: "/usr/share/dokuwiki",
        links: &["/var/lib/dokuwiki/lib", "/usr/share/javascript"],
    },
    Known {
        kind: Kind::Roundcube,
        marks: &["index.php", "program/include/iniset.php"],
        forbidden: &[],
        denied: &[
            "/SQL/*",
            "/bin/*",
            "/config/*",
            "/logs/*",
            "/temp/*",
            "/tests/*",
            "/vendor/*",
            "/program/include/*",
            "/program/lib/*",
            "/program/localization/*",
            "/program/steps/*",
        ],
        package: "/usr/share/roundcube",
        links: &[
            "/var/lib/roundcube/plugins",
            "/var/lib/roundcube/skins",
            "/usr/share/roundcube",
            "/usr/share/javascript",
        ],
    },
];

/// The application of a directory, if it is one of those.
pub(super) fn find(directory: &Path) -> Option<Preset> {
    let (known, home) = KNOWN.iter().find_map(|known| Some((known, home(known, directory)?)))?;
    let mut preset = Preset::new(known.kind, directory);
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    (preset.forbidden, preset.denied) = (owned(known.forbidden), owned(known.denied));
    // Debian has what an application writes, and libraries, outside of the directory of its package.
    let real = fs::canonicalize(home.join(known.marks[0])).unwrap_or_default();
    if real.starts_with(known.package) {
        preset.links = known.links.iter().map(PathBuf::from).filter(|link| link.is_dir()).collect();
    }
    let documents = home.join("public_html");
    if known.kind == Kind::Roundcube && documents.join("index.php").is_file() {
        // What a browser asks for is there, by links; nothing of the rest is.
        preset.root = documents;
        preset.links.extend(["plugins", "skins", "program"].map(|name| home.join(name)));
        preset.links.retain(|link| link.is_dir());
    }
    Some(preset)
}

/// The directory of the application, which may be the one above that of its documents.
fn home(known: &Known, directory: &Path) -> Option<PathBuf> {
    let has = |at: &Path| known.marks.iter().all(|mark| at.join(mark).exists());
    if has(directory) {
        return Some(directory.to_owned());
    }
    let above = directory.parent().filter(|_| directory.file_name().is_some_and(|name| name == "public_html"));
    above.filter(|above| known.kind == Kind::Roundcube && has(above)).map(Path::to_owned)
}
