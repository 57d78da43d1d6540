//! Names of connections: the user of each, and the topics it has subscribed. Known to this worker only; no I/O.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Bytes of a name at most.
pub const MAX_NAME: usize = 256;
/// Topics of one connection at most.
pub const MAX_TOPICS: usize = 1024;

/// Whether bytes can be a name: 1 to [`MAX_NAME`] of them.
pub fn is_name(bytes: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&bytes.len())
}

/// What adding a name to a connection changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The connection is the first one here with that name.
    First,
    /// Others here have it, too.
    Another,
    /// The connection had it already.
    Known,
    /// The connection has as many names as are allowed: nothing changed.
    TooMany,
}

/// What removing a name from a connection changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// It was the last one here with that name.
    Last,
    /// Others here have it still.
    OneOf,
    /// The connection did not have it.
    Unknown,
}

/// The connections with one name. Most users have one.
#[derive(Debug)]
enum Members {
    One(i64),
    Many(HashSet<i64>),
}

impl Members {
    fn add(&mut self, conn: i64) {
        match self {
            Self::One(only) => *self = Self::Many(HashSet::from([*only, conn])),
            Self::Many(all) => {
                all.insert(conn);
            }
        }
    }

    /// Whether none is left.
    fn remove(&mut self, conn: i64) -> bool {
        match self {
            Self::One(_) => true,
            Self::Many(all) => {
                all.remove(&conn);
                if all.capacity() > 64 && all.len() < all.capacity() / 8 {
                    all.shrink_to(all.len() * 2);
                }
                all.is_empty()
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(all) => all.len(),
        }
    }

    fn contains(&self, conn: i64) -> bool {
        match self {
            Self::One(only) => *only == conn,
            Self::Many(all) => all.contains(&conn),
        }
    }
}

/// Names and connections, found from both sides. A connection without a name occupies nothing.
#[derive(Debug)]
pub struct NameIndex {
    members: HashMap<Rc<[u8]>, Members>,
    names: HashMap<i64, Vec<Rc<[u8]>>>,
    per_connection: usize,
}

impl NameIndex {
    /// An empty index in which a connection has up to `per_connection` names.
    pub fn new(per_connection: usize) -> Self {
        Self { members: HashMap::new(), names: HashMap::new(), per_connection }
    }

    /// Gives a connection a name.
    pub fn add(&mut self, conn: i64, name: &[u8]) -> Added {
        let members = self.members.get_key_value(name);
        if members.is_some_and(|(_, members)| members.contains(conn)) {
            return Added::Known;
        }
        let names = self.names.get(&conn).map_or(0, Vec::len);
        if names >= self.per_connection {
            return Added::TooMany;
        }
        let (name, added) = match members {
            Some((name, _)) => (Rc::clone(name), Added::Another),
            None => (Rc::from(name), Added::First),
        };
        self.names.entry(conn).or_insert_with(|| Vec::with_capacity(1)).push(Rc::clone(&name));
        match self.members.get_mut(&name) {
            Some(members) => members.add(conn),
            None => {
                self.members.insert(name, Members::One(conn));
            }
        }
        added
    }

    /// Takes a name from a connection.
    pub fn remove(&mut self, conn: i64, name: &[u8]) -> Removed {
        let Some(names) = self.names.get_mut(&conn) else { return Removed::Unknown };
        let Some(at) = names.iter().position(|known| **known == *name) else { return Removed::Unknown };
        names.swap_remove(at);
        if names.is_empty() {
            self.names.remove(&conn);
        }
        self.leave(conn, name)
    }

    /// Takes all names from a connection, which may be about to be forgotten: those that nobody here has any more.
    pub fn clear(&mut self, conn: i64) -> Vec<Rc<[u8]>> {
        let names = self.names.remove(&conn).unwrap_or_default();
        names.into_iter().filter(|name| self.leave(conn, name) == Removed::Last).collect()
    }

