//! What a server would refuse of a configuration file at its start, beyond what each setting takes by itself.

use apus_net::tls::{Choice, Files, ServerTls, TicketSecret, Tickets};
use apus_options::{ConfigFile, Problem, Setting, Settings, TextPlace};

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
    // A port that the script makes has what stands below [server].
    let own = file.script.is_some() || ports.is_empty();
    if file.script.is_none() && hosts.is_empty() {
        found.extend(ports.iter().filter_map(|port| unanswered(&server, port)));
    }
    let all: Vec<Option<&Section<'_>>> = own.then_some(None).into_iter().chain(ports.iter().map(Some)).collect();
    for port in all {
        for host in std::iter::once(None).chain(hosts.iter().map(Some)) {
            let chain: Vec<_> = std::iter::once(&server).chain(port).chain(host).collect();
            look(&chain, host.is_some(), file.script.is_some(), &mut found);
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
fn look(chain: &[&Section<'_>], of_host: bool, scripted: bool, found: &mut Vec<Problem>) {
    let mut settings = merged(chain);
    let has = |wanted: &str| chain.last().is_some_and(|last| last.settings.iter().any(|(name, _)| *name == wanted));
    settings.enable_static_handler |= of_host && has("document_root") && !has("enable_static_handler");
    for why in [gate(&settings), edge(&settings), tls(&settings)].into_iter().filter_map(Result::err) {
        // What is missing in the file may be what the script sets.
        if scripted && why.contains(" needs ") {
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

fn tls(settings: &Settings) -> Result<(), String> {
    if settings.ssl_cert_file.is_empty() {
        return Ok(());
    }
    let tls = ServerTls {
        identity: apus_net::identity(settings),
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
        let of = files.iter().find(|(_, file)| !file.is_empty() && why.starts_with(file.as_str()));
        of.map_or_else(|| why.clone(), |(setting, _)| format!("{setting}: {why}"))
    };
    build().map(drop).map_err(|error| naming(error.to_string()))
}
