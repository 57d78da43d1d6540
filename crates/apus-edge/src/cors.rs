//! Which pages of other origins may read the answers (the Fetch standard, "CORS protocol").

use apus_net::{Request, Responder, ResponseHead};

/// What is allowed to whom.
#[derive(Debug, Clone, Default)]
pub struct CorsConfig {
    /// Origins, or `*`.
    pub origins: Vec<String>,
    /// Methods that they may use.
    pub methods: Vec<String>,
    /// Fields that they may send, or `*`.
    pub headers: Vec<String>,
    /// Fields that they may read.
    pub expose: Vec<String>,
    /// Whether they may send cookies and logins.
    pub credentials: bool,
    /// Seconds for which the answer to a preflight request may be remembered.
    pub max_age: u64,
}

/// The same, ready to be asked.
#[derive(Debug)]
pub(crate) struct Cors {
    any: bool,
    origins: Vec<Vec<u8>>,
    methods: Vec<u8>,
    any_header: bool,
    headers: Vec<u8>,
    expose: Vec<u8>,
    credentials: bool,
    max_age: u64,
}

fn field(lines: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for piece in [name, b": ", value, b"\r\n"] {
        lines.extend_from_slice(piece);
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

impl CorsConfig {
    /// Looks at it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        if self.credentials && self.origins.iter().any(|origin| origin == "*") {
            return Err("cors_credentials cannot go with \"*\" in cors_origins: name the origins".to_owned());
        }
        for origin in self.origins.iter().filter(|origin| *origin != "*") {
            let host = origin.split_once("://").map(|(_, host)| host);
            let named = |host: &str| !host.is_empty() && host.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
            if !host.is_some_and(named) {
                return Err(format!("cors_origins: \"{origin}\" is no origin: write \"https://app.example.org\""));
            }
        }
        match self.methods.iter().chain(&self.headers).chain(&self.expose).find(|text| !is_token(text)) {
            Some(text) => Err(format!("cors_methods, cors_headers, cors_expose_headers: \"{text}\" is no name")),
            None => Ok(()),
        }
    }
}

impl Cors {
    pub(crate) fn new(config: &CorsConfig) -> Self {
        let origins = config.origins.iter().map(|origin| origin.to_ascii_lowercase().into_bytes());
        Self {
            any: config.origins.iter().any(|origin| origin == "*"),
            origins: origins.collect(),
            methods: config.methods.join(", ").into_bytes(),
            any_header: config.headers.iter().any(|name| name == "*"),
            headers: config.headers.join(", ").into_bytes(),
            expose: config.expose.join(", ").into_bytes(),
            credentials: config.credentials,
            max_age: config.max_age,
        }
    }

    /// Has the answer say who may read it. Whether the request was a preflight, which is answered.
    pub(crate) fn answer(&self, request: &Request, responder: &Responder) -> bool {
        let (mut lines, allowed) = self.lines(request.header(b"origin"));
        let preflight = request.method() == b"OPTIONS"
            && request.header(b"origin").is_some()
            && request.header(b"access-control-request-method").is_some();
        if !preflight {
            responder.add_lines(&lines);
            return false;
        }
        if allowed {
            self.allow(request.header(b"access-control-request-headers"), &mut lines);
        }
        // A client that is gone needs no answer.
        let _ = responder.end(&ResponseHead { lines, ..ResponseHead::new(204) }, b"");
        true
    }

    /// The lines of any answer, and whether the origin may read it.
    fn lines(&self, origin: Option<&[u8]>) -> (Vec<u8>, bool) {
        let mut lines = Vec::new();
        if !self.any {
            field(&mut lines, b"Vary", b"Origin");
        }
        let known = |origin: &&[u8]| self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin));
        let allowed = match origin {
            Some(_) if self.any => Some(&b"*"[..]),
            origin => origin.filter(known),
        };
        if let Some(allowed) = allowed {
            field(&mut lines, b"Access-Control-Allow-Origin", allowed);
            if self.credentials {
                field(&mut lines, b"Access-Control-Allow-Credentials", b"true");
            }
            if !self.expose.is_empty() {
                field(&mut lines, b"Access-Control-Expose-Headers", &self.expose);
            }
        }
        (lines, allowed.is_some())
    }

    fn allow(&self, wanted: Option<&[u8]>, lines: &mut Vec<u8>) {
        field(lines, b"Access-Control-Allow-Methods", &self.methods);
        match wanted {
            // `*` itself would mean nothing to requests with credentials.
            Some(wanted) if self.any_header => {
                field(lines, b"Access-Control-Allow-Headers", wanted);
                field(lines, b"Vary", b"Access-Control-Request-Headers");
            }
            Some(_) if !self.headers.is_empty() => field(lines, b"Access-Control-Allow-Headers", &self.headers),
            _ => {}
        }
        field(lines, b"Access-Control-Max-Age", self.max_age.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(origins: &[&str], credentials: bool) -> CorsConfig {
        let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
        CorsConfig { origins, credentials, methods: vec!["GET".to_owned()], ..CorsConfig::default() }
    }

    fn lines(config: &CorsConfig, origin: Option<&str>) -> String {
        String::from_utf8(Cors::new(config).lines(origin.map(str::as_bytes)).0).unwrap()
    }

    #[test]
    fn only_known_origins_may_read() {
        let some = config(&["https://a.test", "http://b.test:8080"], true);
        assert_eq!(some.check(), Ok(()));
        let allowed = "Vary: Origin\r\nAccess-Control-Allow-Origin: https://a.test\r\n\
                       Access-Control-Allow-Credentials: true\r\n";
        assert_eq!(lines(&some, Some("https://a.test")), allowed);
        for other in ["https://a.test.evil", "http://a.test", "https://A.test:1", "null", "*", ""] {
            assert_eq!(lines(&some, Some(other)), "Vary: Origin\r\n", "{other}");
        }
        assert_eq!(lines(&some, None), "Vary: Origin\r\n");
        assert_eq!(lines(&config(&["*"], false), Some("https://x")), "Access-Control-Allow-Origin: *\r\n");
        assert_eq!(lines(&config(&["*"], false), None), "");
    }

    #[test]
    fn all_origins_with_credentials_are_refused() {
        assert!(config(&["*"], true).check().is_err());
        for wrong in ["a.test", "https://a.test/", "https://", ""] {
            assert!(config(&[wrong], false).check().is_err(), "{wrong}");
        }
        assert!(CorsConfig { methods: vec!["GET, PUT".to_owned()], ..config(&["*"], false) }.check().is_err());
    }
}
