//! Zend's own declarations, generated from the headers of the PHP that Apus is built for.

#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    unreachable_pub,
    unnecessary_transmutes,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]

include!(concat!(env!("OUT_DIR"), "/externs.rs"));

const _: () = assert!(USING_ZTS == 0, "Apus needs a PHP without thread safety (NTS)");
// The hot paths read and write values in place: hold the layout that they assume.
const _: () = assert!(size_of::<zval>() == 16);
const _: () = assert!(size_of::<apus_object>() > size_of::<zend_object>());
