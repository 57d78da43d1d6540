//! Rules by path: where requests are sent instead, and which paths stand for others.
//!
//! Paths are compared as they are sent. A rule is applied once, so that rules cannot run in a circle.

use std::borrow::Cow;

use apus_net::{Request, Responder, ResponseHead};
use regex::bytes::{Regex, RegexBuilder};

/// The status of a redirect that names none.
const MOVED: u16 = 301;
const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

/// A path, or all that begin with one, and what is to be in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// Without its `*`.
    from: Vec<u8>,
    /// Whether more may follow.
    below: bool,
    /// Without its `*`.
    to: Vec<u8>,
    /// Whether what followed follows here, too.
    keeps: bool,
    status: u16,
}

/// Redirects, in the order they are looked at.
#[derive(Debug, Clone, Default)]
pub struct Redirects(Vec<Rule>);

/// Rewrites, in the order they are looked at.
#[derive(Debug, Clone, Default)]
pub struct Rewrites(Vec<Rewrite>);

#[derive(Debug, Clone)]
enum Rewrite {
    Path(Rule),
    /// Every match in the path becomes that, with `$1` for what the first group has found.
    Pattern(Regex, Vec<u8>),
}

impl Redirects {
    /// From `PATH => [STATUS ]TARGET`.
    ///
    /// # Errors
    /// What is wrong with one.
    pub fn read(given: &[(String, String)]) -> Result<Self, String> {
        let one = |(from, to): &(String, String)| {
            let (status, to) = match to.split_once(' ') {
                Some((status, rest)) => {
                    let status = status.parse().ok().filter(|status| STATUSES.contains(status));
                    let known = || format!("redirects: the status of \"{from}\" must be 301, 302, 303, 307 or 308");
                    (status.ok_or_else(known)?, rest.trim())
                }
                None => (MOVED, to.as_str()),
            };
            let rule = Rule::read("redirects", from, to, status)?;
            let sample = rule.target(if rule.below { b"x" } else { b"" });
            if rule.to.first() == Some(&b'/') && rule.rest_of(&sample).is_some() {
                return Err(format!("redirects: \"{from}\" leads to itself, again and again"));
            }
            Ok(rule)
        };
        given.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Answers a request that is to go elsewhere. Whether it was one.
    pub(crate) fn answer(&self, request: &Request, responder: &Responder) -> bool {
        let Some((status, location)) = self.find(request.path(), request.query()) else { return false };
        let mut head = ResponseHead::new(status);
        head.push_field(b"Location", &location);
        head.push_field(b"Content-Type", b"text/plain; charset=UTF-8");
        head.has_content_type = true;
        // A client that is gone needs no answer.
        let _ = responder.end(&head, &[&location[..], b"\n"].concat());
        true
    }

    fn find(&self, path: &[u8], query: Option<&[u8]>) -> Option<(u16, Vec<u8>)> {
        let (rule, mut location) = self.0.iter().find_map(|rule| Some((rule, rule.target(rule.rest_of(path)?))))?;
        if location.starts_with(b"/") {
            // Two slashes would begin the name of another host, and browsers take a backslash for one.
            let extra = location[1..].iter().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
            location.drain(1..=extra);
        }
        if let Some(query) = query
            && !location.contains(&b'?')
        {
            location.push(b'?');
            location.extend_from_slice(query);
        }
        Some((rule.status, encoded(&location)))
    }
}

impl Rewrites {
    /// From `PATH => PATH`, or `~PATTERN~ => PATH`.
    ///
    /// # Errors
    /// What is wrong with one.
    pub fn read(given: &[(String, String)]) -> Result<Self, String> {
        let one = |(from, to): &(String, String)| {
            // Paths are bytes.
            if let Some(pattern) = from.strip_prefix('~').and_then(|rest| rest.strip_suffix('~')) {
                let pattern = RegexBuilder::new(pattern)
                    .unicode(false)
                    .build()
                    .map_err(|error| format!("rewrites: \"{from}\": {error}"))?;
                return Ok(Rewrite::Pattern(pattern, to.clone().into_bytes()));
            }
            if !to.starts_with('/') || to.contains(['?', '#']) {
                return Err(format!("rewrites: what \"{from}\" becomes must be a path: \"/api/*\""));
            }
            Rule::read("rewrites", from, to, 0).map(Rewrite::Path)
        };
        given.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a path becomes, if it becomes another.
    pub(crate) fn find(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.0.iter().find_map(|rewrite| match rewrite {
            Rewrite::Path(rule) => Some(rule.target(rule.rest_of(path)?)),
            Rewrite::Pattern(pattern, to) => replaced(pattern, path, to),
        })
    }
}

/// The path with its matches replaced, if it has some; one that would be no path, or too long for one, stays as it is.
fn replaced(pattern: &Regex, path: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let Cow::Owned(new) = pattern.replace_all(path, to) else { return None };
    let sound = |byte: &u8| *byte > b' ' && *byte != 0x7f && !b"?#".contains(byte);
    (new.first() == Some(&b'/') && new.len() <= MAX_PATH && new.iter().all(sound)).then_some(new)
}

/// Bytes of what a pattern makes of a path, at most.
const MAX_PATH: usize = 64 * 1024;

impl Rule {
    fn read(setting: &str, from: &str, to: &str, status: u16) -> Result<Self, String> {
        let (path, below) = split(if from == "*" { "/*" } else { from });
        let (target, keeps) = split(to);
        let sound = |text: &str| text.bytes().all(|byte| (b'!'..=b'~').contains(&byte)) && !text.contains('*');
        if !path.starts_with('/') || !sound(path) || path.contains(['?', '#']) || below && !path.ends_with('/') {
            return Err(format!("{setting}: \"{from}\" must be a path, or end with /*: \"/old\", \"/blog/*\""));
        }
        let absolute = ["http://", "https://"].iter().find_map(|scheme| target.strip_prefix(scheme));
        let named = absolute.is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/'));
        let rooted = target.starts_with('/') && !target.starts_with("//") || absolute.is_some();
        if !rooted || !named || !sound(target) {
            return Err(format!("{setting}: what \"{from}\" leads to must be a path or begin with https://"));
        }
        // Behind anything else, what follows could change the name of the host.
        if keeps && (!below || !target.ends_with('/')) {
            return Err(format!("{setting}: \"{to}\" may end with /* where \"{from}\" does"));
        }
        Ok(Self { from: path.into(), below, to: target.into(), keeps, status })
    }

