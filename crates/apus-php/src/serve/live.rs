//! WebSockets that pages send to (`script_websocket`): who may open one, and whose it is, is asked of a script, as an
//! ordinary request. What clients send over them is read and dropped.

use std::rc::Rc;

use apus_net::{MAX_NAME, MAX_TOPICS, Refusal, Request, Responder, Upgrade, is_name};
use apus_options::Settings;
use apus_process::log::{Level, Repeats};
use serde::Deserialize;

use super::answer;
use super::dispatcher::Process;

/// Anybody can have the script asked.
static WRONG: Repeats = Repeats::new(Level::Warning, "answers to WebSocket handshakes that name nobody");

/// Who is told whose a connection is.
pub(crate) trait Members {
    /// A WebSocket was accepted: of this user, with these topics.
    fn admit(&self, fd: i64, user: Option<&[u8]>, topics: &[Vec<u8>]);
}

/// Where WebSockets come in.
pub(super) struct Door {
    path: Box<str>,
    /// No origins are named: pages of the host itself may come in.
    own_pages: bool,
}

/// Whether any of these settings takes WebSockets.
pub(crate) fn is_wanted(settings: &Settings) -> bool {
    !settings.script_websocket.is_empty()
}

/// What is wrong with the setting.
pub(super) fn check(settings: &Settings) -> Result<(), String> {
    let path = &settings.script_websocket;
    let sound = path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte));
    if sound || path.is_empty() {
        return Ok(());
    }
    Err(format!("script_websocket {path:?}: write the path of an address, as clients send it, such as /live"))
}

impl Door {
    pub(super) fn of(settings: &Settings) -> Option<Self> {
        let own_pages = settings.websocket_origins.is_empty();
        is_wanted(settings).then(|| Self { path: settings.script_websocket.as_str().into(), own_pages })
    }

    pub(super) fn is_at(&self, path: &[u8]) -> bool {
        self.path.as_bytes() == path
    }

    /// Pages of other sites would come with the cookies of whoever looks at them.
    pub(super) fn check(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.forwarded_host().or_else(|| request.host());
        match request.header(b"origin") {
            Some(origin) if self.own_pages && !is_of(origin, host.unwrap_or_default()) => {
                Err(Refusal { status: 403, reason: "pages of other sites may not connect (setting websocket_origins)" })
            }
            _ => Ok(()),
        }
    }
}

/// Whether an origin is a page of that host.
fn is_of(origin: &[u8], host: &[u8]) -> bool {
    let scheme = origin.windows(3).position(|part| part == b"://");
    scheme.is_some_and(|at| origin[at + 3..].eq_ignore_ascii_case(host))
}

/// What the script answers.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Admission {
    user: Option<Name>,
    #[serde(default)]
    topics: Vec<Name>,
}

/// A name; an integer means its digits.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Name {
    Number(i64),
    Text(String),
}

impl Name {
    fn bytes(self) -> Result<Vec<u8>, String> {
        let bytes = match self {
            Self::Number(number) => number.to_string().into_bytes(),
            Self::Text(text) => text.into_bytes(),
        };
        if is_name(&bytes) { Ok(bytes) } else { Err(format!("a name has 1 to {MAX_NAME} bytes")) }
    }
}

/// Whose a connection is, and its topics.
type Names = (Option<Vec<u8>>, Vec<Vec<u8>>);

fn names(body: &[u8]) -> Result<Names, String> {
    let Admission { user, topics } = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if topics.len() > MAX_TOPICS {
        return Err(format!("a connection has at most {MAX_TOPICS} topics"));
    }
    let topics = topics.into_iter().map(Name::bytes).collect::<Result<_, _>>()?;
    Ok((user.map(Name::bytes).transpose()?, topics))
}

/// The fields of an answer that the handshake's has, too.
fn kept(lines: &[u8], name: &[u8]) -> Vec<u8> {
    let is = |line: &&[u8]| line.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    lines.split_inclusive(|byte| *byte == b'\n').filter(is).collect::<Vec<_>>().concat()
}

