//! What things that PHP names are called in Rust.

use crate::model::{Class, Function, Member};

/// `getWorkerId` and `getHTTPVersion` as `get_worker_id` and `get_http_version`; `__construct` as `construct`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = name.trim_start_matches('_').chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let begins = at > 0
            && c.is_ascii_uppercase()
            && (!chars[at - 1].is_ascii_uppercase() || chars.get(at + 1).is_some_and(char::is_ascii_lowercase));
        if begins && chars[at - 1] != '_' {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The static that a class is in.
pub(crate) fn static_name(class: &Member<Class>) -> String {
    class.doc.rust("static").map_or_else(|| shouted(&class.item.name), str::to_owned)
}

/// The Rust function of a method or function.
pub(crate) fn path(method: &Member<Function>) -> String {
    let module = method.doc.module.as_ref().map_or_else(String::new, |path| format!("{path}::"));
    method.doc.path().map_or_else(|| format!("{module}{}", snake(&method.item.name)), str::to_owned)
}

/// The same in capitals.
pub(crate) fn shouted(name: &str) -> String {
    snake(name).to_uppercase()
}
