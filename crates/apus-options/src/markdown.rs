//! The reference page, made from the rows.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::client::{self, http, socket};
use crate::error::bytes;
use crate::row::{Kind, Row, Scope, Support};
use crate::table::Settings;
use crate::table::rows;
use crate::value::Value;

/// The text of docs/options.md.
pub fn markdown() -> String {
    let mut page = String::new();
    for (scope, title) in
        [(Scope::Server, "Server"), (Scope::Port, "Port"), (Scope::Coroutine, "Coroutines"), (Scope::Client, "Clients")]
    {
        let group: Vec<&Row> = rows().filter(|row| row.scope == scope && row.support == Support::Full).collect();
        if !group.is_empty() {
            let _ = write!(page, "\n## {title}\n");
            for row in group {
                section(&mut page, row, Settings::default().get(row.name));
            }
        }
    }
    clients(&mut page, "All clients", ALL, client::Settings::rows(), |name| client::Settings::default().get(name));
    let own = |row: &&'static Row| !client::Settings::rows().any(|common| common.name == row.name);
    let sockets = socket::Settings::rows().filter(own);
    clients(&mut page, "Clients", SOCKETS, sockets, |name| socket::Settings::default().get(name));
    let https = http::Settings::rows().filter(own);
    clients(&mut page, "HTTP clients", HTTP, https, |name| http::Settings::default().get(name));
    names(&mut page, "Accepted without effect", INERT, Support::NoEffect);
    names(&mut page, "Not supported yet", MISSING, Support::Missing);
    format!("{HEAD}{}{}", index(&page), wrapped(&page))
}

/// Links to all headings of a page, a list for each of its parts.
fn index(page: &str) -> String {
    let (mut out, mut seen) = (String::new(), HashMap::<String, usize>::new());
    for line in page.lines() {
        let (part, title) = match (line.strip_prefix("## "), line.strip_prefix("### ")) {
            (Some(title), _) => (true, title),
            (_, Some(title)) => (false, title),
            _ => continue,
        };
        let mut anchor = title.to_lowercase().replace(' ', "-").replace(':', "");
        // Of headings with one name, the later ones are counted.
        let before = seen.entry(anchor.clone()).or_default();
        if *before > 0 {
            let _ = write!(anchor, "-{before}");
        }
        *before += 1;
        let before = if part { "\n\n**" } else { " ·\n" };
        let after = if part { "**" } else { "" };
        let _ = write!(out, "{before}[{title}](#{anchor}){after}");
    }
    format!("{}\n", out.replacen('\n', "", 1))
}

/// The lines of a page, those of its paragraphs and lists no longer than others write them.
fn wrapped(page: &str) -> String {
    let mut out = String::new();
    for line in page.lines() {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let mut width = 0;
        for (at, word) in line.split(' ').enumerate() {
            if line.starts_with(['|', '#']) || at == 0 || width + 1 + word.chars().count() <= WIDTH {
                if at > 0 {
                    out.push(' ');
                    width += 1;
                }
            } else {
                let _ = write!(out, "\n{indent}");
                width = indent.len();
            }
            out.push_str(word);
            width += word.chars().count();
        }
        out.push('\n');
    }
    out
}

/// Columns of a line.
const WIDTH: usize = 120;

const HEAD: &str = "# Settings

Generated from the table in `crates/apus-options`; `APUS_UPDATE_DOCS=1 cargo test -p apus-options` writes it anew.

`$server->set([...])` takes the server's and the ports' settings; a port added with `$server->listen(...)` takes the
ports' with its own `set` and has the server's values for the rest. `null` restores a default. Sizes are bytes or text
such as `\"512K\"`, `\"8M\"`, `\"2G\"`; durations are seconds (fractions allowed) or text such as `\"250ms\"`, `\"10s\"`,
`\"5m\"`, `\"2h\"`.

Besides these, `set` takes `package_length_func`, a callable `(string $bytes): int` that tells how long the message at
the front of the bytes is, for ports with `open_length_check`.
";

const INERT: &str =
    "Known from other servers; Apus is built so that there is nothing to set. They are accepted and change nothing.";

const MISSING: &str =
    "Known, and refused with a clear message unless the value asks for nothing (`false`, `0`, `''`, `null`).";

const ALL: &str = "What the `set()` of every client takes.";

