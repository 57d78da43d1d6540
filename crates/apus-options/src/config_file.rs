//! The configuration file of a server: TOML, with the settings that `set()` takes.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::nearest;
use crate::host::check_host_name;
use crate::row::Row;
use crate::table::{Settings, find};
use crate::value::Value;

/// A setting by the name that the table of settings has for it, with a value that it takes.
pub type Setting = (&'static str, Value);

/// What a configuration file says.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ConfigFile {
    /// `script`: the PHP file that starts the server.
    pub script: Option<String>,
    /// `args`: what the script is given.
    pub args: Vec<String>,
    /// `[php]`: entries of php.ini.
    pub ini: Vec<(String, String)>,
    /// `[server]`: settings of the whole server.
    pub server: Vec<Setting>,
    /// Where each of them stands.
    pub server_places: Vec<TextPlace>,
    /// Each `[[port]]`.
    pub ports: Vec<PortSection>,
    /// Each `[[host]]`.
    pub hosts: Vec<HostSection>,
}

/// Settings of one host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSection {
    /// The names that mean it.
    pub names: Vec<String>,
    /// What it has on top of the settings of each port.
    pub settings: Vec<Setting>,
    /// Where each of them stands, and the first of all the table itself.
    pub places: Vec<TextPlace>,
}

/// Settings of one port.
#[derive(Debug, Clone, PartialEq)]
pub struct PortSection {
    /// Where it listens.
    pub listen: Listen,
    /// What it has on top of the server's settings.
    pub settings: Vec<Setting>,
    /// Where each of them stands, and the first of all the table itself.
    pub places: Vec<TextPlace>,
}

/// Where a port listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listen {
    /// An IP address or the name of a host, and a port of TCP.
    Tcp(String, u16),
    /// The path of a Unix socket.
    Unix(String),
}

/// A line, and the column in characters; both from 1.
pub type TextPlace = (usize, usize);

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub text: String,
}

/// `LINE:COLUMN: TEXT`, to be written behind the name of the file.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.text)
    }
}

const KEYS: [&str; 6] = ["script", "args", "php", "server", "port", "host"];

impl ConfigFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the text.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut reader = Reader { text, problems: Vec::new() };
        for error in errors {
            reader.problem(error.span().unwrap_or_default(), error.message().to_owned());
        }
        // What could not be read as TOML would be told of twice.
        let file = if reader.problems.is_empty() { reader.file(document.get_ref()) } else { Self::default() };
        let mut problems = reader.problems;
        problems.sort_by_key(|problem| (problem.line, problem.column));
        if problems.is_empty() { Ok(file) } else { Err(problems) }
    }
}

