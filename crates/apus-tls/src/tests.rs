use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::path::Path;
use std::sync::Arc;

use pkcs8::der::pem::LineEnding;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, PublicKeyData as _, SigningKey as _};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use apus_scratch::Folder;

use super::first::{First, sequence};
use super::*;

/// An authority and what it signs.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    fn sign(&self, name: &str) -> (String, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let cert = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        (cert.pem(), key)
    }

    fn identity(&self, folder: &Folder, name: &str) -> Identity {
        let (cert, key) = self.sign(name);
        Identity {
            cert_file: folder.write(&format!("{}.crt", name.replace('*', "_")), cert),
            key_file: folder.write(&format!("{}.key", name.replace('*', "_")), key.serialize_pem()),
            ..Identity::default()
        }
    }

    fn client(&self, own: Option<(String, KeyPair)>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem().as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match own {
            Some((cert, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

/// One direction of a socket with a small buffer.
#[derive(Default)]
struct Pipe(VecDeque<u8>);

/// The server's end of a socket pair.
#[derive(Default)]
struct Wire {
    to_server: Pipe,
    to_client: Pipe,
    /// What the kernel would hold; a writer is blocked beyond.
    room: usize,
    /// How much a reader gets at once, where that is bounded.
    piece: Option<usize>,
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.to_server.0.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let most = self.piece.unwrap_or(into.len()).min(into.len());
        self.to_server.0.read(&mut into[..most])
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.room - self.to_client.0.len().min(self.room));
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.to_client.0.extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Talk {
    client: ClientConnection,
    server: Session,
    wire: Wire,
    /// Plain bytes that each side got.
    at_server: Vec<u8>,
    at_client: Vec<u8>,
}

impl Talk {
    fn new(server: &Arc<Served>, client: &Arc<ClientConfig>, name: &'static str) -> Self {
        Self {
            client: ClientConnection::new(Arc::clone(client), ServerName::try_from(name).unwrap()).unwrap(),
            server: Session::new(Arc::clone(server)).unwrap(),
            wire: Wire { room: 10_000, ..Wire::default() },
            at_server: Vec::new(),
            at_client: Vec::new(),
        }
    }

    /// Passes bytes on until nothing moves any more.
    fn run(&mut self) -> Result<(), String> {
        loop {
            let mut moved = 0;
            while self.client.wants_write() {
                let mut sealed = Vec::new();
                self.client.write_tls(&mut sealed).unwrap();
                moved += sealed.len();
                self.wire.to_server.0.extend(sealed);
            }
            let mut plain = [0; 1000];
            match self.server.read(&mut self.wire, &mut plain) {
                Ok(opened) => {
                    moved += opened.count;
                    self.at_server.extend_from_slice(&plain[..opened.count]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.to_string()),
            }
            let _ = self.server.flush(&mut self.wire);
            while !self.wire.to_client.0.is_empty() {
                moved += self.client.read_tls(&mut self.wire.to_client.0).unwrap();
                self.client.process_new_packets().map_err(|error| error.to_string())?;
                let _ = self.client.reader().read_to_end(&mut self.at_client);
            }
            if moved == 0 {
                return Ok(());
            }
        }
    }
}

fn built(tls: &ServerTls) -> Result<Arc<Served>, TlsError> {
    tls.build(&Files::read([tls])?, &Arc::new(Tickets::new(TicketSecret::draw()?)))
}

#[test]
fn bytes_go_both_ways_and_wait_while_the_peer_takes_none() {
    let (folder, authority) = (Folder::new("both"), Authority::new());
    let tls = ServerTls {
        identity: authority.identity(&folder, "a.test"),
        alpn: vec![b"http/1.1".to_vec()],
        ..ServerTls::default()
    };
    let mut talk = Talk::new(&built(&tls).unwrap(), &authority.client(None), "a.test");
    talk.client.writer().write_all(b"hello").unwrap();
    talk.run().unwrap();
    assert_eq!(talk.at_server, b"hello");
    assert_eq!((talk.server.version(), talk.server.alpn()), ("TLSv1.3", Some(&b"http/1.1"[..])));
    assert_eq!((talk.server.server_name(), talk.server.is_handshaking()), (Some("a.test"), false));
    assert!(talk.server.cipher().starts_with("TLS_") && !talk.server.resumed());
    assert_eq!(
        talk.client.negotiated_key_exchange_group().unwrap().name(),
        rustls::NamedGroup::X25519MLKEM768,
        "what quantum computers cannot break, where the client knows it"
    );

    // A socket that takes 10,000 bytes at a time bounds what is sealed ahead.
    let answer: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
    let mut sent = 0;
    let mut blocked = 0;
    while sent < answer.len() {
        let (head, tail) = answer[sent..].split_at((answer.len() - sent) / 3);
        match talk.server.write(&mut talk.wire, &[IoSlice::new(head), IoSlice::new(tail)]) {
            Ok(count) => {
                assert!(count > 0 && count <= 64 * 1024 + 20_000, "{count}");
                sent += count;
            }
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                assert!(talk.server.waits());
                blocked += 1;
                talk.run().unwrap();
            }
        }
    }
    // A socket that takes more again is given more, though what waited filled the room at first.
    talk.wire.room = 10_000;
    while talk.server.write(&mut talk.wire, &[IoSlice::new(&answer)]).is_ok_and(|count| count < 1 << 20) {}
    assert!(talk.server.waits());
    talk.wire.room = 1 << 20;
    assert_eq!(talk.server.write(&mut talk.wire, &[IoSlice::new(b"more")]).unwrap(), 4);
    talk.run().unwrap();
    assert!(talk.at_client.ends_with(b"more"));
    talk.at_client.truncate(answer.len());
    talk.server.close();
    talk.run().unwrap();
    assert!(blocked > 2, "{blocked}");
    assert!(talk.at_client == answer && !talk.server.waits());

    // The client closes its side: the end, not an error.
    talk.client.send_close_notify();
    talk.run().unwrap();
    let mut plain = [0; 10];
    assert_eq!(talk.server.read(&mut talk.wire, &mut plain).unwrap(), Opened { count: 0, drained: true });
}

#[test]
fn certificates_are_found_by_name() {
    let (folder, authority) = (Folder::new("names"), Authority::new());
    let tls = ServerTls {
        identity: authority.identity(&folder, "a.test"),
        names: ["b.test", "*.c.test"].map(|name| (name.to_owned(), authority.identity(&folder, name))).into(),
        ..ServerTls::default()
    };
    let (server, client) = (built(&tls).unwrap(), authority.client(None));
    for name in ["a.test", "b.test", "x.c.test"] {
        Talk::new(&server, &client, name).run().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in ["other.test", "c.test", "x.y.c.test"] {
        let error = Talk::new(&server, &client, name).run().unwrap_err();
        assert!(error.contains("a.test"), "the port's own certificate is shown: {error}");
    }
}

#[test]
fn a_session_is_resumed_by_another_worker_and_by_none_with_another_secret() {
    let (folder, authority) = (Folder::new("resume"), Authority::new());
    let tls = ServerTls { identity: authority.identity(&folder, "a.test"), ..ServerTls::default() };
    let (files, secret) = (Files::read([&tls]).unwrap(), TicketSecret::draw().unwrap());
    let client = authority.client(None);
    let resumed = |secret: &TicketSecret| {
        let mut talk =
            Talk::new(&tls.build(&files, &Arc::new(Tickets::new(secret.clone()))).unwrap(), &client, "a.test");
        talk.client.writer().write_all(b"x").unwrap();
        talk.run().unwrap();
        talk.server.resumed()
    };
    assert!(!resumed(&secret));
    assert!(resumed(&secret) && resumed(&secret));
    assert!(!resumed(&TicketSecret::draw().unwrap()));
}

#[test]
fn clients_show_a_certificate_where_they_must() {
    let (folder, authority) = (Folder::new("clients"), Authority::new());
    let mut tls = ServerTls { identity: authority.identity(&folder, "a.test"), ..ServerTls::default() };
    tls.demand.verify_peer = true;
    assert!(built(&tls).unwrap_err().to_string().contains("ssl_client_cert_file"));
    tls.demand.ca_file = Some(folder.write("ca.crt", authority.pem()));
    let server = built(&tls).unwrap();

    let (cert, key) = authority.sign("client");
    let der = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
    let mut talk = Talk::new(&server, &authority.client(Some((cert, key))), "a.test");
    talk.run().unwrap();
    assert_eq!(talk.server.peer_certificate(), Some(&der));

    assert!(Talk::new(&server, &authority.client(None), "a.test").run().unwrap_err().contains("certificate"));
    let other = Authority::new().sign("client");
    assert!(Talk::new(&server, &authority.client(Some(other)), "a.test").run().is_err());
}

/// A certificate of version 1 with a key, signed by `by` in the name of `issuer`; `validity` is two times of DER.
fn of_version_1(issuer: &Authority, by: &KeyPair, validity: &[u8]) -> (Vec<u8>, KeyPair) {
    // ecdsa-with-SHA256, as rcgen signs.
    const ALGORITHM: &[u8] = b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";
    let key = KeyPair::generate().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(issuer.pem().as_bytes()).unwrap()).unwrap();
    let name = sequence(&roots.roots[0].subject);
    let fields = [&[0x02, 1, 1], ALGORITHM, &name, &sequence(validity), &sequence(&[]), &key.subject_public_key_info()];
    let signed = sequence(&fields.concat());
    let signature = by.sign(&signed).unwrap();
    let bits = [&[0x03, signature.len() as u8 + 1, 0], &signature[..]].concat();
    (sequence(&[&signed, ALGORITHM, &bits].concat()), key)
}

#[test]
fn clients_may_show_a_certificate_of_version_1() {
    const NOW: &[u8] = b"\x17\x0d200101000000Z\x18\x0f21200101000000Z";
    const OVER: &[u8] = b"\x17\x0d200101000000Z\x17\x0d210101000000Z";
    let (folder, authority) = (Folder::new("first"), Authority::new());
    let mut tls = ServerTls { identity: authority.identity(&folder, "a.test"), ..ServerTls::default() };
    tls.demand = Demand { verify_peer: true, ca_file: Some(folder.write("ca.crt", authority.pem())), ca_path: None };
    let shake = |tls: &ServerTls, (der, key): (Vec<u8>, KeyPair)| {
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let shown = certified(vec![der.into()], key, &provider()).unwrap();
        let mut client = (*authority.client(None)).clone();
        client.client_auth_cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(shown));
        Talk::new(&built(tls).unwrap(), &Arc::new(client), "a.test").run()
    };
    let own = authority.0.key();
    shake(&tls, of_version_1(&authority, own, NOW)).unwrap();
    tls.versions = Versions { tls12: true, tls13: false };
    shake(&tls, of_version_1(&authority, own, NOW)).unwrap();
    assert!(shake(&tls, of_version_1(&authority, own, OVER)).unwrap_err().contains("xpired"));
    let stranger = KeyPair::generate().unwrap();
    assert!(shake(&tls, of_version_1(&authority, &stranger, NOW)).is_err());
    let (shown, _) = of_version_1(&authority, own, NOW);
    let mut extended = shown;
    extended.push(0);
    assert!(First::read(&extended).is_none());
}

#[test]
fn a_name_may_demand_what_others_do_not() {
    let (folder, authority) = (Folder::new("demands"), Authority::new());
    let demand = Demand { verify_peer: true, ca_file: Some(folder.write("ca.crt", authority.pem())), ca_path: None };
    let tls = ServerTls {
        identity: authority.identity(&folder, "a.test"),
        names: vec![("*.b.test".to_owned(), authority.identity(&folder, "x.b.test"))],
        demands: vec![("*.B.test".to_owned(), demand)],
        ..ServerTls::default()
    };
    let server = built(&tls).unwrap();
    let client = authority.client(None);
    Talk::new(&server, &client, "a.test").run().unwrap();
    let refused = Talk::new(&server, &client, "x.b.test").run().unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
    // A ticket of another name proves nothing.
    Talk::new(&server, &client, "x.b.test").run().unwrap_err();
    let mut talk = Talk::new(&server, &authority.client(Some(authority.sign("client"))), "x.b.test");
    talk.run().unwrap();
    assert!(talk.server.peer_certificate().is_some());
    assert_eq!(talk.server.server_name(), Some("x.b.test"));
    // A hello that comes byte for byte, and what is none.
    let mut talk = Talk::new(&server, &client, "a.test");
    talk.wire.piece = Some(1);
    talk.run().unwrap();
    assert!(!talk.server.is_handshaking());
    let mut wire = Wire { room: 10_000, ..Wire::default() };
    wire.to_server.0.extend(b"GET / HTTP/1.1\r\n\r\n");
    let error = Session::new(Arc::clone(&server)).unwrap().read(&mut wire, &mut [0; 100]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn keys_are_decrypted() {
    let (folder, authority) = (Folder::new("keys"), Authority::new());
    let (cert, key) = authority.sign("a.test");
    let document = pkcs8::SecretDocument::try_from(key.serialize_der()).unwrap();
    let info = pkcs8::PrivateKeyInfoRef::try_from(document.as_bytes()).unwrap();
    let sealed = info.encrypt("open sesame").unwrap().to_pem("ENCRYPTED PRIVATE KEY", LineEnding::LF).unwrap();
    let identity = Identity {
        cert_file: folder.write("a.crt", cert),
        key_file: folder.write("a.key", sealed.as_bytes()),
        ..Identity::default()
    };
    let why = |passphrase: &str| {
        let identity = Identity { passphrase: passphrase.to_owned(), ..identity.clone() };
        built(&ServerTls { identity, ..ServerTls::default() }).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(why("open sesame"), Ok(()));
    assert!(why("").unwrap_err().contains("a.key: its key is encrypted: set ssl_passphrase"));
    assert!(why("sesame").unwrap_err().contains("the passphrase is wrong"));
}

#[test]
fn what_is_wrong_is_told_with_its_file() {
    let (folder, authority) = (Folder::new("wrong"), Authority::new());
    let good = authority.identity(&folder, "a.test");
    let why = |change: &dyn Fn(&mut ServerTls)| {
        let mut tls = ServerTls { identity: good.clone(), ..ServerTls::default() };
        change(&mut tls);
        built(&tls).unwrap_err().to_string()
    };
    let missing = folder.0.join("missing.crt");
    assert!(why(&|tls| tls.identity.cert_file.clone_from(&missing)).contains("missing.crt: No such file"));
    let other = authority.identity(&folder, "b.test").key_file;
    assert!(why(&|tls| tls.identity.key_file.clone_from(&other)).contains("cannot be used with the key of"));
    let empty = folder.write("empty.pem", "nothing");
    assert!(why(&|tls| tls.identity.cert_file.clone_from(&empty)).contains("empty.pem: there is no certificate in it"));
    assert!(why(&|tls| tls.identity.key_file.clone_from(&empty)).contains("empty.pem: no usable private key"));
    let old = folder.write("old.key", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n");
    assert!(why(&|tls| tls.identity.key_file.clone_from(&old)).contains("openssl pkcs8 -topk8"));
    assert!(why(&|tls| tls.versions = Versions { tls12: false, tls13: false }).contains("ssl_protocols"));
}

#[test]
fn files_go_to_another_process() {
    let (folder, authority) = (Folder::new("pack"), Authority::new());
    let tls = ServerTls {
        identity: authority.identity(&folder, "a.test"),
        demand: Demand { ca_path: Some(folder.0.clone()), ..Demand::default() },
        ..ServerTls::default()
    };
    let files = Files::read([&tls]).unwrap();
    let packed = files.pack();
    assert_eq!(Files::unpack(&packed), Some(files.clone()));
    assert_eq!(files.inside(&folder.0).count(), 2);
    assert_eq!(files.inside(Path::new("/elsewhere")).count(), 0);
    for len in 1..packed.len() {
        if let Some(cut) = Files::unpack(&packed[..len]) {
            assert_eq!(cut.inside(&folder.0).count(), 1, "cut between two files");
        }
    }
}

#[test]
fn a_peer_that_speaks_no_tls_is_an_error() {
    let (folder, authority) = (Folder::new("plain"), Authority::new());
    let tls = ServerTls { identity: authority.identity(&folder, "a.test"), ..ServerTls::default() };
    let mut server = Session::new(built(&tls).unwrap()).unwrap();
    let mut wire = Wire { room: 10_000, ..Wire::default() };
    wire.to_server.0.extend(b"GET / HTTP/1.1\r\n\r\n");
    let error = server.read(&mut wire, &mut [0; 100]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