/// Has the process that was asked decide.
pub(super) async fn decide(process: Process, script: &str, responder: &Responder, members: Rc<dyn Members>) {
    let (head, body) = match answer::whole_of(process, responder).await {
        Ok(answer) => answer,
        Err(Some(status)) => return responder.fail(status),
        // The client is gone.
        Err(None) => return,
    };
    if !(200..300).contains(&head.status) {
        // A client that is gone needs no answer.
        let _ = responder.end(&head, &body);
        return;
    }
    let (user, topics) = match names(&body) {
        Ok(names) => names,
        Err(why) => {
            WRONG.tell(format_args!(
                "{script} is to answer a WebSocket handshake with {{\"user\": …, \"topics\": […]}}, or another status: {why}"
            ));
            return responder.fail(500);
        }
    };
    let subprotocol = kept(&head.lines, b"sec-websocket-protocol:");
    let lines = [kept(&head.lines, b"set-cookie:"), subprotocol].concat();
    let has_subprotocol = !kept(&lines, b"sec-websocket-protocol:").is_empty();
    match responder.upgrade(&Upgrade { lines: &lines, has_subprotocol, ..Upgrade::default() }) {
        Ok(message_conn) => members.admit(message_conn.info().id(), user.as_deref(), &topics),
        Err(refusal) => responder.refuse_upgrade(refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str) -> Result<(Option<String>, Vec<String>), String> {
        let string = |bytes| String::from_utf8(bytes).expect("UTF-8");
        names(body.as_bytes()).map(|(user, topics)| (user.map(string), topics.into_iter().map(string).collect()))
    }

    #[test]
    fn an_answer_names_user_and_topics() {
        assert_eq!(text(r#"{"user": "anna"}"#), Ok((Some("anna".into()), Vec::new())));
        assert_eq!(
            text(r#"{"user": 7, "topics": ["news", 8]}"#),
            Ok((Some("7".into()), vec!["news".into(), "8".into()]))
        );
        assert_eq!(text(r#" {"user": null, "topics": []} "#), Ok((None, Vec::new())));
        assert_eq!(text(r#"{"topics": ["a"]}"#), Ok((None, vec!["a".into()])));
    }

    #[test]
    fn what_names_nobody_is_refused() {
        for body in [
            "",
            "<html>",
            "[]",
            "null",
            r#"{"topic": ["a"]}"#,
            r#"{"user": ""}"#,
            r#"{"user": 1.5}"#,
            r#"{"topics": "a"}"#,
        ] {
            assert!(text(body).is_err(), "{body}");
        }
        assert!(text(&format!(r#"{{"user": "{}"}}"#, "x".repeat(MAX_NAME + 1))).is_err());
        assert!(text(&format!(r#"{{"topics": [{}0]}}"#, "0,".repeat(MAX_TOPICS))).is_err());
    }

    #[test]
    fn pages_of_the_host_itself_are_known_by_their_origin() {
        assert!(is_of(b"https://Example.org", b"example.ORG"));
        assert!(is_of(b"http://a:8080", b"a:8080"));
        for other in [&b"https://example.org.evil"[..], b"null", b"", b"https://b", b"example.org"] {
            assert!(!is_of(other, b"example.org"), "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn of_its_fields_an_answer_keeps_those_of_the_name() {
        let lines = b"Set-Cookie: a=1\r\nX: set-cookie: b\r\nset-cookie: c=2\r\n";
        assert_eq!(kept(lines, b"set-cookie:"), b"Set-Cookie: a=1\r\nset-cookie: c=2\r\n");
    }

    #[test]
    fn the_setting_is_a_path() {
        for (path, sound) in
            [("", true), ("/live", true), ("/a/b.php", true), ("live", false), ("/a?b", false), ("/a b", false)]
        {
            let settings = Settings { script_websocket: path.into(), ..Settings::default() };
            assert_eq!(check(&settings).is_ok(), sound, "{path}");
        }
    }
}