type Entry<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, at: Range<usize>, text: String) {
        let (line, column) = self.place(&at);
        self.problems.push(Problem { line, column, text });
    }

    fn place(&self, at: &Range<usize>) -> TextPlace {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let line_at = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[line_at..].chars().count() + 1)
    }

    fn file(&mut self, document: &DeTable<'_>) -> ConfigFile {
        let mut file = ConfigFile::default();
        for (key, value) in document {
            match &**key.get_ref() {
                "script" => file.script = self.string("script", value),
                "args" => file.args = self.strings("args", value),
                "php" => file.ini = self.ini(value),
                "server" => (file.server, file.server_places) = self.server(value),
                "port" => file.ports = self.ports(value),
                "host" => file.hosts = self.hosts(value),
                other => self.unknown_key(key.span(), other),
            }
        }
        file
    }

    fn unknown_key(&mut self, at: Range<usize>, name: &str) {
        let text = if find(name).is_some() {
            format!(
                "\"{name}\" is a setting of the server: write it below [server], or below the [[port]] that is meant"
            )
        } else {
            match nearest(name, KEYS.into_iter()) {
                Some(near) => format!("unknown key \"{name}\": did you mean \"{near}\"?"),
                None => format!("unknown key \"{name}\": a file has {}", KEYS.join(", ")),
            }
        };
        self.problem(at, text);
    }

    fn string(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = value.get_ref().as_str().filter(|text| !text.contains('\0')).map(str::to_owned);
        if text.is_none() {
            self.problem(value.span(), format!("\"{name}\" must be a string"));
        }
        text
    }

    fn strings(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        let Some(items) = value.get_ref().as_array() else {
            self.problem(value.span(), format!("\"{name}\" must be a list of strings"));
            return Vec::new();
        };
        items.iter().filter_map(|item| self.string(name, item)).collect()
    }

    /// The entries of a table; none where it is something else.
    fn table<'v, 'i>(&mut self, what: &str, value: &'v Spanned<DeValue<'i>>) -> Vec<Entry<'v, 'i>> {
        let Some(table) = value.get_ref().as_table() else {
            self.problem(value.span(), format!("{what} must be a table"));
            return Vec::new();
        };
        table.iter().collect()
    }

    fn ini(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        for (key, value) in self.table("[php]", value) {
            match plain(value.get_ref()) {
                Some(Value::Bool(on)) => entries.push((key.get_ref().to_string(), u8::from(on).to_string())),
                Some(Value::Str(text)) if !text.contains(['\0', '\n']) => {
                    entries.push((key.get_ref().to_string(), text));
                }
                Some(Value::Int(number)) => entries.push((key.get_ref().to_string(), number.to_string())),
                Some(Value::Float(number)) => entries.push((key.get_ref().to_string(), number.to_string())),
                // `session.name = "x"` without quotes around the key is a table of a table.
                Some(Value::Map(_)) => {
                    let text = format!("quote the name of an entry with a dot: \"{}.…\" = …", key.get_ref());
                    self.problem(key.span(), text);
                }
                _ => {
                    self.problem(value.span(), "an entry of php.ini is a string, a number or a truth value".to_owned());
                }
            }
        }
        entries
    }

    fn server(&mut self, value: &Spanned<DeValue<'_>>) -> (Vec<Setting>, Vec<TextPlace>) {
        let entries = self.table("[server]", value);
        entries.into_iter().filter_map(|entry| Some((self.setting(entry)?, self.place(&entry.0.span())))).unzip()
    }

    fn ports(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<PortSection> {
        let Some(items) = value.get_ref().as_array() else {
            self.problem(value.span(), "a port is written as [[port]], once for each".to_owned());
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let mut ports = Vec::new();
        for item in items {
            let Some(port) = self.port(item) else { continue };
            if seen.insert(port.listen.clone()) {
                ports.push(port);
            } else {
                self.problem(item.span(), "an earlier [[port]] listens at the same address".to_owned());
            }
        }
        ports
    }

    fn port(&mut self, item: &Spanned<DeValue<'_>>) -> Option<PortSection> {
        let entries = self.table("[[port]]", item);
        let mut listen = None;
        let mut settings = Vec::new();
        let mut places = vec![self.place(&item.span())];
        for entry in entries {
            if entry.0.get_ref() == "listen" {
                listen = Some(self.listen(entry.1));
            } else if let Some((name, value)) = self.setting(entry) {
                if find(name).is_some_and(Row::of_whole_server) {
                    let text = format!("setting \"{name}\" belongs to the whole server: write it below [server]");
                    self.problem(entry.0.span(), text);
                }
                places.push(self.place(&entry.0.span()));
                settings.push((name, value));
            }
        }
        if listen.is_none() && item.get_ref().is_table() {
            let text = "a [[port]] needs listen = \"ADDRESS:PORT\" or \"unix:PATH\"".to_owned();
            self.problem(item.span(), text);
        }
        Some(PortSection { listen: listen??, settings, places })
    }

    fn hosts(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<HostSection> {
        let Some(items) = value.get_ref().as_array() else {
            self.problem(value.span(), "a host is written as [[host]], once for each".to_owned());
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        items.iter().filter_map(|item| self.host(item, &mut seen)).collect()
    }

    fn host(&mut self, item: &Spanned<DeValue<'_>>, seen: &mut BTreeSet<String>) -> Option<HostSection> {
        let mut host = HostSection { names: Vec::new(), settings: Vec::new(), places: vec![self.place(&item.span())] };
        for entry in self.table("[[host]]", item) {
            let key = &**entry.0.get_ref();
            if matches!(key, "names" | "name") {
                host.names.extend(self.host_names(entry.1, seen));
            } else if key == "listen" {
                self.problem(entry.0.span(), "a [[host]] is one of every [[port]]: it has no listen".to_owned());
            } else if let Some((name, value)) = self.setting(entry) {
                if find(name).is_some_and(|row| !row.of_host()) {
                    let text = format!("setting \"{name}\" is not one of hosts: write it below [server] or a [[port]]");
                    self.problem(entry.0.span(), text);
                }
                host.places.push(self.place(&entry.0.span()));
                host.settings.push((name, value));
            }
        }
        if host.names.is_empty() && item.get_ref().is_table() {
            self.problem(item.span(), "a [[host]] needs names = [\"www.example.org\"]".to_owned());
            return None;
        }
        Some(host)
    }

    fn host_names(&mut self, value: &Spanned<DeValue<'_>>, seen: &mut BTreeSet<String>) -> Vec<String> {
        let given = match value.get_ref() {
            DeValue::String(_) => vec![value],
            DeValue::Array(items) => items.iter().collect(),
            _ => {
                self.problem(value.span(), "\"names\" must be a list of strings".to_owned());
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        for item in given {
            let Some(name) = self.string("names", item) else { continue };
            if let Err(why) = check_host_name(&name) {
                self.problem(item.span(), why);
            } else if !seen.insert(name.trim_end_matches('.').to_ascii_lowercase()) {
                self.problem(item.span(), format!("an earlier [[host]] is named {name}, too"));
            }
            names.push(name);
        }
        names
    }

    fn listen(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Listen> {
        let text = self.string("listen", value)?;
        let listen = match text.strip_prefix("unix:") {
            Some("") => None,
            Some(path) => Some(Listen::Unix(path.to_owned())),
            None => text.rsplit_once(':').and_then(|(host, port)| {
                let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
                let plain = !bare.is_empty() && (bare.len() < host.len() || !host.contains(':'));
                Some(Listen::Tcp(bare.to_owned(), port.parse().ok().filter(|_| plain)?))
            }),
        };
        if listen.is_none() {
            let text =
                format!("listen must be \"ADDRESS:PORT\", \"[ADDRESS]:PORT\" or \"unix:PATH\", \"{text}\" given");
            self.problem(value.span(), text);
        }
        listen
    }

    fn setting(&mut self, (key, value): Entry<'_, '_>) -> Option<Setting> {
        let name = &**key.get_ref();
        if name == "package_length_func" {
            let text = "\"package_length_func\" is a PHP function: it can only be set in the script".to_owned();
            self.problem(key.span(), text);
            return None;
        }
        let Some(plain) = plain(value.get_ref()) else {
            self.problem(value.span(), format!("setting \"{name}\" cannot be a date or a number of this form"));
            return None;
        };
        if let Err(error) = Settings::default().set(name, &plain) {
            let at = if find(name).is_some() { value.span() } else { key.span() };
            self.problem(at, error.to_string());
            return None;
        }
        find(name).map(|row| (row.name, plain))
    }
}

/// A value as a program would have written it.
fn plain(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::Str(text.to_string()),
        DeValue::Integer(number) => Value::Int(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) => Value::Float(number.as_str().parse().ok()?),
        DeValue::Boolean(on) => Value::Bool(*on),
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => Value::List(items.iter().map(|item| plain(item.get_ref())).collect::<Option<_>>()?),
        DeValue::Table(table) => {
            let named = |(key, value): Entry<'_, '_>| Some((key.get_ref().to_string(), plain(value.get_ref())?));
            Value::Map(table.iter().map(named).collect::<Option<_>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        ConfigFile::parse(text).expect_err(text).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_file_holds_what_set_takes() {
        let text = r#"
script = "server.php"
args = ["--quiet"]

[php]
memory_limit = "512M"
"session.name" = "sid"
zend_assertions = -1
short_open_tag = false

[server]
worker_num = 4
buffer_output_size = "8M"
package_eof = "\n"
http_index_files = ["index.html", "index.htm"]
static_cache_control = { "*.css" = "max-age=60" }

[[port]]
listen = "0.0.0.0:443"
ssl_cert_file = "a.pem"

[[port]]
listen = "[::1]:0x50"
"#;
        assert_eq!(
            problems(text),
            ["23:10: listen must be \"ADDRESS:PORT\", \"[ADDRESS]:PORT\" or \"unix:PATH\", \"[::1]:0x50\" given"]
        );
        let file = ConfigFile::parse(&text.replace("0x50", "80")).expect("read");
        assert_eq!((file.script.as_deref(), file.args.as_slice()), (Some("server.php"), &["--quiet".to_owned()][..]));
        let ini: Vec<String> = file.ini.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(ini, ["memory_limit=512M", "session.name=sid", "zend_assertions=-1", "short_open_tag=0"]);
        let names: Vec<&str> = file.server.iter().map(|(name, _)| *name).collect();
        let expected = ["worker_num", "buffer_output_size", "package_eof", "http_index_files", "static_cache_control"];
        assert_eq!(names, expected);
        assert_eq!(file.server[0].1, Value::Int(4));
        assert_eq!(file.ports[0].listen, Listen::Tcp("0.0.0.0".into(), 443));
        assert_eq!(file.ports[0].settings, [("ssl_cert_file", Value::from("a.pem"))]);
        assert_eq!(file.ports[1].listen, Listen::Tcp("::1".into(), 80));
    }

    #[test]
    fn every_problem_is_told_with_its_place() {
        let text = "worker_num = 1\nscirpt = 1\n[server]\nworker_nums = 2\nmax_conn = \"many\"\n[[port]]\nlisten = \"unix:\"\nworker_num = 2\n[[port]]\nssl_cert_file = 1.5\n";
        let told = problems(text);
        assert_eq!(told.len(), 8, "{told:#?}");
        assert!(told[0].starts_with("1:1: \"worker_num\" is a setting of the server: write it below [server]"));
        assert_eq!(told[1], "2:1: unknown key \"scirpt\": did you mean \"script\"?");
        assert_eq!(told[2], "4:1: unknown setting \"worker_nums\": did you mean \"worker_num\"?");
        assert!(told[3].starts_with("5:12: setting \"max_connection\" must be a whole number"), "{}", told[3]);
        assert!(told[4].starts_with("7:10: listen must be"));
        assert!(told[5].starts_with("8:1: setting \"worker_num\" belongs to the whole server"));
        assert!(told[6].starts_with("9:1: a [[port]] needs listen"));
        assert!(told[7].starts_with("10:17: setting \"ssl_cert_file\" must be a string"));
    }

    #[test]
    fn hosts_have_names_and_settings_of_their_own() {
        let text = "[[host]]\nnames = [\"a.test\", \"*.a.test\"]\ndocument_root = \"a\"\n[[host]]\nname = \"b.test\"\n";
        let file = ConfigFile::parse(text).expect("read");
        assert_eq!(file.hosts[0].names, ["a.test", "*.a.test"]);
        assert_eq!(file.hosts[0].settings, [("document_root", Value::from("a"))]);
        assert_eq!((file.hosts[1].names[0].as_str(), file.hosts[1].settings.len()), ("b.test", 0));
        let text = "[[host]]\nnames = [\"a.test\", \"A.test.\", \"http://a\"]\ndocument_rot = \"a\"\nbacklog = 1\n\
                    worker_num = 1\nlisten = \"a:1\"\n[[host]]\nnames = []\n";
        let told = problems(text);
        assert_eq!(told[0], "2:20: an earlier [[host]] is named A.test., too");
        assert!(told[1].starts_with("2:31: \"http://a\" is no name of a host"), "{told:#?}");
        assert_eq!(told[2], "3:1: unknown setting \"document_rot\": did you mean \"document_root\"?");
        assert!(told[3].starts_with("4:1: setting \"backlog\" is not one of hosts"), "{told:#?}");
        assert!(told[4].starts_with("5:1: setting \"worker_num\" is not one of hosts"));
        assert!(told[5].starts_with("6:1: a [[host]] is one of every [[port]]"));
        assert!(told[6].starts_with("7:1: a [[host]] needs names"));
        assert_eq!(told.len(), 7, "{told:#?}");
    }

    #[test]
    fn what_is_no_toml_is_told_alone() {
        let told = problems("[server\nworker_num = \n");
        assert!(told.iter().all(|text| text.starts_with("1:") || text.starts_with("2:")), "{told:?}");
        assert_eq!(problems("port = 3"), ["1:8: a port is written as [[port]], once for each"]);
        assert_eq!(
            problems("[php]\nsession.name = 'x'"),
            ["2:1: quote the name of an entry with a dot: \"session.…\" = …"]
        );
        assert_eq!(
            problems("[server]\nmax_conn = 1979-05-27"),
            ["2:12: setting \"max_conn\" cannot be a date or a number of this form"]
        );
        let twice = "[[port]]\nlisten = \"a:1\"\n[[port]]\nlisten = \"a:1\"\n";
        assert_eq!(problems(twice), ["3:1: an earlier [[port]] listens at the same address"]);
    }
}
