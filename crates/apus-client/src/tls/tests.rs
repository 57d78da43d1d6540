use std::path::Path;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

use apus_scratch::Folder;

use super::*;

struct Made {
    options: TlsOptions,
    cert: PathBuf,
    ca: PathBuf,
    _folder: Folder,
}

/// A certificate for `localhost`: signed by an authority of its own, or by itself (as an authority or not).
fn made(name: &str, shape: impl FnOnce(&mut CertificateParams), by_ca: bool) -> Made {
    let folder = Folder::new(&format!("client-tls-{name}"));
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, format!("leaf of {name}"));
    shape(&mut params);
    let mut ca_params = CertificateParams::new(Vec::<String>::new()).unwrap();
    ca_params.distinguished_name.push(DnType::CommonName, format!("authority of {name}"));
    ca_params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca_params, KeyPair::generate().unwrap()).unwrap();
    let cert = if by_ca { params.signed_by(&key, &ca).unwrap() } else { params.self_signed(&key).unwrap() };
    let cert = folder.write("cert.pem", cert.pem());
    let ca = folder.write("ca.pem", ca.pem());
    let key = folder.write("key.pem", key.serialize_pem());
    let options =
        TlsOptions { cert_file: Some(cert.clone()), key_file: Some(key), verify_peer: false, ..TlsOptions::default() };
    Made { options, cert, ca, _folder: folder }
}

/// Client and server shake hands over a pipe; the client's word is the outcome.
async fn shake(
    server: &TlsOptions,
    client: &TlsOptions,
    name: &str,
) -> Result<TlsStream<tokio::io::DuplexStream>, TlsError> {
    let (near, far) = duplex(4096);
    let server = server.clone();
    let serve = tokio::spawn(async move {
        if let Ok(mut stream) = accept(far, &server).await {
            let mut byte = [0; 64];
            while let Ok(n @ 1..) = stream.read(&mut byte).await {
                stream.write_all(&byte[..n]).await.unwrap();
                stream.flush().await.unwrap();
            }
        }
    });
    let stream = connect(near, name, client).await;
    if stream.is_err() {
        serve.await.unwrap();
    }
    stream
}

fn trusting(ca: &Path) -> TlsOptions {
    TlsOptions { ca_file: Some(ca.to_owned()), ..TlsOptions::default() }
}

fn text<S>(result: Result<TlsStream<S>, TlsError>) -> String {
    result.err().expect("a refusal").to_string()
}

#[tokio::test]
async fn a_chain_to_a_named_authority_is_believed_and_bytes_pass() {
    let made = made("chain", |_| (), true);
    let mut client = trusting(&made.ca);
    client.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let server = TlsOptions { alpn: vec![b"http/1.1".to_vec()], ..made.options.clone() };
    let mut stream = shake(&server, &client, "localhost").await.unwrap();
    assert_eq!(stream.alpn(), Some(&b"http/1.1"[..]));
    assert_eq!(stream.version(), "TLSv1.3");
    assert_eq!(stream.peer_certificate_pem().unwrap(), std::fs::read_to_string(&made.cert).unwrap().replace('\r', ""));
    stream.write_all(b"echo").await.unwrap();
    stream.flush().await.unwrap();
    let mut back = [0; 4];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"echo");
    stream.verify_peer(false).unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut back).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn an_unknown_authority_is_refused_and_the_text_says_what_to_do() {
    let made = made("unknown", |_| (), true);
    let other = super::tests::made("unknown-other", |_| (), true);
    let refused = text(shake(&made.options, &trusting(&other.ca), "localhost").await);
    assert!(refused.contains("no known authority") && refused.contains("ssl_cafile"), "{refused}");
    // It was signed by another, so this option is no way around.
    let client = TlsOptions { allow_self_signed: true, ..trusting(&other.ca) };
    assert!(matches!(shake(&made.options, &client, "localhost").await, Err(TlsError::Refused(_))));
}

#[tokio::test]
async fn self_signed_certificates_need_the_option_or_a_pin() {
    for (name, ca) in [("self", IsCa::NoCa), ("self-ca", IsCa::Ca(BasicConstraints::Unconstrained))] {
        let made = made(name, |params| params.is_ca = ca, false);
        let other = super::tests::made(&format!("{name}-other"), |_| (), true);
        let strict = trusting(&other.ca);
        assert!(matches!(shake(&made.options, &strict, "localhost").await, Err(TlsError::Refused(_))), "{name}");
        let allowed = TlsOptions { allow_self_signed: true, ..strict.clone() };
        shake(&made.options, &allowed, "localhost").await.unwrap();
        let named = text(shake(&made.options, &allowed, "example.org").await);
        assert!(named.contains("other names"), "{named}");
        let nameless = TlsOptions { verify_name: false, ..allowed };
        shake(&made.options, &nameless, "example.org").await.unwrap();
        shake(&made.options, &trusting(&made.cert), "localhost").await.unwrap();
    }
}

#[tokio::test]
async fn an_older_certificate_of_the_same_name_does_not_stand_in_the_way() {
    let rename = |params: &mut CertificateParams| params.distinguished_name.push(DnType::CommonName, "same");
    let (made, old) = (made("same-new", rename, false), made("same-old", rename, false));
    assert!(matches!(shake(&made.options, &trusting(&old.cert), "localhost").await, Err(TlsError::Refused(_))));
    let client = TlsOptions { allow_self_signed: true, ..trusting(&old.cert) };
    shake(&made.options, &client, "localhost").await.unwrap();
}

