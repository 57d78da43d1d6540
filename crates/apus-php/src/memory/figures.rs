//! What the tables of a program tell of themselves.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use apus_process::{Family, Text};
use apus_shm::table::Table;
use apus_zend::fiber;

/// Tables that are told of; programs that make more have them from a loop.
const MOST: usize = 256;

thread_local! {
    /// The tables that this process has made, with the place of their making.
    static MADE: RefCell<Vec<(Weak<Table>, String)>> = const { RefCell::new(Vec::new()) };
}

/// A table was made.
pub(super) fn made(table: &Arc<Table>) {
    let place = fiber::position();
    MADE.with_borrow_mut(|made| {
        made.retain(|(table, _)| table.strong_count() > 0);
        if made.len() < MOST {
            made.push((Arc::downgrade(table), place));
        }
    });
}

type Figure = (&'static str, &'static str, fn(&Table) -> f64);

/// Writes the figures of the tables that this process has made. Locks nothing.
pub(crate) fn write(text: &mut Text) {
    const FIGURES: [Figure; 3] = [
        ("apus_table_rows", "Rows of a table.", |table| table.stats().num as f64),
        ("apus_table_rows_max", "Rows that fit into a table.", |table| table.capacity() as f64),
        ("apus_table_memory_bytes", "Memory that a table takes.", |table| table.memory().used as f64),
    ];
    let tables: Vec<_> = MADE.with_borrow(|made| {
        made.iter().filter_map(|(table, place)| Some((table.upgrade()?, place.clone()))).enumerate().collect()
    });
    if tables.is_empty() {
        return;
    }
    for (name, help, figure) in FIGURES {
        text.family(Family::Gauge, name, help);
        for (number, (table, place)) in &tables {
            text.sample(&[("table", &number.to_string()), ("made", place)], figure(table));
        }
    }
}
