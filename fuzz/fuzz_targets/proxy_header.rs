//! PROXY headers and forwarded addresses: no panic, a verdict that no further byte changes, and no header that is
//! longer than allowed.
#![no_main]

use apus_proto::forwarded::{self, Fields};
use apus_proto::proxy_header::{MAX_HEADER, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = parse(bytes);
    if let Ok(Some((len, _))) = whole {
        assert!(len <= bytes.len() && len <= MAX_HEADER);
    }
    for cut in 0..bytes.len().min(300) {
        match parse(&bytes[..cut]) {
            Ok(None) => {}
            verdict => assert_eq!(verdict, whole),
        }
    }
    if bytes.len() >= MAX_HEADER {
        assert_ne!(whole, Ok(None));
    }
    for name in [&b"forwarded"[..], b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-real-ip"] {
        for kind in [Fields::XForwarded, Fields::Forwarded, Fields::XRealIp] {
            let told = forwarded::read(kind, [(name, bytes)].into_iter(), |address| address.is_loopback());
            assert!(told.host.is_none_or(|host| host.len() <= bytes.len()));
        }
    }
});
