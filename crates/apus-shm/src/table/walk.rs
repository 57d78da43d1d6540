//! Going through all rows while others write.

use super::Table;
use super::schema::RowBuffer;
use super::store::Store;

/// Rows looked at in one go.
const STEPS: usize = 1024;

impl Table {
    /// Reads the next row from a place on (0 at first), with its key, and gives the place after it. None: that was the
    /// last one. Each row that is there all the time comes once; one that is made or removed meanwhile comes once or
    /// not at all.
    pub fn next(&self, from: u64, columns: &[usize], row: &mut RowBuffer) -> Option<u64> {
        let store = &self.store;
        let mut at = u32::try_from(from).ok()?;
        while at < store.rows_end() {
            match store.look(store.segment_of(at), || store.step(at, columns, row)) {
                WalkStep::Row(found) => return Some(u64::from(found) + 1),
                WalkStep::On(next) => at = next?,
            }
        }
        None
    }
}

/// What a look at some rows gave.
enum WalkStep {
    /// This one was read.
    Row(u32),
    /// None of these; go on there.
    On(Option<u32>),
}

impl Store {
    /// Reads the first row from `at` on that is there, as long as it is of the same partition and not too far away:
    /// within one look at the sequence count, for a row that somebody is changing may seem not to be there.
    fn step(&self, at: u32, columns: &[usize], row: &mut RowBuffer) -> WalkStep {
        let segment = self.segment_of(at);
        let mut next = Some(at);
        for _ in 0..STEPS {
            let Some(at) = next.filter(|at| *at < self.rows_end() && self.segment_of(*at) == segment) else { break };
            if self.exists(at) {
                row.clear();
                let read = self.key_of(at, row) && self.read_row(at, columns, row);
                // Not to be read: somebody is changing it, which the count will tell; or a column was asked for that is
                // not there.
                return if read { WalkStep::Row(at) } else { WalkStep::On(at.checked_add(1)) };
            }
            next = self.skip(at);
        }
        WalkStep::On(next)
    }
}
