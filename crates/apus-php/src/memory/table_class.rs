//! `Apus\Table` and `Apus\ColumnTable` as PHP sees them.

use super::{bulk, table, table_iterate, table_query, table_rows};

apus_zend::stub!("memory/table");
apus_zend::stub!("memory/column_table");
