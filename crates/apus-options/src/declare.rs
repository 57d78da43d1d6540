//! The macro that turns the rows of `table.rs` into the typed settings.

/// Declares `Settings` and `ROWS`. One setting is
/// after `unread: ROWS;`, the rows of settings that are known and not acted on, and `group field: Type;` for each other
/// table whose settings belong to this one:
/// `/// doc` `scope name [aliases]: type = default [, shown "default in words"] => kind;`
macro_rules! settings {
    (unread: $unread:expr; $(group $group:ident: $grouped:ty;)* $(
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
            $(/// The settings that it shares with others.
            pub $group: $grouped,)*
            /// Settings that are accepted without effect, as they were given.
            pub inert: BTreeMap<&'static str, Value>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)+ $($group: <$grouped>::default(),)* inert: BTreeMap::new() }
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
                ROWS.iter().chain($unread)$(.chain(<$grouped>::rows()))*
            }

            /// Sets one setting, by its name or an alias. Null restores its default.
            ///
            /// # Errors
            /// When the name is unknown, the value is malformed or outside the limits, or this version does not support
            /// the setting. The settings are unchanged then.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), OptionError> {
                $(if <$grouped>::rows().any(|row| row.answers_to(name)) {
                    return self.$group.set(name, value);
                })*
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
                $(if <$grouped>::rows().any(|row| row.answers_to(name)) {
                    return self.$group.get(name);
                })*
                let row = Self::rows().find(|row| row.answers_to(name))?;
                self.load(row.name).or_else(|| self.inert.get(row.name).cloned())
            }
        }

        #[cfg(test)]
        mod table {
            use super::{Settings, Value};

            #[test]
            fn every_default_is_a_value_that_its_row_allows() {
                for row in super::ROWS {
                    let mut settings = Settings::default();
                    let default = settings.get(row.name).expect(row.name);
                    settings.set(row.name, &default).expect(row.name);
                    assert_eq!(settings, Settings::default(), "{}", row.name);
                    settings.set(row.name, &Value::Null).expect(row.name);
                }
            }

            #[test]
            fn names_and_aliases_are_unique_and_documented() {
                let mut names = std::collections::HashSet::new();
                for row in Settings::rows() {
                    assert!(names.insert(row.name) && row.aliases.iter().all(|name| names.insert(name)), "{}", row.name);
                    assert!(row.doc.trim().ends_with('.'), "{}", row.name);
                }
            }
        }
    };
}

/// Rows of settings that are known and not acted on: `scope support "what to do instead" => names;`
macro_rules! unread {
    ($($scope:ident $support:ident $doc:literal => $($name:ident),+;)+) => {
        &[$($(Row::unread(stringify!($name), Scope::$scope, Support::$support, $doc),)+)+]
    };
}

pub(crate) use {settings, unread};