const SOCKETS: &str = "What `Coroutine\\Client::set()`, `Client::set()` and `Coroutine\\Socket::setProtocol()` take, besides the above and \
     `package_length_func`, a callable `(string $bytes): int` that tells how long the message at the front of the bytes is.";

const HTTP: &str = "What `Coroutine\\Http\\Client::set()` and `Coroutine\\Http2\\Client::set()` take besides.";

/// The settings of one kind of client, each with its default.
fn clients(
    page: &mut String,
    title: &str,
    text: &str,
    rows: impl Iterator<Item = &'static Row>,
    default: impl Fn(&str) -> Option<Value>,
) {
    let _ = write!(page, "\n## {title}\n\n{text}\n");
    let (full, others): (Vec<_>, Vec<_>) = rows.partition(|row| row.support == Support::Full);
    for row in full {
        section(page, row, default(row.name));
    }
    if others.is_empty() {
        return;
    }
    let _ = write!(page, "\n## {title}: known from elsewhere\n\n| setting | | |\n| --- | --- | --- |\n");
    for row in others {
        let fate = if row.support == Support::Missing { "refused" } else { "without effect" };
        let _ = writeln!(page, "| `{}` | {fate} | {} |", row.name, row.doc.trim());
    }
}

fn section(page: &mut String, row: &Row, value: Option<Value>) {
    let _ = write!(page, "\n### {}\n\n{}\n\n", row.name, row.doc.trim());
    let _ = writeln!(page, "- type: {}{}", row.kind.name(), limits(&row.kind));
    let _ = writeln!(page, "- default: {}", default(row, value));
    if !row.aliases.is_empty() {
        let _ =
            writeln!(page, "- also: {}", row.aliases.iter().map(|a| format!("`{a}`")).collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(page, "- since: {}", row.since);
}

fn names(page: &mut String, title: &str, text: &str, support: Support) {
    let _ = write!(page, "\n## {title}\n\n{text}\n\n| setting | |\n| --- | --- |\n");
    for row in rows().filter(|row| row.support == support) {
        let _ = writeln!(page, "| `{}` | {} |", row.name, row.doc.trim());
    }
}

fn limits(kind: &Kind) -> String {
    match kind {
        Kind::Int { min, max, unit: "" } => format!(", {min} to {max}"),
        Kind::Int { min, max, unit } => format!(", {min} to {max} {unit}"),
        Kind::Size { min, max } => format!(", {} to {}", bytes(*min), bytes(*max)),
        Kind::Duration { min, max } => format!(", {min} to {max} seconds"),
        Kind::Ints { min, max } => format!(", each {min} to {max}"),
        Kind::Choice(names) => {
            format!(": {}", names.iter().map(|(name, n)| format!("`{name}` ({n})")).collect::<Vec<_>>().join(", "))
        }
        Kind::Certificates => {
            ", by host: `ssl_cert_file`, `ssl_key_file`, `ssl_passphrase`, `ssl_stapling_file`".to_owned()
        }
        Kind::Networks => ", addresses and prefixes".to_owned(),
        Kind::Bool | Kind::Str | Kind::Texts | Kind::TextsByName | Kind::Any => String::new(),
    }
}

fn default(row: &Row, value: Option<Value>) -> String {
    if !row.default_text.is_empty() {
        return row.default_text.to_owned();
    }
    match (row.kind, value) {
        (Kind::Size { .. }, Some(Value::Int(n))) => bytes(n),
        (Kind::Duration { .. }, Some(Value::Float(s))) => format!("{s} s"),
        (Kind::Choice(names), Some(Value::Int(n))) => {
            names.iter().find(|(_, number)| *number == n).map_or_else(String::new, |(name, _)| format!("`{name}`"))
        }
        (_, Some(Value::Str(s))) if s.is_empty() => "empty".to_owned(),
        (_, Some(Value::Str(s))) => format!("`{s}`"),
        (_, Some(Value::List(items))) if items.is_empty() => "empty".to_owned(),
        (_, Some(Value::Map(items))) if items.is_empty() => "empty".to_owned(),
        (_, Some(value)) => value.to_string(),
        (_, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_page_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/options.md");
        if std::env::var_os("APUS_UPDATE_DOCS").is_some() {
            std::fs::write(path, markdown()).expect("docs/options.md is writable");
        }
        let page = std::fs::read_to_string(path).expect("docs/options.md is there");
        assert!(page == markdown(), "docs/options.md is stale: run APUS_UPDATE_DOCS=1 cargo test -p apus-options");
    }
}
