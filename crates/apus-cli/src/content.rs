//! What a server would refuse of a configuration file at its start, beyond what each setting takes by itself.

use std::net::TcpListener;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use apus_edge::script::Entries;
use apus_net::FRAMINGS;
use apus_net::tls::{Choice, Files, ServerTls, TicketSecret, Tickets};
use apus_options::{ConfigFile, Listen, PortSection, Problem, Setting, Settings, TextPlace, Value};
use apus_process::{AccessSettings, ListenAddr};

/// Settings, and where they stand.
struct Section<'f> {
    settings: &'f [Setting],
    places: &'f [TextPlace],
    /// Where the table itself begins.
    begin: TextPlace,
}

impl<'f> Section<'f> {
    /// Of a table whose first place is its own.
    fn of(settings: &'f [Setting], places: &'f [TextPlace]) -> Self {
        let (begin, places) = places.split_first().map_or(((1, 1), places), |(begin, rest)| (*begin, rest));
        Self { settings, places, begin }
    }

    fn has(&self, wanted: &str) -> bool {
        self.settings.iter().any(|(name, _)| *name == wanted)
    }

    /// Where the setting stands that a complaint names first, if one of these is named at all.
    fn place_of(&self, why: &str) -> Option<TextPlace> {
        let named =
            self.settings.iter().zip(self.places).filter_map(|((name, _), place)| Some((why.find(name)?, *place)));
        named.min_by_key(|(at, _)| *at).map(|(_, place)| place)
    }
}

/// What is wrong, in the order of the text.
pub(crate) fn problems(file: &ConfigFile) -> Vec<Problem> {
    let server = Section { settings: &file.server, places: &file.server_places, begin: (1, 1) };
    let ports: Vec<_> = file.ports.iter().map(|port| Section::of(&port.settings, &port.places)).collect();
    let hosts: Vec<_> = file.hosts.iter().map(|host| Section::of(&host.settings, &host.places)).collect();
    let mut found = Vec::new();
    let of_all = apus_process::refused(&merged(&[&server])).into_iter().map(|error| Err(error.to_string()));
    tell(of_all, &[&server], file.script.is_some(), &mut found);
    for (port, section) in file.ports.iter().zip(&ports) {
        tell(
            [address(&port.listen), framing(&server, section)],
            &[section, &server],
            file.script.is_some(),
            &mut found,
        );
    }
    let certified = hosts.iter().any(|host| host.has("ssl_cert_file"));
    // A port that the script makes has what stands below [server].
    let own = file.script.is_some() || ports.is_empty();
    if file.script.is_none() && hosts.is_empty() {
        found.extend(ports.iter().filter_map(|port| unanswered(&server, port)));
    }
    let all: Vec<Option<&Section<'_>>> = own.then_some(None).into_iter().chain(ports.iter().map(Some)).collect();
    for port in all {
        for host in std::iter::once(None).chain(hosts.iter().map(Some)) {
            let chain: Vec<_> = std::iter::once(&server).chain(port).chain(host).collect();
            look(&chain, host.is_some(), file.script.is_some(), certified, &mut found);
        }
    }
    found.sort_by_key(|problem| (problem.line, problem.column));
    found.dedup();
    found
}

/// What these sections say: the last rules.
fn merged(chain: &[&Section<'_>]) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in chain.iter().flat_map(|section| section.settings) {
        // Each was taken when the file was read.
        let _ = settings.set(name, value);
    }
    settings
}

/// Whether nothing answers a port, where there is neither a script nor a host.
fn unanswered(server: &Section<'_>, port: &Section<'_>) -> Option<Problem> {
    // What is wrong with it is told elsewhere.
    let plan = apus_edge::settings::plan(&merged(&[server, port]), false).ok()?;
    let (line, column) = port.begin;
    let text = "nothing would answer requests of this port: it needs document_root with enable_static_handler, \
                redirects, a [[host]], or a script";
    (!plan.is_some_and(|plan| plan.answers())).then(|| Problem { line, column, text: text.to_owned() })
}

