//! Logging in with a name and a password (RFC 7617), by path.
//!
//! Hashes are slow on purpose, so they are computed on threads, few at a time. What a client sends again and again is
//! remembered as a hash under a key that lives and dies with the worker.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use apus_net::{Request, Responder, ResponseHead};
use argon2::password_hash::PasswordVerifier;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2s256, Digest};
use tokio::sync::Semaphore;

use crate::path::Decoded;

/// Logins that are remembered.
const REMEMBERED: usize = 4096;
/// Hashes that are computed at once in a worker.
const AT_ONCE: usize = 2;
/// Requests that may wait for theirs; others are answered 503.
const WAITING: usize = 256;
/// Bytes of a name with its password.
const LONGEST: usize = 1024;

/// What lies below a path, and who may see it.
#[derive(Debug, Clone)]
pub struct Protected {
    path: String,
    users: Arc<HashMap<String, String>>,
    /// Verified for names that nobody has: it takes as long.
    decoy: Arc<str>,
}

impl Protected {
    /// The users that a text names: lines of `name:hash`, empty ones, and comments behind `#`.
    ///
    /// # Errors
    /// Which line is wrong, and why.
    pub fn read(path: &str, text: &str) -> Result<Self, String> {
        if !path.starts_with('/') {
            return Err(format!("basic_auth: \"{path}\" must be a path: \"/admin\""));
        }
        let mut users = HashMap::new();
        let mut decoy = None;
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((name, hash)) = line.split_once(':').filter(|(name, _)| !name.is_empty()) else {
                return Err(format!("line {number} is not \"name:hash\""));
            };
            if !is_hash(hash) {
                return Err(format!(
                    "line {number}: the hash of \"{name}\" is none of bcrypt ($2y$…) or argon2 ($argon2id$…)"
                ));
            }
            decoy.get_or_insert_with(|| Arc::from(hash));
            users.insert(name.to_owned(), hash.to_owned());
        }
        let decoy = decoy.ok_or("it names no user")?;
        Ok(Self { path: path.to_owned(), users: Arc::new(users), decoy })
    }

    /// Whether a value is lines of users itself, not the name of a file that has them.
    pub fn is_text(value: &str) -> bool {
        value.lines().any(|line| line.split_once(':').is_some_and(|(_, hash)| is_hash(hash.trim())))
    }
}

/// Whether it can be verified.
fn is_hash(hash: &str) -> bool {
    if hash.starts_with("$argon2") {
        return PasswordHash::new(hash).is_ok_and(|hash| hash.salt.is_some() && hash.hash.is_some());
    }
    let known = ["$2y$", "$2b$", "$2a$", "$2x$"].iter().any(|kind| hash.starts_with(kind));
    known && hash.len() == 60 && hash.is_ascii()
}

/// Whether a password is the one of a hash. Slow on purpose.
fn verify(password: &[u8], hash: &str) -> bool {
    if hash.starts_with("$argon2") {
        let argon2 = Argon2::new(Algorithm::default(), Version::default(), Params::default());
        return PasswordHash::new(hash).is_ok_and(|hash| argon2.verify_password(password, &hash).is_ok());
    }
    bcrypt::verify(password, hash).unwrap_or(false)
}

/// Who may see what.
pub(crate) struct Auth {
    protected: Vec<Protected>,
    challenge: Vec<u8>,
    key: [u8; 32],
    remembered: RefCell<HashSet<[u8; 32]>>,
    places: Arc<Semaphore>,
    waiting: Cell<usize>,
}

/// What is known of a login at once.
pub(crate) enum Login {
    /// It may go on.
    Passed,
    /// It may not.
    Refused,
    /// That has to be computed.
    Unknown(Vec<Check>),
}

/// A password that is to be verified.
pub(crate) struct Check {
    digest: [u8; 32],
    password: Vec<u8>,
    hash: String,
    /// Whether the name is somebody's.
    known: bool,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Refused,
    Busy,
}

impl Auth {
    pub(crate) fn new(protected: Vec<Protected>, realm: &str) -> io::Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        let realm: String = realm.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        Ok(Self {
            protected,
            challenge: format!("Basic realm=\"{realm}\", charset=\"UTF-8\"").into_bytes(),
            key,
            remembered: RefCell::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Cell::new(0),
        })
    }

    /// Which of the protected paths a path lies below: the longest. A path that could mean two things lies below all.
    pub(crate) fn demanded(&self, path: &[u8]) -> Vec<usize> {
        let Some(decoded) = Decoded::read(path) else { return (0..self.protected.len()).collect() };
        let lies = |protected: &Protected| decoded.lies_in(std::slice::from_ref(&protected.path));
        let found = self.protected.iter().enumerate().filter(|(_, protected)| lies(protected));
        found
            .max_by_key(|(_, protected)| protected.path.trim_end_matches('/').len())
            .map(|(at, _)| at)
            .into_iter()
            .collect()
    }

    /// Whether a request may see what it demands.
    pub(crate) fn login(&self, demanded: &[usize], request: &Request) -> Login {
        let Some((name, password)) = request.header(b"authorization").and_then(credentials) else {
            return Login::Refused;
        };
        let mut unknown = Vec::new();
        for &at in demanded {
            let Some(protected) = self.protected.get(at) else { return Login::Refused };
            let hash = protected.users.get(&name);
            let check = Check {
                digest: self.digest(at, &name, &password),
                password: password.clone(),
                hash: hash.map_or_else(|| protected.decoy.to_string(), String::clone),
                known: hash.is_some(),
            };
            if !self.remembered.borrow().contains(&check.digest) {
                unknown.push(check);
            }
        }
        if unknown.is_empty() { Login::Passed } else { Login::Unknown(unknown) }
    }

    fn digest(&self, at: usize, name: &str, password: &[u8]) -> [u8; 32] {
        let mut digest = Blake2s256::new();
        digest.update(self.key);
        for part in [&at.to_le_bytes()[..], &name.len().to_le_bytes(), name.as_bytes(), password] {
            digest.update(part);
        }
        digest.finalize().into()
    }

    /// Verifies passwords on threads.
    pub(crate) async fn verify(self: Rc<Self>, checks: Vec<Check>) -> Verdict {
        if self.waiting.get() >= WAITING {
            return Verdict::Busy;
        }
        let _waiting = Waiting::new(&self);
        for Check { digest, password, hash, known } in checks {
            let Ok(_place) = self.places.acquire().await else { return Verdict::Busy };
            let job = tokio::task::spawn_blocking(move || verify(&password, &hash));
            if !job.await.unwrap_or(false) || !known {
                return Verdict::Refused;
            }
            let mut remembered = self.remembered.borrow_mut();
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
            remembered.insert(digest);
        }
        Verdict::Passed
    }

    /// Asks for a login.
    pub(crate) fn challenge(&self, responder: &Responder) {
        let mut head = ResponseHead::new(401);
        head.push_field(b"WWW-Authenticate", &self.challenge);
        head.push_field(b"Content-Type", b"text/plain; charset=UTF-8");
        head.has_content_type = true;
        // A client that is gone needs no answer.
        let _ = responder.end(&head, b"401 Unauthorized\n");
    }
}