    /// What follows the rule's path, if it is the rule's.
    fn rest_of<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(&*self.from).filter(|rest| self.below || rest.is_empty())
    }

    fn target(&self, rest: &[u8]) -> Vec<u8> {
        let mut target = self.to.clone();
        if self.keeps {
            target.extend_from_slice(rest);
        }
        target
    }
}

fn split(text: &str) -> (&str, bool) {
    text.strip_suffix('*').map_or((text, false), |text| (text, true))
}

/// What no URI may hold is encoded.
fn encoded(location: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(location.len());
    for &byte in location {
        if (b'!'..=b'~').contains(&byte) && !b"\"<>\\^`{|}".contains(&byte) {
            text.push(byte);
        } else {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(rules: &[(&str, &str)]) -> Vec<(String, String)> {
        rules.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    }

    fn redirected(rules: &[(&str, &str)], path: &str, query: Option<&str>) -> Option<(u16, String)> {
        let redirects = Redirects::read(&given(rules)).unwrap();
        let found = redirects.find(path.as_bytes(), query.map(str::as_bytes));
        found.map(|(status, location)| (status, String::from_utf8(location).unwrap()))
    }

    #[test]
    fn redirects_keep_the_rest_and_the_query() {
        let rules = [
            ("/old", "/new"),
            ("/blog/*", "308 https://blog.test/*"),
            ("/gone/*", "302 /?from=gone"),
            ("/go/*", "303 /*"),
        ];
        let to = |status, location: &str| Some((status, location.to_owned()));
        assert_eq!(redirected(&rules[..1], "/old", None), to(301, "/new"));
        assert_eq!(redirected(&rules, "/old", Some("a=b")), to(301, "/new?a=b"));
        assert_eq!(redirected(&rules, "/older", None), None);
        assert_eq!(redirected(&rules, "/blog/2026/a%20b", Some("x")), to(308, "https://blog.test/2026/a%20b?x"));
        assert_eq!(redirected(&rules, "/blog", None), None);
        assert_eq!(redirected(&rules, "/gone/a", Some("b")), to(302, "/?from=gone"));
        assert_eq!(redirected(&[("*", "https://www.test/*")], "/a", None), to(301, "https://www.test/a"));
    }

    #[test]
    fn a_redirect_never_leads_to_a_host_that_the_client_names() {
        for path in ["/go//evil.test", "/go/\\evil.test", "/go/\\/evil.test", "/go///evil.test"] {
            assert_eq!(redirected(&[("/go/*", "/*")], path, None), Some((301, "/evil.test".to_owned())), "{path}");
        }
        assert_eq!(
            redirected(&[("/go/*", "https://a.test/*")], "/go/@evil.test\"<", None),
            Some((301, "https://a.test/@evil.test%22%3C".to_owned()))
        );
    }

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        for (from, to) in [
            ("old", "/new"),
            ("/a*", "/b"),
            ("/a/*", "https://a.test*"),
            ("/a", "/b/*"),
            ("/a", "ftp://a.test/"),
            ("/a", "//a.test/"),
            ("/a", "https:///b"),
            ("/a", "200 /b"),
            ("/a", "/b c"),
            ("/a?b", "/c"),
            ("/a", "/a"),
            ("/a/*", "/a/b/*"),
            ("/*", "/b"),
        ] {
            assert!(Redirects::read(&given(&[(from, to)])).is_err(), "{from} {to}");
        }
        for to in ["b", "https://a.test/", "/b?c", "/b*"] {
            assert!(Rewrites::read(&given(&[("/a/*", to)])).is_err(), "{to}");
        }
    }

    #[test]
    fn patterns_put_what_their_groups_found() {
        let rules = [(r"~^/view/post/(\d+)$~", "/static/$1.html"), ("~^/a/~", "/b/"), ("~/$~", "?x")];
        let rewrites = Rewrites::read(&given(&rules)).unwrap();
        let becomes = |path: &str| rewrites.find(path.as_bytes()).map(|path| String::from_utf8(path).unwrap());
        assert_eq!(becomes("/view/post/3").as_deref(), Some("/static/3.html"));
        assert_eq!(becomes("/view/post/x"), None);
        assert_eq!(becomes("/a/a/c").as_deref(), Some("/b/a/c"));
        // What is no path is not put in its place.
        assert_eq!(becomes("/dir/"), None);
        assert!(Rewrites::read(&given(&[("~(~", "/x")])).unwrap_err().contains("rewrites"));
        let doubles = Rewrites::read(&given(&[("~a~", "aaaaaaaaaaaaaaaa")])).unwrap();
        assert_eq!(doubles.find(&[&b"/"[..], &[b'a'; 8000]].concat()), None);
    }

    #[test]
    fn a_path_is_rewritten_once() {
        let rewrites = Rewrites::read(&given(&[("/v1/*", "/v2/*"), ("/v2/*", "/v1/*"), ("/", "/index.html")])).unwrap();
        let becomes = |path: &str| rewrites.find(path.as_bytes()).map(|path| String::from_utf8(path).unwrap());
        assert_eq!(becomes("/v1/a//b").as_deref(), Some("/v2/a//b"));
        assert_eq!(becomes("/v2/").as_deref(), Some("/v1/"));
        assert_eq!(becomes("/").as_deref(), Some("/index.html"));
        assert_eq!(becomes("/v3/a"), None);
    }
}