    fn leave(&mut self, conn: i64, name: &[u8]) -> Removed {
        let Some(members) = self.members.get_mut(name) else { return Removed::Unknown };
        if !members.remove(conn) {
            return Removed::OneOf;
        }
        self.members.remove(name);
        Removed::Last
    }

    /// The connections with a name, in no order.
    pub fn members(&self, name: &[u8]) -> Vec<i64> {
        match self.members.get(name) {
            None => Vec::new(),
            Some(Members::One(only)) => vec![*only],
            Some(Members::Many(all)) => all.iter().copied().collect(),
        }
    }

    /// How many connections have a name.
    pub fn count(&self, name: &[u8]) -> usize {
        self.members.get(name).map_or(0, Members::len)
    }

    /// The names of a connection.
    pub fn names(&self, conn: i64) -> &[Rc<[u8]>] {
        self.names.get(&conn).map_or(&[], Vec::as_slice)
    }

    /// Every name that some connection has.
    pub fn all(&self) -> impl Iterator<Item = &Rc<[u8]>> {
        self.members.keys()
    }

    /// Whether no connection has a name.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(index: &NameIndex, name: &[u8]) -> Vec<i64> {
        let mut members = index.members(name);
        members.sort_unstable();
        members
    }

    #[test]
    fn the_first_and_the_last_are_told() {
        let mut index = NameIndex::new(9);
        assert_eq!(index.add(1, b"a"), Added::First);
        assert_eq!(index.add(1, b"a"), Added::Known);
        assert_eq!(index.add(2, b"a"), Added::Another);
        assert_eq!((index.count(b"a"), sorted(&index, b"a")), (2, vec![1, 2]));
        assert_eq!(index.remove(3, b"a"), Removed::Unknown);
        assert_eq!(index.remove(1, b"b"), Removed::Unknown);
        assert_eq!(index.remove(1, b"a"), Removed::OneOf);
        assert_eq!(index.remove(1, b"a"), Removed::Unknown);
        assert_eq!(index.remove(2, b"a"), Removed::Last);
        assert_eq!((index.count(b"a"), sorted(&index, b"a")), (0, vec![]));
        assert!(index.is_empty() && index.names.is_empty());
    }

    #[test]
    fn a_closed_connection_takes_its_names_along() {
        let mut index = NameIndex::new(9);
        for (conn, name) in [(1, b"a"), (1, b"b"), (2, b"b"), (1, b"c")] {
            let _ = index.add(conn, name);
        }
        let mut vanished: Vec<Vec<u8>> = index.clear(1).iter().map(|name| name.to_vec()).collect();
        vanished.sort();
        assert_eq!(vanished, [b"a".to_vec(), b"c".to_vec()]);
        assert_eq!((index.clear(1).len(), index.names(1).len(), index.names(2).len()), (0, 0, 1));
        assert_eq!(index.all().map(|name| name.to_vec()).collect::<Vec<_>>(), [b"b".to_vec()]);
    }

    #[test]
    fn names_of_a_connection_are_bounded() {
        let mut index = NameIndex::new(2);
        assert_eq!(
            (index.add(1, b"a"), index.add(1, b"b"), index.add(1, b"c")),
            (Added::First, Added::First, Added::TooMany)
        );
        assert_eq!((index.add(1, b"a"), index.count(b"c")), (Added::Known, 0));
        assert_eq!((index.remove(1, b"a"), index.add(1, b"c")), (Removed::Last, Added::First));
    }

    #[test]
    fn thousands_come_and_go() {
        let mut index = NameIndex::new(1);
        for conn in 0..5000 {
            let _ = index.add(conn, b"all");
        }
        assert_eq!(index.count(b"all"), 5000);
        for conn in 1..5000 {
            assert!(index.clear(conn).is_empty());
        }
        assert_eq!(index.members(b"all"), [0]);
        assert_eq!(index.clear(0).len(), 1);
    }

    #[test]
    fn names_have_a_length() {
        assert!(is_name(b"a") && is_name(&[0; MAX_NAME]));
        assert!(!is_name(b"") && !is_name(&[0; MAX_NAME + 1]));
    }
}
