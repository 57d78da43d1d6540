//! What the program has set for coroutines: it holds in the processes that it forks later as well.

use std::cell::RefCell;

use apus_options::{Scope, Settings, rows};

thread_local! {
    static SET: RefCell<Option<Settings>> = const { RefCell::new(None) };
}

/// Keeps what was set last.
pub fn remember(settings: &Settings) {
    SET.set(Some(settings.clone()));
}

/// At the end of a request.
pub fn forget() {
    SET.take();
}

/// All settings, where some were set.
pub(crate) fn settings() -> Option<Settings> {
    SET.with_borrow(Clone::clone)
}

/// In a process of a server: what was set before holds unless the server was given something else.
pub fn inherit(of_server: &mut Settings) {
    let Some(set) = settings() else { return };
    let usual = Settings::default();
    for row in rows().filter(|row| row.scope == Scope::Coroutine) {
        if let Some(value) = set.get(row.name)
            && of_server.get(row.name) == usual.get(row.name)
        {
            // It was accepted before.
            let _ = of_server.set(row.name, &value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_options::Value;

    #[test]
    fn what_the_server_was_given_goes_first() {
        let mut set = Settings::default();
        set.set("max_coroutine", &Value::Int(7)).unwrap();
        set.set("socket_timeout", &Value::Float(3.0)).unwrap();
        remember(&set);
        let mut server = Settings::default();
        server.set("socket_timeout", &Value::Float(5.0)).unwrap();
        inherit(&mut server);
        assert_eq!(server.get("max_coroutine"), Some(Value::Int(7)));
        assert_eq!(server.get("socket_timeout"), Some(Value::Float(5.0)));
        forget();
        let mut server = Settings::default();
        inherit(&mut server);
        assert_eq!(server.get("max_coroutine"), Settings::default().get("max_coroutine"));
    }
}
