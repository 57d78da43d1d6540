//! TLS and the ways to log in.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use apus_client::broker::{Broker, BrokerOptions, Credentials, Published, Report};
use apus_client::tls::TlsOptions;
use apus_scratch::Folder;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use super::servers::{Kind, Reports, Server, numbered, run};

/// Certificates of one authority: for the server (127.0.0.1), and for a client.
struct Certificates {
    ca: PathBuf,
    server: (PathBuf, PathBuf),
    client: (PathBuf, PathBuf),
    _folder: Folder,
}

fn certificates() -> Certificates {
    let folder = Folder::new("broker");
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "authority of a test");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let signed = |name: &str, what: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, what);
        let cert = params.signed_by(&key, &ca).unwrap();
        let write = |kind: &str, text: &str| folder.write(&format!("{what}-{kind}.pem"), text);
        (write("cert", &cert.pem()), write("key", &key.serialize_pem()))
    };
    let (server, client) = (signed("127.0.0.1", "server"), signed("client.test", "client"));
    Certificates { ca: folder.write("ca.pem", ca.pem()), server, client, _folder: folder }
}

impl Certificates {
    /// A server that demands TLS and a client's certificate.
    fn serve(&self, kind: Kind) -> Option<Server> {
        let (ca, cert, key) = (text(&self.ca), text(&self.server.0), text(&self.server.1));
        let files = match kind {
            Kind::Nats => ["--tlscacert", &*ca, "--tlscert", &*cert, "--tlskey", &*key],
            _ => ["--tls-ca-cert-file", &*ca, "--tls-cert-file", &*cert, "--tls-key-file", &*key],
        };
        let demand = if kind == Kind::Nats { &["--tls", "--tlsverify"][..] } else { &[] };
        Server::start(kind, &[demand, &files].concat())
    }

    fn options(&self) -> TlsOptions {
        let (cert, key) = self.client.clone();
        TlsOptions {
            ca_file: Some(self.ca.clone()),
            cert_file: Some(cert),
            key_file: Some(key),
            ..TlsOptions::default()
        }
    }
}

fn text(path: &std::path::Path) -> String {
    path.display().to_string()
}

/// That a message comes back over a broker.
async fn echoes(broker: &Broker) {
    assert!(broker.subscribe("a"));
    broker.synced().await;
    assert_eq!(broker.publish("a", numbered(7)), Published::Queued);
    assert_eq!(broker.receive().await.payload, numbered(7));
}

#[test]
fn tls_with_an_authority_and_a_certificate_of_ones_own() {
    let made = certificates();
    for (kind, urls) in [
        (Kind::RedisTls, &["rediss://127.0.0.1:PORT"][..]),
        // A NATS server that demands TLS gets it, whatever the URL says.
        (Kind::Nats, &["tls://127.0.0.1:PORT", "nats://127.0.0.1:PORT"]),
    ] {
        let Some(server) = made.serve(kind) else { continue };
        for url in urls {
            run(async {
                let options = BrokerOptions { tls: made.options(), ..BrokerOptions::default() };
                let broker = Broker::open(server.url_of(url), options);
                echoes(&broker).await;
                // More than the kernel takes at one go, so that TLS holds some back.
                let large: bytes::Bytes = (0..900_000_u32).map(|at| (at % 251) as u8).collect();
                for _ in 0..8 {
                    assert_eq!(broker.publish("a", large.clone()), Published::Queued);
                }
                for _ in 0..8 {
                    assert!(broker.receive().await.payload == large);
                }
            });
        }
    }
}

#[test]
fn a_certificate_that_is_missing_or_not_believed_is_told() {
    let made = certificates();
    for (kind, url) in [(Kind::RedisTls, "rediss://127.0.0.1:PORT"), (Kind::Nats, "tls://127.0.0.1:PORT")] {
        let Some(server) = made.serve(kind) else { continue };
        let without = TlsOptions { cert_file: None, key_file: None, ..made.options() };
        let other_ca = TlsOptions { ca_file: Some(made.client.0.clone()), ..made.options() };
        let other_name = (made.options(), Some("elsewhere.test".to_owned()));
        for ((tls, tls_name), word) in [
            // The alert, or what is left of the connection when it was read first.
            ((without, None), ""),
            ((other_ca, None), "no known authority signed it"),
            (other_name, "made for other names"),
        ] {
            run(async {
                let reports = Reports::default();
                let broker = Broker::open(server.url_of(url), BrokerOptions { tls, tls_name, ..reports.options() });
                reports.until(|report| matches!(report, Report::Lost(why) if why.contains(word))).await;
                assert!(!broker.is_connected());
            });
        }
    }
}