#[tokio::test]
async fn expired_certificates_are_refused_even_when_trusted() {
    for (name, ca) in [("old", IsCa::NoCa), ("old-ca", IsCa::Ca(BasicConstraints::Unconstrained))] {
        let made = made(
            name,
            |params| {
                params.is_ca = ca;
                params.not_before = date_time_ymd(2001, 1, 1);
                params.not_after = date_time_ymd(2002, 1, 1);
            },
            false,
        );
        let client = TlsOptions { allow_self_signed: true, ..trusting(&made.cert) };
        let refused = text(shake(&made.options, &client, "localhost").await);
        assert!(refused.contains("expired"), "{refused}");
    }
}

#[tokio::test]
async fn a_connection_without_verification_can_be_verified_later() {
    let made = made("later", |_| (), false);
    let client = TlsOptions { verify_peer: false, ca_file: Some(made.ca.clone()), ..TlsOptions::default() };
    let stream = shake(&made.options, &client, "localhost").await.unwrap();
    assert!(matches!(stream.verify_peer(false), Err(TlsError::Refused(_))));
    stream.verify_peer(true).unwrap();
}

#[tokio::test]
async fn a_server_can_demand_a_client_certificate() {
    let made = made("mutual", |_| (), true);
    let server = TlsOptions { verify_peer: true, ca_file: Some(made.ca.clone()), ..made.options.clone() };
    let mut bare = shake(&server, &trusting(&made.ca), "localhost").await.unwrap();
    // TLS 1.3: the client learns of the refusal at its first read.
    assert!(bare.read_u8().await.is_err());
    let client = TlsOptions {
        cert_file: made.options.cert_file.clone(),
        key_file: made.options.key_file.clone(),
        ..trusting(&made.ca)
    };
    let mut stream = shake(&server, &client, "localhost").await.unwrap();
    stream.write_all(b"x").await.unwrap();
    stream.flush().await.unwrap();
    assert_eq!(stream.read_u8().await.unwrap(), b'x');
}

#[tokio::test]
async fn versions_can_be_narrowed() {
    let made = made("versions", |_| (), true);
    let client = TlsOptions { tls13: false, ..trusting(&made.ca) };
    assert_eq!(shake(&made.options, &client, "localhost").await.unwrap().version(), "TLSv1.2");
    let none = TlsOptions { tls13: false, tls12: false, ..trusting(&made.ca) };
    assert!(text(shake(&made.options, &none, "localhost").await).contains("no TLS version"));
    let apart = TlsOptions { tls12: false, ..made.options.clone() };
    assert!(matches!(shake(&apart, &client, "localhost").await, Err(TlsError::Handshake(_) | TlsError::Io(_))));
}

#[tokio::test]
async fn what_cannot_be_used_is_named() {
    let folder = Folder::new("bad");
    let missing = trusting(&folder.0.join("none.pem"));
    let (near, _far) = duplex(64);
    assert!(text(connect(near, "localhost", &missing).await).contains("none.pem"));
    let empty = trusting(&folder.write("empty.pem", "nothing here"));
    let (near, _far) = duplex(64);
    assert!(text(connect(near, "localhost", &empty).await).contains("no certificate in it"));
    let (near, _far) = duplex(64);
    assert!(matches!(connect(near, "not a name", &TlsOptions::default()).await, Err(TlsError::Name(_))));
    let (near, _far) = duplex(64);
    assert!(text(accept(near, &TlsOptions::default()).await).contains("needs a certificate"));
    let locked =
        folder.write("key.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    let good = made("bad-good", |_| (), true);
    let options = TlsOptions { key_file: Some(locked), ..good.options.clone() };
    let (near, _far) = duplex(64);
    assert!(text(accept(near, &options).await).contains("its key is encrypted"));
}

#[tokio::test]
async fn a_renewed_file_is_read_again() {
    let made = made("renewed", |_| (), true);
    let other = super::tests::made("renewed-other", |_| (), true);
    let client = trusting(&other.ca);
    assert!(shake(&made.options, &client, "localhost").await.is_err());
    std::fs::copy(&made.ca, &other.ca).unwrap();
    // Its time of writing moves on even where the file system counts in seconds.
    let file = std::fs::File::options().write(true).open(&other.ca).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
    shake(&made.options, &client, "localhost").await.unwrap();
}

#[tokio::test]
async fn a_peer_that_speaks_no_tls_is_an_error() {
    let (near, mut far) = duplex(4096);
    far.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    assert!(matches!(
        connect(near, "localhost", &TlsOptions { verify_peer: false, ..TlsOptions::default() }).await,
        Err(TlsError::Handshake(_))
    ));
    let (near, far) = duplex(4096);
    drop(far);
    assert!(matches!(
        connect(near, "localhost", &TlsOptions { verify_peer: false, ..TlsOptions::default() }).await,
        Err(TlsError::Io(_))
    ));
}

#[test]
fn pem_has_lines_of_64_and_padding() {
    let long = verify::pem(&[0xff; 50]);
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1].len(), 64);
    assert_eq!(lines[2], "//8=");
}
