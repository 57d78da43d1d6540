//! Lines, fixed lengths, checked ends, MQTT and Redis; and what holds for every rule.

use super::*;

fn framing(rule: Rule, max: usize) -> Framing {
    Framing::new(rule, max).unwrap()
}

fn once(framing: &Framing, bytes: &[u8]) -> Result<Next, FramingError> {
    framing.next(bytes, &mut Scan::default())
}

/// The messages of a stream that arrives in pieces of `piece` bytes, and what ended it.
fn read(framing: &Framing, bytes: &[u8], piece: usize) -> (Vec<Vec<u8>>, Option<FramingError>) {
    let (mut begin, mut end, mut scan) = (0, 0, Scan::default());
    let mut messages = Vec::new();
    loop {
        match framing.next(&bytes[begin..end], &mut scan) {
            Ok(Next::Message(length)) => {
                messages.push(framing.payload(&bytes[begin..begin + length]).to_vec());
                begin += length;
                assert_eq!(scan, Scan::default());
            }
            Ok(Next::More(_)) if end == bytes.len() => return (messages, None),
            Ok(Next::More(_)) => end = (end + piece).min(bytes.len()),
            Err(error) => return (messages, Some(error)),
        }
    }
}

fn however_it_is_cut(framing: &Framing, bytes: &[u8], messages: &[&[u8]]) {
    for piece in 1..=bytes.len() {
        let (found, error) = read(framing, bytes, piece);
        assert_eq!(found, messages, "{piece}");
        assert_eq!(error, None, "{piece}");
    }
}

#[test]
fn lines_come_without_their_ends() {
    let lines = framing(Rule::Line, 8);
    however_it_is_cut(&lines, b"a\r\nbc\n\n\r\nd\re\nrest", &[b"a", b"bc", b"", b"", b"d\re"]);
    however_it_is_cut(&lines, b"123456\r\n", &[b"123456"]);
    assert_eq!(once(&lines, b"12345678\n"), Err(FramingError::Endless { max: 8 }));
    assert_eq!(framing(Rule::Fixed(2), 2).payload(b"a\n"), b"a\n");
}

#[test]
fn messages_of_one_length() {
    however_it_is_cut(&framing(Rule::Fixed(3), 3), b"abcdefg", &[b"abc", b"def"]);
    assert_eq!(once(&framing(Rule::Fixed(3), 9), b"a"), Ok(Next::More(2)));
    assert!(Framing::new(Rule::Fixed(0), 9).is_err());
    assert!(Framing::new(Rule::Fixed(10), 9).unwrap_err().contains("at least 10"));
}

#[test]
fn a_checked_end_leaves_messages_together() {
    let check = framing(Rule::Check(b"\r\n".to_vec()), 10);
    assert_eq!(once(&check, b"a\r\nb\r\n"), Ok(Next::Message(6)));
    assert_eq!(once(&check, b"a\r\nb\r"), Ok(Next::More(1)));
    // At the limit everything that is whole is handed over.
    assert_eq!(once(&check, b"a\r\nb\r\n4567"), Ok(Next::Message(6)));
    assert_eq!(once(&check, b"a\r\nb\r\n456789"), Ok(Next::Message(6)));
    assert_eq!(once(&check, b"12345678\r\n"), Ok(Next::Message(10)));
    assert_eq!(once(&check, b"123456789\r\n"), Err(FramingError::Endless { max: 10 }));
    assert!(Framing::new(Rule::Check(Vec::new()), 10).is_err());
}

#[test]
fn mqtt_packets_of_every_width_of_length() {
    let mqtt = framing(Rule::Mqtt, 300 << 20);
    for (length, head) in [
        (0, vec![0xc0, 0]),
        (127, vec![0x30, 0x7f]),
        (128, vec![0x30, 0x80, 1]),
        (16_383, vec![0x30, 0xff, 0x7f]),
        (16_384, vec![0x30, 0x80, 0x80, 1]),
        (2_097_151, vec![0x30, 0xff, 0xff, 0x7f]),
        (2_097_152, vec![0x30, 0x80, 0x80, 0x80, 1]),
        (268_435_455, vec![0x30, 0xff, 0xff, 0xff, 0x7f]),
    ] {
        let wanted = if length == 0 { Next::Message(2) } else { Next::More(length) };
        assert_eq!(once(&mqtt, &head), Ok(wanted));
        for cut in 0..head.len() {
            assert_eq!(once(&mqtt, &head[..cut]), Ok(Next::More(1)), "{length} {cut}");
        }
    }
    however_it_is_cut(&mqtt, b"\xc0\0\x30\x03abc\xe0\0", &[b"\xc0\0", b"\x30\x03abc", b"\xe0\0"]);
}

#[test]
fn mqtt_packets_that_cannot_be() {
    let mqtt = framing(Rule::Mqtt, 10);
    assert_eq!(once(&mqtt, &[0x30, 8]), Ok(Next::More(8)));
    assert_eq!(once(&mqtt, &[0x30, 9]), Err(FramingError::TooLong { length: 11, max: 10 }));
    assert!(matches!(once(&mqtt, &[0x30, 0xff, 0xff, 0xff, 0xff]), Err(FramingError::Malformed(_))));
    assert!(matches!(once(&mqtt, &[0x0f]), Err(FramingError::Malformed(_))));
    assert!(Framing::new(Rule::Mqtt, 4).is_err());
}