#[test]
fn tls_that_is_demanded_is_not_given_up() {
    let (plain_nats, plain_redis) = (Server::start(Kind::Nats, &[]), Server::start(Kind::Redis, &[]));
    for (server, url, word) in
        [(plain_nats, "tls://127.0.0.1:PORT", "does not offer TLS"), (plain_redis, "rediss://127.0.0.1:PORT", "TLS")]
    {
        let Some(server) = server else { continue };
        run(async {
            let reports = Reports::default();
            let options = BrokerOptions { connect_timeout: Duration::from_millis(500), ..reports.options() };
            let broker = Broker::open(server.url_of(url), options);
            reports.until(|report| matches!(report, Report::Lost(why) if why.contains(word))).await;
            assert!(!broker.is_connected());
        });
    }
}

/// An `NKey`: its seed and its name, of the kind whose letter has this number in base32.
struct NKey {
    pair: Ed25519KeyPair,
    seed: String,
    name: String,
}

impl NKey {
    fn new(kind: u8, fill: u8) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[fill; 32]).unwrap();
        let prefix = kind << 3;
        let mut seed = vec![18 << 3 | prefix >> 5, prefix << 3];
        seed.extend_from_slice(&[fill; 32]);
        let mut name = vec![prefix];
        name.extend_from_slice(pair.public_key().as_ref());
        Self { pair, seed: checked_base32(seed), name: checked_base32(name) }
    }

    /// Claims about another key, signed by this one.
    fn jwt(&self, subject: &str, nats: &str) -> String {
        let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
        let claims = format!(
            r#"{{"jti":"x","iat":1700000000,"iss":"{}","name":"test","sub":"{subject}","nats":{nats}}}"#,
            self.name
        );
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }
}

fn checked_base32(mut bytes: Vec<u8>) -> String {
    let sum = bytes.iter().fold(0_u16, |sum, &byte| {
        (0..8).fold(sum ^ u16::from(byte) << 8, |sum, _| sum << 1 ^ if sum & 0x8000 == 0 { 0 } else { 0x1021 })
    });
    bytes.extend_from_slice(&sum.to_le_bytes());
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let digit = |bits: &[u8]| {
        let number = bits.iter().fold(0, |number, bit| number << 1 | usize::from(*bit)) << (5 - bits.len());
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[number])
    };
    bits.chunks(5).map(digit).collect()
}

/// What a broker with this file of credentials comes to: connected, or why not.
fn outcome(server: &Server, credentials: &std::path::Path) -> Result<(), String> {
    let mut result = Ok(());
    run(async {
        let reports = Reports::default();
        let credentials = Some(Arc::new(Credentials::read(credentials).unwrap()));
        let broker = Broker::open(server.url(""), BrokerOptions { credentials, ..reports.options() });
        reports.until(|_| true).await;
        let first = reports.0.borrow()[0].clone();
        match first {
            Report::Connected => echoes(&broker).await,
            other => result = Err(format!("{other:?}")),
        }
    });
    result
}

#[test]
fn nkeys_and_credentials_log_in() {
    let folder = Folder::new("broker");
    let (operator, account) = (NKey::new(14, 1), NKey::new(0, 2));
    let (user, stranger) = (NKey::new(20, 3), NKey::new(20, 4));
    let bare = |key: &NKey| folder.write(&format!("{}.nk", key.name), format!("{}\n", key.seed));
    let creds = |key: &NKey, by: &NKey| {
        let jwt = by.jwt(&key.name, r#"{"type":"user","version":2,"subs":-1,"data":-1,"payload":-1}"#);
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            key.seed
        );
        folder.write(&format!("{}.creds", key.name), &text)
    };
    let config = format!("authorization {{ users = [ {{ nkey: {} }} ] }}\n", user.name);
    let config = text(&folder.write("nkey.conf", &config));
    let Some(server) = Server::start(Kind::Nats, &["-c", &config]) else { return };
    assert_eq!(outcome(&server, &bare(&user)), Ok(()));
    let refused = outcome(&server, &bare(&stranger)).unwrap_err();
    assert!(refused.contains("refused the login"), "{refused}");

    let limits = r#"{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1}"#;
    let config = format!(
        "operator: {}\nresolver: MEMORY\nresolver_preload: {{ {}: {} }}\n",
        operator.jwt(&operator.name, r#"{"type":"operator","version":2}"#),
        account.name,
        operator.jwt(&account.name, &format!(r#"{{"type":"account","version":2,"limits":{limits}}}"#)),
    );
    let config = text(&folder.write("accounts.conf", &config));
    let Some(server) = Server::start(Kind::Nats, &["-c", &config]) else { return };
    assert_eq!(outcome(&server, &creds(&user, &account)), Ok(()));
    // Its own account does not know who signed this.
    let refused = outcome(&server, &creds(&stranger, &operator)).unwrap_err();
    assert!(refused.contains("refused the login"), "{refused}");
}
