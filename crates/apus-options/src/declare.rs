//! The macro that turns the rows of `table.rs` into the typed settings.

/// Declares `Settings` and `ROWS`. One setting is
/// after `unread: ROWS;`, the rows of settings that are known and not acted on:
/// `/// doc` `scope name [aliases]: type = default [, shown "default in words"] => kind;`
macro_rules! settings {
    (unread: $unread:expr; $(
        $(#[doc = $doc:literal])+
        $scope:ident $name:ident $([$($alias:literal),+])?: $type:ty = $default:expr $(, shown $shown:literal)? => $kind:expr;
    )+) => {
        /// The rows of every setting that this version honours.
        pub static ROWS: &[Row] = &[$(
            Row {
                name: stringify!($name),
                aliases: &[$($($alias),+)?],
                kind: $kind,
                scope: Scope::$scope,
                support: Support::Full,
                default_text: concat!($($shown)?),
                doc: concat!($($doc),+),
                since: "0.1.0",
            },
        )+];

        /// Every setting, typed. Fields carry their row's name; durations of zero mean "no limit" where the row says
        /// so.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::struct_excessive_bools, reason = "one field a setting, and many settings are switches")]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $name: $type,)+
            /// Settings that are accepted without effect, as they were given.
            pub inert: BTreeMap<&'static str, Value>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)+ inert: BTreeMap::new() }
            }
        }

        impl Settings {
            fn store(&mut self, name: &str, value: &Value) -> Option<()> {
                match name {
                    $(stringify!($name) => self.$name = Field::load(value)?,)+
                    _ => return None,
                }
                Some(())
            }

            fn load(&self, name: &str) -> Option<Value> {
                match name {
                    $(stringify!($name) => Some(self.$name.show()),)+
                    _ => None,
                }
            }

            /// Every setting of this table, the supported ones first.
            pub fn rows() -> impl Iterator<Item = &'static Row> {
                ROWS.iter().chain($unread)
            }

            /// Sets one setting, by its name or an alias. Null restores its default.
            ///
            /// # Errors
            /// When the name is unknown, the value is malformed or outside the limits, or this version does not support
            /// the setting. The settings are unchanged then.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), OptionError> {
                let row = Self::rows()
                    .find(|row| row.answers_to(name))
                    .ok_or_else(|| OptionError::unknown_among(name, Self::rows()))?;
                match row.support {
                    Support::Missing if value.is_off() => Ok(()),
                    Support::Missing => Err(OptionError::Unsupported { name: row.name, doc: row.doc }),
                    Support::NoEffect => {
                        self.inert.insert(row.name, value.clone());
                        Ok(())
                    }
                    Support::Full => {
                        let value = match value {
                            Value::Null => Self::default().load(row.name).unwrap_or(Value::Null),
                            given => coerce(row, given)?,
                        };
                        self.store(row.name, &value).ok_or_else(|| OptionError::invalid(row, &value))
                    }
                }
            }

            /// The value of one setting, by its name or an alias. Sizes and choices are Int, durations Float seconds.
            /// `None` for a name that is unknown, or of a setting without effect that was never set.
            pub fn get(&self, name: &str) -> Option<Value> {
                let row = Self::rows().find(|row| row.answers_to(name))?;
                self.load(row.name).or_else(|| self.inert.get(row.name).cloned())
            }
        }
    };
}

pub(crate) use settings;
