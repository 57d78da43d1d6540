//! The media type of a file that is sent.

use std::path::Path;

/// By the file name's extension; `application/octet-stream` when it says nothing.
pub(super) fn of(path: &Path) -> String {
    let guess = mime_guess::from_path(path).first_or_octet_stream();
    if guess.type_() == mime_guess::mime::TEXT { format!("{guess}; charset=UTF-8") } else { guess.to_string() }
}