/// Looks at the settings that a port, or a host on it, has by these sections: the last rules.
fn look(chain: &[&Section<'_>], of_host: bool, scripted: bool, certified: bool, found: &mut Vec<Problem>) {
    let mut settings = merged(chain);
    let has = |wanted: &str| chain.last().is_some_and(|last| last.has(wanted));
    settings.enable_static_handler |= of_host && has("document_root") && !has("enable_static_handler");
    let entries = Entries::of([&settings]).map(drop);
    let all = [gate(&settings), edge(&settings), tls(&settings, certified), log(&settings), entries];
    tell(all, chain, scripted, found);
}

/// Notes what is wrong, each with the place of the setting that it names, in the last of the sections that has it.
fn tell(
    all: impl IntoIterator<Item = Result<(), String>>,
    chain: &[&Section<'_>],
    scripted: bool,
    found: &mut Vec<Problem>,
) {
    for why in all.into_iter().filter_map(Result::err) {
        // What is missing in the file may be what the script sets.
        if scripted && (why.contains(" needs ") || why.contains(" is needed")) {
            continue;
        }
        let place = chain.iter().rev().find_map(|section| section.place_of(&why));
        let begin = chain.last().map_or((1, 1), |section| section.begin);
        let (line, column) = place.unwrap_or(begin);
        found.push(Problem { line, column, text: why });
    }
}

fn gate(settings: &Settings) -> Result<(), String> {
    apus_edge::settings::gate(settings).map(drop)
}

fn edge(settings: &Settings) -> Result<(), String> {
    let plan = apus_edge::settings::plan(settings, false)?;
    apus_edge::settings::open(plan.as_ref()).map(drop)
}

fn log(settings: &Settings) -> Result<(), String> {
    apus_process::refused_log(&AccessSettings::from(settings)).map_err(|error| error.to_string())
}

/// Whether a port can listen there. That somebody does already is no mistake of the file.
fn address(listen: &Listen) -> Result<(), String> {
    match listen {
        Listen::Tcp(host, port) => match ListenAddr::resolve((host.as_str(), *port)) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(format!("listen: host \"{host}\" has no address")),
            Err(error) => Err(format!("listen: host \"{host}\" is neither an address nor a known name: {error}")),
        },
        Listen::Unix(path) => match Path::new(path).symlink_metadata() {
            Ok(about) if !about.file_type().is_socket() => Err(format!("listen: {path} exists and is not a socket")),
            _ => Ok(()),
        },
    }
}

/// Who listens where a port would: the start would be refused while that is so.
pub(crate) fn taken(port: &PortSection) -> Option<String> {
    match &port.listen {
        Listen::Tcp(host, number) => {
            let error = TcpListener::bind((host.as_str(), *number)).err()?;
            Some(format!("{host}:{number}: {error}"))
        }
        Listen::Unix(path) => {
            UnixStream::connect(path).is_ok().then(|| format!("{path}: another process listens on it"))
        }
    }
}

/// What a port that is given a framing has of it.
fn framing(server: &Section<'_>, port: &Section<'_>) -> Result<(), String> {
    let framed = |(name, value): &Setting| FRAMINGS.contains(name) && !value.is_off();
    if !port.settings.iter().any(framed) {
        return Ok(());
    }
    let mut settings = merged(&[server]);
    for name in FRAMINGS {
        // Each can be switched off.
        let _ = settings.set(name, &Value::Null);
    }
    for (name, value) in port.settings {
        let _ = settings.set(name, value);
    }
    apus_net::framing(&settings, false).map(drop)
}

/// `certified`: a host has a certificate of its own.
fn tls(settings: &Settings, certified: bool) -> Result<(), String> {
    if settings.ssl_cert_file.is_empty() {
        return if settings.open_ssl && !certified {
            Err("open_ssl: a certificate is needed: set ssl_cert_file and ssl_key_file".to_owned())
        } else {
            Ok(())
        };
    }
    apus_net::check_hsts(settings)?;
    let tls = ServerTls {
        identity: apus_net::identity(settings),
        names: apus_net::identities(settings),
        versions: apus_net::versions(settings),
        choice: Choice { ciphers: settings.ssl_ciphers.clone(), curves: settings.ssl_ecdh_curve.clone() },
        demand: apus_net::demand(settings),
        ..ServerTls::default()
    };
    let build = || tls.build(&Files::read([&tls])?, &std::sync::Arc::new(Tickets::new(TicketSecret::draw()?)));
    // A file is named, and not the setting that names it.
    let naming = |why: String| {
        let files = [
            ("ssl_key_file", &settings.ssl_key_file),
            ("ssl_cert_file", &settings.ssl_cert_file),
            ("ssl_client_cert_file", &settings.ssl_client_cert_file),
            ("ssl_capath", &settings.ssl_capath),
            ("ssl_stapling_file", &settings.ssl_stapling_file),
        ];
        let of_names =
            settings.ssl_sni_certs.iter().flat_map(|one| [&one.key_file, &one.cert_file, &one.stapling_file]);
        let of_names = of_names.map(|file| ("ssl_sni_certs", file));
        let of = files.into_iter().chain(of_names).find(|(_, file)| !file.is_empty() && why.starts_with(file.as_str()));
        of.map_or_else(|| why.clone(), |(setting, _)| format!("{setting}: {why}"))
    };
    build().map(drop).map_err(|error| naming(error.to_string()))
}
