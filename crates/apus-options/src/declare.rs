//! The macro that turns the rows of `table.rs` into the typed settings.

/// Declares `Settings` and `ROWS`. One setting is
/// `/// doc` `scope name [aliases]: type = default [, shown "default in words"] => kind;`
macro_rules! settings {
    ($(
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

        /// Every setting, typed. Fields carry their row's name; durations of zero mean "no limit" where the row says so.
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
        }
    };
}

pub(crate) use settings;
