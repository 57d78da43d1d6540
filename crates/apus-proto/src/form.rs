//! Which kind of form a body is.

/// The kinds of body that PHP's `$_POST` is filled from, and all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `application/x-www-form-urlencoded`: see [`crate::query`].
    UrlEncoded,
    /// `multipart/form-data`: see [`crate::multipart`].
    Multipart,
    /// Anything else, or no content type.
    Other,
}

/// Reads the kind off a Content-Type field's value.
pub fn kind(content_type: &[u8]) -> Kind {
    let end = content_type.iter().position(|b| matches!(b, b';' | b',' | b' ' | b'\t')).unwrap_or(content_type.len());
    let media_type = &content_type[..end];
    if media_type.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
        Kind::UrlEncoded
    } else if media_type.eq_ignore_ascii_case(b"multipart/form-data") {
        Kind::Multipart
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        assert_eq!(kind(b"application/x-www-form-urlencoded"), Kind::UrlEncoded);
        assert_eq!(kind(b"Application/X-WWW-Form-UrlEncoded;charset=utf-8"), Kind::UrlEncoded);
        assert_eq!(kind(b"multipart/form-data; boundary=x"), Kind::Multipart);
        assert_eq!(kind(b"multipart/form-data ; boundary=x"), Kind::Multipart);
        assert_eq!(kind(b"multipart/mixed; boundary=x"), Kind::Other);
        assert_eq!(kind(b"application/json"), Kind::Other);
        assert_eq!(kind(b""), Kind::Other);
    }
}
