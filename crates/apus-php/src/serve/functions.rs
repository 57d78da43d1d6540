//! The functions that PHP has under php-fpm.

use apus_zend::{Array, Raise, Value, class, sapi};

use super::process;
use super::stay::{self, handle_request};

/// Registers them, where PHP is there to serve scripts. To be called at module start.
pub(crate) fn register(module: i32) {
    stay::register(module);
    if sapi::is_wanted() {
        class::register_functions(FUNCTIONS, module);
    }
}

/// The name of a field as it is written, of that of its variable.
fn field_name(variable: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(variable.len());
    let mut begins = true;
    for byte in variable {
        name.push(match byte {
            b'_' => b'-',
            _ if begins => byte.to_ascii_uppercase(),
            _ => byte.to_ascii_lowercase(),
        });
        begins = *byte == b'_';
    }
    name
}

fn request_headers() -> Result<Array, Raise> {
    let mut all = Array::new(16)?;
    for (variable, value) in process::variables() {
        let field = match variable.strip_prefix(b"HTTP_") {
            Some(field) => field,
            None if matches!(&variable[..], b"CONTENT_TYPE" | b"CONTENT_LENGTH") && !value.is_empty() => &variable[..],
            None => continue,
        };
        all.set(&field_name(field), Value::string(&value)?)?;
    }
    Ok(all)
}

fn fastcgi_finish_request() -> Result<bool, Raise> {
    let first = sapi::finish()?;
    if first {
        process::finish();
    }
    Ok(first)
}

apus_zend::stub!("serve/functions");
