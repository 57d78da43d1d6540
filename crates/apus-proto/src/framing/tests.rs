//! Lengths and markers.

use super::*;

fn length(letter: &str, offset: usize, body_offset: usize, max: usize) -> Framing {
    let kind = LengthType::of_letter(letter).unwrap();
    Framing::new(Rule::Length { kind, offset, body_offset }, max).unwrap()
}

fn once(framing: &Framing, bytes: &[u8]) -> Result<Next, FramingError> {
    framing.next(bytes, &mut Scan::default())
}

#[test]
fn every_letter_reads_what_pack_writes() {
    let cases: [(&str, &[u8], i64); 14] = [
        ("c", &[0x7f], 127),
        ("C", &[0xff], 255),
        ("s", &(-2_i16).to_ne_bytes(), -2),
        ("S", &65_535_u16.to_ne_bytes(), 65_535),
        ("n", &[1, 2], 258),
        ("v", &[1, 2], 513),
        ("l", &(-7_i32).to_ne_bytes(), -7),
        ("L", &u32::MAX.to_ne_bytes(), 4_294_967_295),
        ("N", &[0, 0, 1, 0], 256),
        ("V", &[0, 1, 0, 0], 256),
        ("q", &(-1_i64).to_ne_bytes(), -1),
        ("Q", &u64::MAX.to_ne_bytes(), i64::MAX),
        ("J", &[0, 0, 0, 0, 0, 0, 1, 0], 256),
        ("P", &[0, 1, 0, 0, 0, 0, 0, 0], 256),
    ];
    for (letter, bytes, value) in cases {
        let kind = LengthType::of_letter(letter).unwrap();
        assert_eq!(kind.width(), bytes.len(), "{letter}");
        assert_eq!(kind.read(bytes), Some(value), "{letter}");
        assert_eq!(kind.read(&bytes[..bytes.len() - 1]), None, "{letter}");
    }
    assert_eq!(LengthType::of_letter("x"), None);
    assert_eq!(LengthType::of_letter("NN"), None);
}

#[test]
fn a_message_is_found_however_it_is_cut() {
    let framing = length("N", 2, 6, 100);
    let message = [b"hd".as_slice(), &5_u32.to_be_bytes(), b"hello"].concat();
    for cut in 0..message.len() {
        let missing = if cut < 6 { 6 - cut } else { message.len() - cut };
        assert_eq!(once(&framing, &message[..cut]), Ok(Next::More(missing)), "{cut}");
    }
    assert_eq!(once(&framing, &message), Ok(Next::Message(11)));
    assert_eq!(once(&framing, &[message.as_slice(), b"next"].concat()), Ok(Next::Message(11)));
}

#[test]
fn lengths_are_judged_before_anything_is_read_for_them() {
    let framing = length("N", 0, 4, 100);
    assert_eq!(once(&framing, &96_u32.to_be_bytes()), Ok(Next::More(96)));
    assert_eq!(once(&framing, &97_u32.to_be_bytes()), Err(FramingError::TooLong { length: 101, max: 100 }));
    assert_eq!(once(&framing, &[0; 4]), Ok(Next::Message(4)));
    let signed = length("s", 0, 2, 100);
    assert!(matches!(once(&signed, &(-1_i16).to_ne_bytes()), Err(FramingError::Impossible { length: 1, .. })));
    let huge = length("Q", 0, 8, 100);
    assert!(matches!(once(&huge, &[0xff; 8]), Err(FramingError::TooLong { .. })));
}

#[test]
fn a_length_that_counts_everything_counts_itself() {
    let framing = length("n", 0, 0, 100);
    assert_eq!(once(&framing, &[0, 5, b'a', b'b', b'c']), Ok(Next::Message(5)));
    assert_eq!(once(&framing, &[0, 0]), Err(FramingError::Impossible { length: 0, least: 2 }));
    assert_eq!(once(&framing, &[0, 1]), Err(FramingError::Impossible { length: 1, least: 2 }));
    assert_eq!(once(&framing, &[0, 2]), Ok(Next::Message(2)));
}

#[test]
fn an_end_marker_is_found_across_cuts_and_within_the_limit() {
    let framing = Framing::new(Rule::End(b"\r\n".to_vec()), 8).unwrap();
    let mut scan = Scan::default();
    assert_eq!(framing.next(b"ab\r", &mut scan), Ok(Next::More(1)));
    assert_eq!(framing.next(b"ab\r\nc", &mut scan), Ok(Next::Message(4)));
    assert_eq!(scan, Scan::default());
    assert_eq!(once(&framing, b"\r\n"), Ok(Next::Message(2)));
    assert_eq!(once(&framing, b"abcdef\r\n"), Ok(Next::Message(8)));
    assert_eq!(once(&framing, b"abcdefg\r\n"), Err(FramingError::Endless { max: 8 }));
    assert_eq!(once(&framing, b"abcdefg"), Ok(Next::More(1)));
}

#[test]
fn a_length_that_is_told_has_the_same_limits() {
    let framing = Framing::new(Rule::Asked, 10).unwrap();
    assert_eq!(framing.judge(0, 3), Ok(Next::More(1)));
    assert_eq!(framing.judge(0, 10), Err(FramingError::Endless { max: 10 }));
    assert_eq!(framing.judge(4, 3), Ok(Next::More(1)));
    assert_eq!(framing.judge(4, 5), Ok(Next::Message(4)));
    assert_eq!(framing.judge(11, 5), Err(FramingError::TooLong { length: 11, max: 10 }));
    assert_eq!(framing.judge(-1, 5), Err(FramingError::Impossible { length: -1, least: 1 }));
}

#[test]
fn rules_that_could_never_work_are_refused() {
    let kind = LengthType::U32Be;
    assert!(Framing::new(Rule::Length { kind, offset: 0, body_offset: 4 }, 3).is_err());
    assert!(Framing::new(Rule::Length { kind, offset: MAX_OFFSET + 1, body_offset: 4 }, 1 << 20).is_err());
    assert!(Framing::new(Rule::End(Vec::new()), 10).is_err());
    assert!(Framing::new(Rule::End(vec![b'x'; MAX_END + 1]), 1000).is_err());
    assert!(Framing::new(Rule::Asked, 0).is_err());
}
