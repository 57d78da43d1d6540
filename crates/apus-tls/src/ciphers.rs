//! Cipher suites and groups, chosen by the names that OpenSSL and the IANA have for them.

use rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, ALL_KX_GROUPS};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite};

use crate::TlsError;

/// What a port offers of what the library has. Empty lists stand for its own choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Suites, as `ssl_ciphers` lists them.
    pub ciphers: String,
    /// Groups of the key exchange, as `ssl_ecdh_curve` lists them.
    pub curves: String,
}

/// Name of OpenSSL, words by which its lists choose it, the suite; the best first. Those with SHA-256 come before those
/// with SHA-384, for which processors have no instructions.
const SUITES: [(&str, &str, CipherSuite); 9] = [
    ("TLS_AES_128_GCM_SHA256", "AESGCM AES128", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", "AESGCM AES256", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", "CHACHA20", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
    (
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "ECDHE EECDH ECDSA AESGCM AES128",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE EECDH ECDSA AESGCM AES256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE EECDH ECDSA CHACHA20",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE EECDH RSA AESGCM AES128",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE EECDH RSA AESGCM AES256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "ECDHE-RSA-CHACHA20-POLY1305",
        "ECDHE EECDH RSA CHACHA20",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// Words of OpenSSL's lists that stand for all suites.
const ALL: [&str; 4] = ["ALL", "DEFAULT", "HIGH", "SECURE"];

/// The groups by OpenSSL's and the IANA's names.
const GROUPS: [(&[&str], NamedGroup); 5] = [
    (&["X25519MLKEM768"], NamedGroup::X25519MLKEM768),
    (&["X25519"], NamedGroup::X25519),
    (&["P-256", "prime256v1", "secp256r1"], NamedGroup::secp256r1),
    (&["P-384", "secp384r1"], NamedGroup::secp384r1),
    (&["MLKEM768"], NamedGroup::MLKEM768),
];

impl Choice {
    /// The library's cryptography, less what was not chosen.
    pub(crate) fn apply(&self, provider: &CryptoProvider) -> Result<CryptoProvider, TlsError> {
        let mut provider = provider.clone();
        let ciphers = self.ciphers.trim();
        provider.cipher_suites = suites(if ciphers.is_empty() { "ALL" } else { ciphers })?;
        let curves = self.curves.trim();
        if !curves.is_empty() && !curves.eq_ignore_ascii_case("auto") {
            provider.kx_groups = groups(curves)?;
        }
        Ok(provider)
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split([':', ',', ' ', ';']).map(str::trim).filter(|word| !word.is_empty())
}

/// The suites that a list in OpenSSL's form chooses, in its order. Those of TLS 1.3 are left as they are where it names
/// none of them, as with OpenSSL.
fn suites(list: &str) -> Result<Vec<SupportedCipherSuite>, TlsError> {
    let mut chosen: Vec<CipherSuite> = Vec::new();
    for word in words(list) {
        match word.as_bytes()[0] {
            // What is excluded or moved back, the library mostly does not have.
            b'!' | b'-' => chosen.retain(|suite| !matching(&word[1..]).any(|found| found == *suite)),
            b'+' | b'@' => {}
            _ => {
                for suite in matching(word) {
                    if !chosen.contains(&suite) {
                        chosen.push(suite);
                    }
                }
            }
        }
    }
    let is_13 = |suite: &CipherSuite| SUITES[..3].iter().any(|(_, _, known)| known == suite);
    if chosen.is_empty() {
        let names: Vec<&str> = SUITES.iter().map(|(name, _, _)| *name).collect();
        return Err(TlsError::new(format!(
            "ssl_ciphers \"{list}\" leaves no cipher suite that is safe today; there are {}",
            names.join(", ")
        )));
    }
    if !chosen.iter().any(is_13) {
        chosen.splice(..0, SUITES[..3].iter().map(|(_, _, suite)| *suite));
    }
    Ok(chosen
        .iter()
        .filter_map(|name| ALL_CIPHER_SUITES.iter().find(|suite| suite.suite() == *name))
        .copied()
        .collect())
}

/// The suites that a word of a list stands for: a name, or words joined by `+` that all hold.
fn matching(word: &str) -> impl Iterator<Item = CipherSuite> {
    SUITES
        .iter()
        .filter(move |(name, words, suite)| {
            let iana = format!("{suite:?}").replacen("TLS13_", "TLS_", 1);
            name.eq_ignore_ascii_case(word)
                || iana.eq_ignore_ascii_case(word)
                || word.split('+').all(|part| {
                    ALL.iter().any(|all| all.eq_ignore_ascii_case(part))
                        || words.split(' ').any(|known| known.eq_ignore_ascii_case(part))
                })
        })
        .map(|(_, _, suite)| *suite)
}

fn groups(list: &str) -> Result<Vec<&'static dyn SupportedKxGroup>, TlsError> {
    let mut chosen = Vec::new();
    for word in words(list) {
        let named = GROUPS.iter().find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(word)));
        let group = named.and_then(|(_, name)| ALL_KX_GROUPS.iter().find(|group| group.name() == *name));
        let Some(group) = group else {
            let names: Vec<&str> = GROUPS.iter().map(|(names, _)| names[0]).collect();
            return Err(TlsError::new(format!("ssl_ecdh_curve: \"{word}\" is not one of {}", names.join(", "))));
        };
        chosen.push(*group);
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<CipherSuite> {
        suites(list).unwrap().iter().map(SupportedCipherSuite::suite).collect()
    }

    #[test]
    fn every_suite_is_known_by_its_names() {
        for suite in ALL_CIPHER_SUITES {
            let (openssl, _, name) = SUITES.iter().find(|(_, _, name)| *name == suite.suite()).unwrap();
            assert!(names(openssl).contains(name));
            assert!(names(&format!("{name:?}").replace("TLS13_", "TLS_")).contains(name));
        }
    }

    #[test]
    fn lists_choose_as_with_openssl() {
        assert_eq!(names("ALL").len(), 9);
        assert_eq!(names("ALL")[0], CipherSuite::TLS13_AES_128_GCM_SHA256);
        assert_eq!(names("HIGH:!aNULL:!MD5").len(), 9);
        assert_eq!(names("ECDHE+AESGCM").len(), 3 + 4);
        assert_eq!(names("ECDHE+CHACHA20:!ECDSA").len(), 3 + 1);
        assert_eq!(
            names("TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256"),
            [CipherSuite::TLS13_AES_128_GCM_SHA256, CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
        );
        assert_eq!(names("ALL:!ADH:!EXPORT56:RC4+RSA:+HIGH:+MEDIUM:+LOW:+SSLv2:+EXP").len(), 9);
        assert!(suites("RC4-SHA:DES-CBC3-SHA").unwrap_err().to_string().contains("ECDHE-RSA-AES128-GCM-SHA256"));
        assert!(suites("ALL:!ALL").is_err());
    }

    #[test]
    fn groups_are_chosen_by_name() {
        let chosen = |list: &str| groups(list).unwrap().iter().map(|group| group.name()).collect::<Vec<_>>();
        assert_eq!(chosen("X25519:prime256v1"), [NamedGroup::X25519, NamedGroup::secp256r1]);
        assert_eq!(chosen("x25519mlkem768"), [NamedGroup::X25519MLKEM768]);
        assert!(groups("sect571k1").unwrap_err().to_string().contains("P-384"));
        for (names, _) in GROUPS {
            assert_eq!(chosen(names[0]).len(), 1, "{names:?}");
        }
    }
}
