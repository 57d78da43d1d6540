//! Session tickets (RFC 5077, RFC 8446 section 4.6.1) that every worker understands, also after a reload.
//!
//! The master draws a secret, which workers inherit. Once a period each process replaces it by what follows from it,
//! all by the same clock: they agree without a word, and what is needed to read older tickets is forgotten.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk};
use aws_lc_rs::rand;
use rustls::server::ProducesTickets;
use zeroize::Zeroizing;

use crate::TlsError;

/// How long one key encrypts tickets. They are accepted in the period after it, too.
const PERIOD: Duration = Duration::from_secs(6 * 60 * 60);

/// The secret that tickets' keys follow from.
#[derive(Clone)]
pub struct TicketSecret {
    /// Which period the secret is of, counted from 1970.
    period: u64,
    secret: Zeroizing<[u8; 32]>,
}

impl TicketSecret {
    /// A new one, as of the period before this one: who makes keys of it reads what was made with that, too.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn draw() -> Result<Self, TlsError> {
        let mut secret = Zeroizing::new([0; 32]);
        rand::fill(secret.as_mut_slice()).map_err(|_| TlsError::new("no random bytes for the keys of tickets"))?;
        Ok(Self { period: period_now().saturating_sub(1), secret })
    }

    /// Forgets what only tickets were made with that nobody accepts any more.
    pub fn refresh(&mut self) {
        self.advance(period_now().saturating_sub(1));
    }

    fn derive(&self, what: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut derived = Zeroizing::new([0; 32]);
        let prk = Prk::new_less_safe(HKDF_SHA256, self.secret.as_slice());
        // As long as the hash itself: neither step can refuse it.
        let _ = prk.expand(&[what], Length).and_then(|okm| okm.fill(derived.as_mut_slice()));
        derived
    }

    /// Goes on to a period; the secrets of those before it are forgotten.
    fn advance(&mut self, period: u64) {
        while self.period < period {
            self.secret = self.derive(b"apus next period");
            self.period += 1;
        }
    }

    fn key(&self) -> Option<Key> {
        let sealing = RandomizedNonceKey::new(&AES_256_GCM, self.derive(b"apus ticket key").as_slice()).ok()?;
        let mut name = [0; NAME_LEN];
        name.copy_from_slice(&self.derive(b"apus ticket name")[..NAME_LEN]);
        Some(Key { period: self.period, name, sealing })
    }
}

impl std::fmt::Debug for TicketSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TicketSecret").field("period", &self.period).finish_non_exhaustive()
    }
}

struct Length;

impl aws_lc_rs::hkdf::KeyType for Length {
    fn len(&self) -> usize {
        32
    }
}

/// Bytes that tell which key a ticket was made with.
const NAME_LEN: usize = 8;
/// A ticket is its key's name, the nonce, and what is sealed.
const HEAD_LEN: usize = NAME_LEN + NONCE_LEN;

struct Key {
    period: u64,
    name: [u8; NAME_LEN],
    sealing: RandomizedNonceKey,
}

struct Keys {
    secret: TicketSecret,
    now: Option<Key>,
    before: Option<Key>,
}

/// Makes and reads tickets: one for all ports of a process, so that no other copy of the secret stays behind.
pub struct Tickets(Mutex<Keys>);

impl Tickets {
    /// By keys that follow from the secret.
    pub fn new(secret: TicketSecret) -> Self {
        Self(Mutex::new(Keys { secret, now: None, before: None }))
    }

    fn with<R>(&self, period: u64, work: impl FnOnce(&Keys) -> R) -> R {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.turn(period);
        work(&keys)
    }
}

impl Keys {
    fn turn(&mut self, period: u64) {
        if self.now.as_ref().is_some_and(|key| key.period >= period) {
            return;
        }
        if self.secret.period < period {
            // Tickets of the period before are accepted still: its key first.
            self.secret.advance(period - 1);
            self.before = self.secret.key();
            self.secret.advance(period);
        }
        self.now = self.secret.key();
    }
}

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        PERIOD.as_secs() as u32
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.with(period_now(), |keys| {
            let key = keys.now.as_ref()?;
            let mut sealed = plain.to_vec();
            let nonce = key.sealing.seal_in_place_append_tag(Aad::from(key.name), &mut sealed).ok()?;
            Some([key.name.as_slice(), nonce.as_ref(), &sealed].concat())
        })
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.with(period_now(), |keys| {
            let (head, sealed) = ticket.split_first_chunk::<HEAD_LEN>()?;
            let (name, nonce) = head.split_at(NAME_LEN);
            let key = [&keys.now, &keys.before].into_iter().flatten().find(|key| key.name == name)?;
            let mut plain = sealed.to_vec();
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let len = key.sealing.open_in_place(nonce, Aad::from(key.name), &mut plain).ok()?.len();
            plain.truncate(len);
            Some(plain)
        })
    }
}

impl std::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tickets").finish_non_exhaustive()
    }
}

fn period_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / PERIOD.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_agree_without_a_word() {
        let secret = TicketSecret::draw().unwrap();
        let (one, other) = (Tickets::new(secret.clone()), Tickets::new(secret.clone()));
        let ticket = one.encrypt(b"what a session needs").unwrap();
        assert_eq!(other.decrypt(&ticket).as_deref(), Some(&b"what a session needs"[..]));
        assert_ne!(one.encrypt(b"what a session needs").unwrap(), ticket, "nonces differ");
        // A process that was forked later, and one that saw an earlier period, agree as well.
        let mut later = secret.clone();
        later.advance(secret.period + 3);
        let period = later.period;
        let (early, late) = (Tickets::new(secret), Tickets::new(later));
        let name = |tickets: &Tickets| tickets.with(period, |keys| keys.now.as_ref().map(|key| key.name));
        assert_eq!(name(&early), name(&late));
    }

    #[test]
    fn a_ticket_is_good_for_its_period_and_the_next() {
        let secret = TicketSecret::draw().unwrap();
        let names = |tickets: &Tickets, period: u64| {
            tickets.with(period, |keys| [&keys.now, &keys.before].map(|key| key.as_ref().map(|key| key.name)))
        };
        let start = secret.period;
        let tickets = Tickets::new(secret);
        let [first, none] = names(&tickets, start);
        assert!(first.is_some() && none.is_none());
        let [second, before] = names(&tickets, start + 1);
        assert!(second != first && before == first);
        let [_, before] = names(&tickets, start + 5);
        assert!(before != first && before != second);
    }

    #[test]
    fn strange_tickets_are_refused() {
        let tickets = Tickets::new(TicketSecret::draw().unwrap());
        let ticket = tickets.encrypt(b"x").unwrap();
        assert_eq!(Tickets::new(TicketSecret::draw().unwrap()).decrypt(&ticket), None, "another secret");
        for len in 0..ticket.len() {
            assert_eq!(tickets.decrypt(&ticket[..len]), None);
            let mut changed = ticket.clone();
            changed[len] ^= 1;
            assert_eq!(tickets.decrypt(&changed), None);
        }
    }
}
