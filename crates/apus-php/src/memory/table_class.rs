//! `Apus\Table` and `Apus\ColumnTable` as PHP sees them.

use apus_zend::class::{Class, Const, Constant, Method, Property};
use apus_zend::handler;

use super::table_methods::table_methods;
use super::{bulk, table, table_iterate, table_query, table_rows};
use crate::exception::entry;

const fn kind(name: &'static str, value: i64, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(value), doc }
}

const TYPES: &[Constant] = &[
    kind("TYPE_INT", table::TYPE_INT, "Signed integers of 8 bytes, or of 1, 2 or 4 when column() is given that size."),
    kind("TYPE_FLOAT", table::TYPE_FLOAT, "Floats."),
    kind(
        "TYPE_STRING",
        table::TYPE_STRING,
        "Texts of up to the given number of bytes; a row takes what its text needs.",
    ),
    kind("TYPE_UINT8", table::TYPE_UINT8, "Integers from 0 to 255, in one byte."),
    kind("TYPE_INT8", table::TYPE_INT8, "Integers from -128 to 127, in one byte."),
    kind("TYPE_UINT16", table::TYPE_UINT16, "Integers from 0 to 65,535, in two bytes."),
    kind("TYPE_INT16", table::TYPE_INT16, "Integers from -32,768 to 32,767, in two bytes."),
    kind("TYPE_UINT32", table::TYPE_UINT32, "Integers from 0 to 4,294,967,295, in four bytes."),
    kind("TYPE_INT32", table::TYPE_INT32, "Integers from -2,147,483,648 to 2,147,483,647, in four bytes."),
    kind("TYPE_UINT64", table::TYPE_UINT64, "Integers from 0 to PHP_INT_MAX, in eight bytes."),
    kind("TYPE_INT64", table::TYPE_INT64, "All integers, in eight bytes."),
    kind(
        "TYPE_DICTIONARY",
        table::TYPE_DICTIONARY,
        "Texts of which few are different: each is stored once, a row takes two bytes. Up to 65,535 different ones besides ''; they \
         stay until clear().",
    ),
    kind(
        "TYPE_DICTIONARY32",
        table::TYPE_DICTIONARY32,
        "The same with four bytes a row, for as many different texts as rows fit, from 65,536 to 16,777,215.",
    ),
];

const PROPERTIES: &[Property] = &[
    Property { decl: "public $size = null", doc: "Rows that fit; null before create()." },
    Property {
        decl: "public $memorySize = null",
        doc: "Bytes of memory that create() took; null before. getMemorySize() tells what rows have taken since.",
    },
];

/// `Apus\Table`.
pub(super) static TABLE: Class = Class {
    name: "Apus\\Table",
    modifiers: "",
    extends: "",
    implements: &["Iterator", "Countable"],
    doc: "Rows with typed columns in memory that processes share, found by a text key. Make it before the processes are forked (before \
          Server::start()); then each reads and writes all rows. Readers take no lock and never see a half-written row; a process that is \
          killed in the middle of a write leaves the row as it was or as it was to be.\n@since 0.1.0",
    constants: TYPES,
    properties: PROPERTIES,
    methods: table_methods!(
        Method {
            decl: "public function __construct(int $table_size, float $conflict_proportion = 0.2)",
            doc: "@param int $table_size rows that fit, 1 to 1,073,741,824; exactly as many, whatever their keys are\n\
                  @param float $conflict_proportion accepted for programs that pass it; keys that share a place cost nothing extra here\n\
                  @throws \\ValueError for less or more\n@since 0.1.0",
            handler: Some(handler!(table::construct_rows)),
        },
        "string",
        "1 to 1,024 bytes"
    ),
    native: true,
    lazy: None,
    entry: entry!(),
};

/// `Apus\ColumnTable`.
pub(super) static COLUMN_TABLE: Class = Class {
    name: "Apus\\ColumnTable",
    modifiers: "",
    extends: "",
    implements: &["Iterator", "Countable"],
    doc: "Rows with typed columns in memory that processes share, found by an integer id from 0 on. Each column is an array of its own, so \
          a row takes no more than its values: for many rows with dense ids. Otherwise as Apus\\Table.\n@since 0.1.0",
    constants: TYPES,
    properties: PROPERTIES,
    methods: table_methods!(
        Method {
            decl: "public function __construct(int $maxId)",
            doc: "@param int $maxId the greatest id, 0 to 4,294,967,294; memory is taken for ids that are used\n\
                  @throws \\ValueError for less or more\n@since 0.1.0",
            handler: Some(handler!(table::construct_ids)),
        },
        "int",
        "its id, from 0 to the greatest one"
    ),
    native: true,
    lazy: None,
    entry: entry!(),
};