/// One that waits, for as long as it does.
struct Waiting<'a>(&'a Auth);

impl<'a> Waiting<'a> {
    fn new(auth: &'a Auth) -> Self {
        auth.waiting.set(auth.waiting.get() + 1);
        Self(auth)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get().saturating_sub(1));
    }
}

/// Name and password of a field Authorization.
pub(crate) fn credentials(value: &[u8]) -> Option<(String, Vec<u8>)> {
    let (scheme, rest) = value.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") || rest.len() > LONGEST * 2 {
        return None;
    }
    let mut bytes = STANDARD.decode(rest.trim_ascii()).ok()?;
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let password = bytes.split_off(colon + 1);
    bytes.pop();
    // bcrypt ends a password at a NUL, and so would take another one for the same.
    let sound = bytes.len() + password.len() <= LONGEST && !password.contains(&0);
    Some((String::from_utf8(bytes).ok()?, password)).filter(|_| sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of "secret", at the lowest cost.
    const BCRYPT: &str = "$2y$04$abcdefghijklmnopqrstuu";

    fn hash() -> String {
        bcrypt::hash_with_salt("secret", 4, *b"0123456789abcdef").unwrap().format_for_version(bcrypt::Version::TwoY)
    }

    #[test]
    fn users_are_read_by_line() {
        let text = format!("# who may\n\nanna:{}\nbert:{}\n", hash(), hash());
        let read = Protected::read("/admin", &text).unwrap();
        assert_eq!(read.users.len(), 2);
        assert!(Protected::is_text(&text) && !Protected::is_text("/etc/apus/users"));
        for (text, why) in [
            ("anna", "line 1 is not"),
            (":x", "line 1 is not"),
            ("anna:secret", "none of bcrypt"),
            (&format!("anna:{BCRYPT}"), "none of bcrypt"),
            ("\nanna:$argon2id$v=19", "line 2"),
            ("# nobody", "names no user"),
        ] {
            assert!(Protected::read("/", text).unwrap_err().contains(why), "{text}");
        }
        assert!(Protected::read("admin", &text).is_err());
    }

    #[test]
    fn hashes_are_verified() {
        assert!(verify(b"secret", &hash()) && !verify(b"secret2", &hash()) && !verify(b"", &hash()));
        let argon2 = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQxMjM0$wQHJvEe+GpCMTVkYuDlBhSi7eVbYeyz6bOEAzVTKxTE";
        assert!(is_hash(argon2) && !verify(b"other", argon2));
    }

    #[test]
    fn the_longest_path_counts_and_doubtful_ones_are_protected() {
        let users = format!("anna:{}", hash());
        let of = |path| Protected::read(path, &users).unwrap();
        let auth = Auth::new(vec![of("/admin"), of("/admin/deep/")], "a\"b").unwrap();
        assert_eq!(auth.challenge, b"Basic realm=\"ab\", charset=\"UTF-8\"");
        for (path, demanded) in [
            ("/", &[][..]),
            ("/administration", &[]),
            ("/admin", &[0]),
            ("/admin/x", &[0]),
            ("/admin/deep/x", &[1]),
            ("/%61dmin/x", &[0]),
            ("/x/../admin", &[0, 1]),
            ("//admin", &[0, 1]),
            ("/x%2f..%2fadmin", &[0, 1]),
        ] {
            assert_eq!(auth.demanded(path.as_bytes()), demanded, "{path}");
        }
    }

    #[test]
    fn credentials_are_taken_apart() {
        let of = |text: &str| credentials(format!("Basic {}", STANDARD.encode(text)).as_bytes());
        assert_eq!(of("anna:a:b"), Some(("anna".to_owned(), b"a:b".to_vec())));
        assert_eq!(of("anna:"), Some(("anna".to_owned(), Vec::new())));
        assert_eq!((of("anna"), of("anna:a\0b"), of(&"a:".repeat(600))), (None, None, None));
        assert_eq!((credentials(b"Bearer x"), credentials(b"Basic"), credentials(b"Basic !")), (None, None, None));
    }
}
