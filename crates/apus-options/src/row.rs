//! What is known about one setting.

/// What values a setting takes, with its limits (both inclusive).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// On or off; also 0/1 and "on"/"off", "yes"/"no", "true"/"false".
    Bool,
    /// A whole number of `unit`.
    Int {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
        /// What is counted, in the plural; empty for a bare number.
        unit: &'static str,
    },
    /// A number of bytes; also text such as "512K", "8M", "2G" (powers of 1024).
    Size {
        /// The least number of bytes.
        min: i64,
        /// The greatest number of bytes.
        max: i64,
    },
    /// Seconds, fractions allowed; also text such as "250ms", "10s", "5m", "2h".
    Duration {
        /// The least number of seconds.
        min: f64,
        /// The greatest number of seconds.
        max: f64,
    },
    /// Text without NUL bytes.
    Str,
    /// A list of whole numbers between the limits.
    Ints {
        /// The least value of an element.
        min: i64,
        /// The greatest value of an element.
        max: i64,
    },
    /// A list of texts without NUL bytes; a single one stands for itself.
    Texts,
    /// A list of networks: addresses, prefixes, `unix`; a single one stands for itself.
    Networks,
    /// Texts by name: an array.
    TextsByName,
    /// Certificates by the name of their host: each an array of `ssl_cert_file`, `ssl_key_file`, and where they are
    /// there `ssl_passphrase` and `ssl_stapling_file`.
    Certificates,
    /// One of these names, or its number.
    Choice(&'static [(&'static str, i64)]),
    /// Anything: for settings whose values this version never reads.
    Any,
}

impl Kind {
    /// The kind's name, as the reference page and errors give it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { .. } => "int",
            Self::Size { .. } => "size",
            Self::Duration { .. } => "duration",
            Self::Str => "string",
            Self::Ints { .. } => "list of int",
            Self::Texts | Self::Networks => "list of string",
            Self::Certificates | Self::TextsByName => "array",
            Self::Choice(_) => "choice",
            Self::Any => "any",
        }
    }

    /// The unit of a number; empty where there is none.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Int { unit, .. } => unit,
            Self::Size { .. } => "bytes",
            Self::Duration { .. } => "seconds",
            _ => "",
        }
    }
}

/// Where a setting applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The whole server, all its processes.
    Server,
    /// One listening port; a port without its own value has the server's.
    Port,
    /// The coroutine engine.
    Coroutine,
    /// A client.
    Client,
}

impl Scope {
    /// The scope's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Port => "port",
            Self::Coroutine => "coroutine",
            Self::Client => "client",
        }
    }
}

/// How much of a setting this version honours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Support {
    /// All of it.
    Full,
    /// Accepted and remembered, without effect: Apus is built so that there is nothing to set.
    NoEffect,
    /// Known, and refused unless the value asks for nothing (false, 0, "", null).
    Missing,
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name a program uses.
    pub name: &'static str,
    /// Other names for the same setting.
    pub aliases: &'static [&'static str],
    /// What values it takes.
    pub kind: Kind,
    /// Where it applies.
    pub scope: Scope,
    /// Whether this version honours it.
    pub support: Support,
    /// The default where it is not one fixed value, such as "number of CPU cores"; else empty.
    pub default_text: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The version that first knew it.
    pub since: &'static str,
}

impl Row {
    /// A row whose values this version never reads.
    pub(crate) const fn unread(name: &'static str, scope: Scope, support: Support, doc: &'static str) -> Self {
        Self { name, aliases: &[], kind: Kind::Any, scope, support, default_text: "", doc, since: "0.1.0" }
    }

    /// Whether a program may give it a value that asks for something.
    pub fn supported(&self) -> bool {
        self.support != Support::Missing
    }

    /// Whether the setting takes effect, and one port cannot have it.
    pub fn of_whole_server(&self) -> bool {
        self.scope == Scope::Server && self.support == Support::Full
    }

    /// Whether `name` is this row's name or one of its aliases.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}
