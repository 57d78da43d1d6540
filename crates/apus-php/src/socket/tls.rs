//! From the settings of any client to how it speaks TLS.

use std::path::PathBuf;

use apus_client::tls::TlsOptions;
use apus_options::client::Settings;

/// The bits of `ssl_protocols`.
pub(crate) const TLS_1_2: u32 = 32;
pub(crate) const TLS_1_3: u32 = 64;

/// How a client speaks TLS.
///
/// # Errors
/// What is wrong with the settings, in words.
pub(crate) fn options(settings: &Settings) -> Result<TlsOptions, &'static str> {
    let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
    let versions = if settings.ssl_protocols == 0 { TLS_1_2 | TLS_1_3 } else { settings.ssl_protocols };
    if versions & (TLS_1_2 | TLS_1_3) == 0 {
        return Err(
            "setting \"ssl_protocols\" leaves no version that is spoken: add Apus\\SSL_TLSv1_2 or Apus\\SSL_TLSv1_3",
        );
    }
    Ok(TlsOptions {
        verify_peer: settings.ssl_verify_peer,
        verify_name: settings.ssl_verify_peer,
        allow_self_signed: settings.ssl_allow_self_signed,
        ca_file: path(&settings.ssl_cafile),
        ca_path: path(&settings.ssl_capath),
        cert_file: path(&settings.ssl_cert_file),
        key_file: path(&settings.ssl_key_file),
        passphrase: settings.ssl_passphrase.clone(),
        tls12: versions & TLS_1_2 != 0,
        tls13: versions & TLS_1_3 != 0,
        ..TlsOptions::default()
    })
}