#[test]
fn redis_requests_are_found_however_they_are_cut() {
    let redis = framing(Rule::Redis, 100);
    let set = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\r\n*1\r\n";
    however_it_is_cut(&redis, set, &[set]);
    let all = [set.as_slice(), b"PING\r\n*0\r\n*-1\r\n*1\r\n$0\r\n\r\nget k\n"].concat();
    however_it_is_cut(&redis, &all, &[set, b"PING\r\n", b"*0\r\n", b"*-1\r\n", b"*1\r\n$0\r\n\r\n", b"get k\n"]);
    let mut scan = Scan::default();
    assert_eq!(redis.next(b"*2\r\n$3\r\nGET\r\n$5\r\nab", &mut scan), Ok(Next::More(5)));
    assert_eq!((scan.at, scan.open), (13, 1));
}

#[test]
fn redis_requests_that_cannot_be() {
    let redis = framing(Rule::Redis, 100);
    for bytes in [
        "*x\r\n",
        "*\r\n",
        "*+1\r\n",
        "*1\n",
        "*1048577\r\n",
        "*99999999999999999999\r\n",
        "*0000000000000000000000000",
        "*1\r\n$-1\r\n",
        "*1\r\n$x\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*1\r\n",
        "*1\r\n$1\r\nabc",
    ] {
        let error = once(&redis, bytes.as_bytes()).unwrap_err();
        assert!(matches!(error, FramingError::Malformed(_)), "{bytes:?} {error}");
    }
    assert!(matches!(once(&redis, b"*1\r\n$86\r\n"), Ok(Next::More(88))));
    assert_eq!(once(&redis, b"*1\r\n$90\r\n"), Err(FramingError::TooLong { length: 101, max: 100 }));
    assert!(matches!(once(&redis, b"*1\r\n$9223372036854775807\r\n"), Err(FramingError::TooLong { .. })));
    assert_eq!(once(&redis, &[b'a'; 100]), Err(FramingError::Endless { max: 100 }));
    let large = framing(Rule::Redis, 1 << 20);
    assert_eq!(once(&large, &vec![b'a'; MAX_INLINE]), Err(FramingError::Endless { max: MAX_INLINE }));
}

#[test]
fn a_program_that_told_a_length_is_not_asked_again() {
    let asked = framing(Rule::Asked, 10);
    let mut scan = Scan::default();
    assert_eq!(asked.ask(b"a", &mut scan, |_| 0), Ok(Next::More(1)));
    assert_eq!(asked.ask(b"ab", &mut scan, |bytes| bytes.len() as i64 + 2), Ok(Next::More(2)));
    assert_eq!(asked.ask(b"abc", &mut scan, |_| panic!("asked again")), Ok(Next::More(1)));
    assert_eq!(asked.ask(b"abcde", &mut scan, |_| panic!("asked again")), Ok(Next::Message(4)));
    assert_eq!(scan, Scan::default());
    assert_eq!(asked.ask(b"e", &mut scan, |_| -1), Err(FramingError::Impossible { length: -1, least: 1 }));
    assert_eq!(asked.ask(b"e", &mut scan, |_| 11), Err(FramingError::TooLong { length: 11, max: 10 }));
}

#[test]
fn many_small_parts_that_trickle_in_are_looked_at_once() {
    let redis = framing(Rule::Redis, 8 << 20);
    let mut bytes = b"*400000\r\n".to_vec();
    let mut scan = Scan::default();
    // Looked at from the start each time, this would be 80 thousand million steps.
    for part in 1..=400_000 {
        bytes.extend_from_slice(b"$1\r\nx\r\n");
        let next = redis.next(&bytes, &mut scan);
        assert_eq!(next, Ok(if part < 400_000 { Next::More(1) } else { Next::Message(bytes.len()) }));
    }
}

/// What [`Next::More`] asks for never exceeds the limit, and a found message lies within the bytes.
#[test]
fn answers_hold_their_promises_for_arbitrary_bytes() {
    let length = |kind, offset, body_offset| framing(Rule::Length { kind, offset, body_offset }, 64);
    let framings = [
        length(LengthType::U16Be, 0, 2),
        length(LengthType::I32, 3, 0),
        framing(Rule::End(b"\x01\x02".to_vec()), 64),
        framing(Rule::Check(b"\x01\x02".to_vec()), 64),
        framing(Rule::Fixed(7), 64),
        framing(Rule::Line, 64),
        framing(Rule::Mqtt, 64),
        framing(Rule::Redis, 64),
    ];
    let mut seed = 0x9e37_79b9_u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    for round in 0..20_000_usize {
        let bytes: Vec<u8> = (0..round % 70)
            .map(|_| match round % 3 {
                0 => random() & 3,
                1 => random(),
                _ => b"*$12\r\n$\r\n"[usize::from(random()) % 9],
            })
            .collect();
        for framing in &framings {
            match once(framing, &bytes) {
                Ok(Next::Message(n)) => assert!(n > 0 && n <= bytes.len() && n <= framing.max()),
                Ok(Next::More(n)) => assert!(n > 0 && bytes.len().saturating_add(n) <= framing.max()),
                Err(_) => {}
            }
        }
    }
}
