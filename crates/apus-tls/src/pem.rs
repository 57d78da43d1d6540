//! Certificates and keys out of PEM files.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use pkcs8::der::Document;
use pkcs8::der::pem::{LineEnding, PemLabel as _};
use pkcs8::{EncryptedPrivateKeyInfoRef, SecretDocument};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use zeroize::Zeroizing;

use crate::TlsError;

/// The largest file that is read, bytes.
const MAX_FILE: u64 = 16 << 20;

/// Reads a file. The memory is wiped when it is given back, as there may be a key in it.
///
/// # Errors
/// It cannot be read, is no regular file, or has more than 16 MiB; the error names `path`.
pub fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, TlsError> {
    let failed = |error: std::io::Error| unusable(path, &error.to_string());
    let refused = || unusable(path, "it is no file of at most 16 MiB");
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() || about.len() > MAX_FILE {
        return Err(refused());
    }
    // Room for all of it at once: what a vector leaves behind as it grows is not wiped.
    let mut bytes = Zeroizing::new(Vec::with_capacity(about.len() as usize + 1));
    File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE { Err(refused()) } else { Ok(bytes) }
}

/// The certificates of a file, in its order; at least one.
///
/// # Errors
/// What is wrong with the file, which `path` names.
pub fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| unusable(path, &error.to_string()))?;
    if found.is_empty() {
        return Err(unusable(path, "there is no certificate in it (PEM, BEGIN CERTIFICATE)"));
    }
    Ok(found)
}

/// The private key of a file. One that is encrypted (PKCS#8) is decrypted with `passphrase`.
///
/// # Errors
/// What is wrong with the file, which `path` names.
pub fn key(path: &Path, pem: &[u8], passphrase: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = std::str::from_utf8(pem).map_err(|_| unusable(path, "it is no PEM file"))?;
    let label = format!("-----BEGIN {}-----", EncryptedPrivateKeyInfoRef::PEM_LABEL);
    if let Some(at) = text.find(&label) {
        return decrypted(path, &text[at..], passphrase);
    }
    if text.contains("Proc-Type: 4,ENCRYPTED") {
        let how = "its key is encrypted in the old way of OpenSSL: convert it with `openssl pkcs8 -topk8 -in FILE -out \
                   NEW`";
        return Err(unusable(path, how));
    }
    PrivateKeyDer::from_pem_slice(pem)
        .map_err(|error| unusable(path, &format!("no usable private key (PEM; PKCS#8, PKCS#1 or SEC1): {error}")))
}

fn decrypted(path: &Path, pem: &str, passphrase: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    if passphrase.is_empty() {
        return Err(unusable(path, "its key is encrypted: set ssl_passphrase"));
    }
    let end = pem.find("-----END").and_then(|at| pem[at..].find('\n').map(|line| at + line + 1)).unwrap_or(pem.len());
    let (_, sealed) =
        Document::from_pem(&pem[..end]).map_err(|error| unusable(path, &format!("its key cannot be read: {error}")))?;
    let info = EncryptedPrivateKeyInfoRef::try_from(sealed.as_bytes())
        .map_err(|error| unusable(path, &format!("its key cannot be read: {error}")))?;
    let open: SecretDocument = info.decrypt(passphrase).map_err(|_| {
        unusable(path, "its key cannot be decrypted: the passphrase is wrong, or the cipher is not one of PBES2's")
    })?;
    Ok(PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(open.as_bytes().to_vec())))
}

/// A certificate (DER) as PEM.
pub fn encode(certificate: &[u8]) -> String {
    pkcs8::der::pem::encode_string("CERTIFICATE", LineEnding::LF, certificate).unwrap_or_default()
}

pub(crate) fn unusable(path: &Path, why: &str) -> TlsError {
    TlsError::new(format!("{}: {why}", path.display()))
}
