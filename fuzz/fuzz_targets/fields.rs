//! Everything that reads one field's value or a form: no panic, and what is written can be read back.
#![no_main]

use apus_proto::cookie::{self, SetCookie};
use apus_proto::{date, form, grammar, query};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, u8, &[u8])| {
    let (number, limit, bytes) = input;
    let limit = usize::from(limit);
    assert!(query::pairs(bytes, limit).count() <= limit);
    assert!(query::pairs(bytes, limit).all(|(name, value)| name.len() + value.len() <= bytes.len()));
    assert!(cookie::pairs(bytes, limit).count() <= limit);
    let mut encoded = Vec::new();
    query::percent_encode(&mut encoded, bytes);
    assert_eq!(&*query::percent_decode(&encoded), bytes);
    let _ = form::kind(bytes);
    let _ = grammar::is_host_port(bytes);
    if let Some(seconds) = date::parse_http_date(bytes, number) {
        assert!(seconds <= date::MAX_SECONDS + 1);
    }
    let text = date::imf_fixdate(number);
    assert_eq!(date::parse_http_date(&text, 0), Some(number.min(date::MAX_SECONDS)));
    set_cookie(bytes, number);
});

fn set_cookie(bytes: &[u8], number: u64) {
    let (name, value) = bytes.split_at((number as usize % 8).min(bytes.len()));
    for raw in [false, true] {
        let mut out = Vec::new();
        let cookie = SetCookie { name, value, raw, path: value, expires: number, ..SetCookie::default() };
        if cookie.write(&mut out, 0).is_ok() {
            assert!(grammar::is_field_value(&out));
            let read = cookie::pairs(&out, 1).next();
            assert_eq!(read.map(|(read, _)| read), Some(name));
        }
    }
}
