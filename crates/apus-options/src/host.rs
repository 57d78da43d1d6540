//! Hosts of a server: their names, and the settings that one of them may have of its own.

use crate::row::Row;

/// Bytes of a name (RFC 1035 section 2.3.4).
const LONGEST: usize = 255;

/// Settings of ports that are looked at once it is known which host a request is for, and which log gets its answer.
const OF_HOST: [&str; 61] = [
    "access_log",
    "access_log_format",
    "access_log_sample",
    "allowed_clients",
    "basic_auth",
    "basic_auth_realm",
    "compression_min_length",
    "compression_types",
    "cors_credentials",
    "cors_expose_headers",
    "cors_headers",
    "cors_max_age",
    "cors_methods",
    "cors_origins",
    "denied_clients",
    "denied_paths",
    "denied_scripts",
    "document_root",
    "document_root_links",
    "enable_static_handler",
    "http_autoindex",
    "http_compression",
    "http_compression_level",
    "http_decompression_ratio",
    "http_index_files",
    "http_parse_cookie",
    "http_parse_files",
    "http_parse_post",
    "https_redirect",
    "max_file_uploads",
    "max_form_memory",
    "max_header_size",
    "max_headers",
    "max_input_vars",
    "max_multipart_parts",
    "package_max_length",
    "php_admin_values",
    "php_values",
    "rate_limit",
    "rate_limit_burst",
    "rate_limit_by",
    "rate_limit_clients",
    "rate_limit_period",
    "rate_limits",
    "redirects",
    "response_headers",
    "response_headers_removed",
    "rewrites",
    "script_websocket",
    "server_header",
    "ssl_capath",
    "ssl_cert_file",
    "ssl_client_cert_file",
    "ssl_hsts",
    "ssl_key_file",
    "ssl_passphrase",
    "ssl_stapling_file",
    "ssl_verify_depth",
    "ssl_verify_peer",
    "static_handler_locations",
    "stream_request_body",
];
/// The others: what they begin with.
const GROUPS_OF_HOST: [&str; 6] =
    ["client_prefix_", "http2_max_header", "static_", "try_files", "upload_max_filesize", "websocket_origins"];

impl Row {
    /// Whether a host of a port may have its own.
    pub fn of_host(&self) -> bool {
        OF_HOST.contains(&self.name) || GROUPS_OF_HOST.iter().any(|group| self.name.starts_with(group))
    }
}

/// What is wrong with the name of a host.
///
/// # Errors
/// Says so.
pub fn check_host_name(name: &str) -> Result<(), String> {
    let bare = name.strip_prefix("*.").unwrap_or(name);
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let address = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let labels = || bare.len() <= LONGEST && bare.split('.').all(label);
    let sound = address.map_or_else(labels, |address| address.parse::<std::net::Ipv6Addr>().is_ok());
    if sound {
        return Ok(());
    }
    Err(format!(
        "\"{}\" is no name of a host: write \"www.example.org\" or \"*.example.org\", without scheme, port and path",
        name.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_hosts_are_settings_of_ports_or_logs() {
        for name in OF_HOST {
            let row = crate::find(name).expect(name);
            assert!(
                row.name == name
                    && (row.scope == crate::Scope::Port || name.starts_with("access_log"))
                    && row.supported(),
                "{name}"
            );
        }
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for sound in ["a", "a.b", "*.a.b", "a.b.", "xn--bcher-kva.example", "[::1]", "127.0.0.1", "my_host"] {
            assert_eq!(check_host_name(sound), Ok(()), "{sound}");
        }
        for wrong in ["", "*", "*.", "a.*.b", "https://a", "a:80", "a/b", "a..b", ".a", "ü.example", "[a]", "**.a"] {
            assert!(check_host_name(wrong).is_err(), "{wrong}");
        }
    }
}
