//! Which PHP a module was built for, read from its file: PHP refuses the others, and says so in numbers only.

use std::fs;
use std::path::Path;

/// Stands in every module, followed by the number of the API and the kind of build: PHP compares it with its own.
const MARK: &[u8] = b"API20";
/// The numbers of the APIs that Apus supports.
const APIS: [(&str, &str); 4] =
    [("20220829", "PHP 8.2"), ("20230831", "PHP 8.3"), ("20240924", "PHP 8.4"), ("20250925", "PHP 8.5")];

/// `PHP 8.4`, or `PHP API 20990101` of a version that is not known yet. `None` when the file says nothing.
pub(crate) fn module_fits(file: &Path) -> Option<String> {
    said_by(&fs::read(file).ok()?)
}

fn said_by(content: &[u8]) -> Option<String> {
    content
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == MARK)
        .find_map(|(at, _)| build(&content[at..]))
}

/// `API20240924,NTS` at the start of `bytes`.
fn build(bytes: &[u8]) -> Option<String> {
    let api = std::str::from_utf8(bytes.get(3..11)?).ok()?;
    let kind = bytes.get(11..)?;
    if !api.bytes().all(|byte| byte.is_ascii_digit()) || !(kind.starts_with(b",NTS") || kind.starts_with(b",TS")) {
        return None;
    }
    let known = APIS.iter().find(|(number, _)| *number == api);
    Some(known.map_or_else(|| format!("PHP API {api}"), |(_, name)| (*name).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_id_of_a_module_names_its_php() {
        assert_eq!(said_by(b"x\0API20220829,NTS\0").as_deref(), Some("PHP 8.2"));
        assert_eq!(said_by(b"API20240924,NTS,debug\0").as_deref(), Some("PHP 8.4"));
        assert_eq!(said_by(b"API20990101,TS").as_deref(), Some("PHP API 20990101"));
    }

    #[test]
    fn what_only_looks_like_one_is_passed_over() {
        assert_eq!(said_by(b"API20, the API2024 and API20240924 without a kind"), None);
        assert_eq!(said_by(b"API20 API20250925,NTS").as_deref(), Some("PHP 8.5"));
        assert_eq!(said_by(b"API20220829"), None);
        assert_eq!(said_by(b""), None);
    }
}
