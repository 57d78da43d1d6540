//! What a request says of the answer it wants, kept for when that is given.

use apus_proto::conditional::Conditions;
use apus_proto::http1::Noted;

/// The fields of a GET or HEAD that make it conditional, or ask for ranges.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// GET, not HEAD.
    pub get: bool,
    /// When it came: seconds since 1970.
    pub received_at: f64,
    fields: Vec<Field>,
}

/// Name and value.
type Field = (Box<[u8]>, Box<[u8]>);

impl Asked {
    pub(crate) fn new<'a>(get: bool, received_at: f64, fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let matters = |name: &[u8]| Noted::of(name).has(Noted::CONDITIONAL);
        let fields =
            fields.filter(|(name, _)| matters(name)).map(|(name, value)| (name.into(), value.into())).collect();
        Self { get, received_at, fields }
    }

    /// As they are judged.
    pub fn conditions(&self) -> Conditions<'_> {
        Conditions::read(self.fields.iter().map(|(name, value)| (&**name, &**value)))
    }
}
