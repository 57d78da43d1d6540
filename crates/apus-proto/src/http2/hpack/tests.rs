use super::integer::{Reader, write_integer};
use super::{Decoder, Encoder, Field, HpackError, Indexing, ListLimits, Listed, huffman, static_table};

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, HpackError> {
    let mut fields = Vec::new();
    let listed = decoder.decode(block, &ListLimits::default(), |field| {
        fields.push((field.name.to_vec(), field.value.to_vec()));
    })?;
    assert_eq!(listed, Listed::All);
    Ok(fields)
}

fn lines(fields: &Fields) -> String {
    let line = |(name, value): &(Vec<u8>, Vec<u8>)| {
        format!("{}: {}\n", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
    };
    fields.iter().map(line).collect()
}

/// RFC 7541 appendix C.1.
#[test]
fn integers_of_the_rfc() {
    for (value, prefix, bytes) in [(10, 5, &[0x0a][..]), (1337, 5, &[0x1f, 0x9a, 0x0a]), (42, 8, &[0x2a])] {
        let mut out = Vec::new();
        write_integer(value, prefix, 0, &mut out);
        assert_eq!(out, bytes);
        assert_eq!(Reader { rest: bytes }.integer(prefix), Ok(value));
    }
}

#[test]
fn integers_are_bounded() {
    let far = [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert_eq!(Reader { rest: &far }.integer(7), Err(HpackError::Integer));
    // Zeros that go on for ever are no number either.
    let zeros = [0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
    assert_eq!(Reader { rest: &zeros }.integer(7), Err(HpackError::Integer));
    assert_eq!(Reader { rest: &far[..3] }.integer(7), Err(HpackError::Truncated));
    for value in [0usize, 30, 31, 32, 126, 127, 128, 254, 255, 16_383, 16_384, 1 << 28] {
        for prefix in 4..8 {
            let mut out = Vec::new();
            write_integer(value, prefix, 0, &mut out);
            assert_eq!(Reader { rest: &out }.integer(prefix), Ok(value), "{value} in {prefix} bits");
        }
    }
}

/// RFC 7541 appendix C.2.
#[test]
fn fields_of_the_rfc() {
    let cases = [
        ("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header\n", 55, false),
        ("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path\n", 0, false),
        ("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret\n", 0, true),
        ("82", ":method: GET\n", 0, false),
    ];
    for (block, expected, size, sensitive) in cases {
        let mut decoder = Decoder::default();
        let mut seen = String::new();
        let each = |field: Field<'_>| {
            assert_eq!(field.sensitive, sensitive);
            seen = lines(&vec![(field.name.to_vec(), field.value.to_vec())]);
        };
        assert_eq!(decoder.decode(&hex(block), &ListLimits::default(), each), Ok(Listed::All));
        assert_eq!((seen.as_str(), decoder.table.size()), (expected, size));
    }
}

/// RFC 7541 appendices C.3 and C.4: the same requests, plain and coded.
#[test]
fn requests_of_the_rfc() {
    let first = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n";
    let second = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache\n";
    let third = ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\n\
                 custom-key: custom-value\n";
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let coded = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::default();
        for ((block, expected), size) in blocks.iter().zip([first, second, third]).zip([57, 110, 164]) {
            let fields = decode(&mut decoder, &hex(block)).unwrap_or_default();
            assert_eq!((lines(&fields).as_str(), decoder.table.size()), (expected, size));
        }
    }
}

/// RFC 7541 appendices C.5 and C.6: answers through a table of 256 bytes, from which entries go.
#[test]
fn answers_of_the_rfc() {
    let date = |second| format!("date: Mon, 21 Oct 2013 20:13:{second} GMT\n");
    let place = "location: https://www.example.com\n";
    let expected = [
        format!(":status: 302\ncache-control: private\n{}{place}", date(21)),
        format!(":status: 307\ncache-control: private\n{}{place}", date(21)),
        format!(
            ":status: 200\ncache-control: private\n{}{place}content-encoding: gzip\n\
             set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n",
            date(22)
        ),
    ];
    let plain = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d \
         546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f \
         6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b \
         2076 6572 7369 6f6e 3d31",
    ];
    let coded = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 \
         8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 \
         dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::default();
        decoder.table.resize(256);
        for ((block, expected), size) in blocks.iter().zip(&expected).zip([222, 222, 215]) {
            let fields = decode(&mut decoder, &hex(block)).unwrap_or_default();
            assert_eq!((&lines(&fields), decoder.table.size()), (expected, size));
        }
    }
}

#[test]
fn every_byte_survives_the_huffman_code() {
    let all: Vec<u8> = (0..=255).collect();
    for text in (0..=255usize).map(|at| &all[at..]).chain((0..=255usize).map(|at| &all[at..=at])) {
        let (mut coded, mut back) = (Vec::new(), Vec::new());
        huffman::encode(text, &mut coded);
        assert_eq!(coded.len(), huffman::coded_len(text));
        assert_eq!(huffman::decode(&coded, &mut back), Ok(()));
        assert_eq!(back, text);
    }
}

#[test]
fn wrong_padding_is_refused() {
    let cases = [
        ("zeros", &[0x18][..]),
        ("a whole byte of ones", &[0x1f, 0xff]),
        ("EOS", &[0x3f, 0xff, 0xff, 0xff]),
        ("EOS inside", &[0xff, 0xff, 0xff, 0xfc, 0x1f]),
        ("a code that is cut off", &[0xfe]),
    ];
    for (what, coded) in cases {
        assert_eq!(huffman::decode(coded, &mut Vec::new()), Err(HpackError::Huffman), "{what}");
    }
    let mut text = Vec::new();
    assert_eq!(huffman::decode(&[0x1f], &mut text), Ok(()));
    assert_eq!(text, b"a");
}

#[test]
fn static_names_and_values_are_found() {
    for (at, (name, value)) in static_table::ENTRIES.iter().enumerate() {
        let first = static_table::name(name);
        assert_eq!(first.map(|first| static_table::ENTRIES[usize::from(first) - 1].0), Some(*name));
        assert_eq!(first.and_then(|first| static_table::value(first, value)), Some(at as u8 + 1));
    }
    for name in [&b""[..], b"a", b"agf", b"x-forwarded-for", b":statut", b"a-name-that-is-longer-than-any"] {
        assert_eq!(static_table::name(name), None);
    }
}

#[test]
fn broken_blocks_are_refused() {
    let cases = [
        ("80", HpackError::Index),
        ("be", HpackError::Index),
        ("7e 0161", HpackError::Index),
        ("ff ffffffff7f", HpackError::Integer),
        ("40", HpackError::Truncated),
        ("40 05 61", HpackError::Truncated),
        ("40 0161 05 61", HpackError::Truncated),
        ("00 81ff 00", HpackError::Huffman),
        ("3f e2 1f", HpackError::TableSize),
        ("82 20", HpackError::TableSize),
        ("20 20 20 82", HpackError::TableSize),
    ];
    for (block, error) in cases {
        assert_eq!(decode(&mut Decoder::default(), &hex(block)), Err(error), "{block}");
    }
}

#[test]
fn a_smaller_table_has_to_be_announced() {
    let mut decoder = Decoder::default();
    decoder.set_limit(0);
    assert_eq!(decode(&mut decoder, &hex("82")), Err(HpackError::TableSize));
    let mut decoder = Decoder::default();
    assert!(decode(&mut decoder, &hex("4001610162")).is_ok());
    decoder.set_limit(0);
    assert!(decode(&mut decoder, &hex("2082")).is_ok());
    assert_eq!(decoder.table.size(), 0);
    assert_eq!(decode(&mut decoder, &hex("be")), Err(HpackError::Index));
}

#[test]
fn an_entry_may_take_its_name_from_one_that_it_pushes_out() {
    let mut decoder = Decoder::default();
    decoder.table.resize(64);
    assert!(decode(&mut decoder, &hex("4003 616263 0a 30313233343536373839")).is_ok());
    let fields = decode(&mut decoder, &hex("7e 08 3938373635343332")).unwrap_or_default();
    assert_eq!(lines(&fields), "abc: 98765432\n");
    assert_eq!(decode(&mut decoder, &hex("be")).map(|fields| lines(&fields)), Ok("abc: 98765432\n".to_owned()));
    assert_eq!(decode(&mut decoder, &hex("bf")), Err(HpackError::Index));
}

/// A list beyond its limits is not given, but its entries are in the table for the next block.
#[test]
fn a_list_too_large_leaves_the_table_right() {
    let limits = ListLimits { max_list: 100, max_fields: 2 };
    let mut given = 0;
    let mut decoder = Decoder::default();
    let block = hex("82 86 84 4001610162 84");
    assert_eq!(decoder.decode(&block, &limits, |_| given += 1), Ok(Listed::TooLarge));
    assert_eq!(given, 2);
    assert_eq!(decode(&mut decoder, &hex("be")).map(|fields| lines(&fields)), Ok("a: b\n".to_owned()));
    let limits = ListLimits { max_list: 33, max_fields: 2 };
    assert_eq!(decoder.decode(&hex("be"), &limits, |_| ()), Ok(Listed::TooLarge));
    let limits = ListLimits { max_list: 34, max_fields: 2 };
    assert_eq!(decoder.decode(&hex("be"), &limits, |_| ()), Ok(Listed::All));
}

/// One entry of 4000 bytes, named ten thousand times: what is given stays within the limit.
#[test]
fn a_bomb_is_counted_while_it_is_decoded() {
    let mut block = vec![0x40, 1, b'a'];
    write_integer(4000, 7, 0, &mut block);
    block.extend_from_slice(&[b'x'; 4000]);
    block.resize(block.len() + 10_000, 0xbe);
    let mut bytes = 0;
    let mut decoder = Decoder::default();
    let verdict = decoder.decode(&block, &ListLimits::default(), |field| bytes += field.value.len());
    assert_eq!(verdict, Ok(Listed::TooLarge));
    assert_eq!(bytes, 4 * 4000);
    assert!(decoder.footprint() < 16 * 1024, "{}", decoder.footprint());
}

#[test]
fn a_table_takes_no_more_than_twice_its_size() {
    let mut decoder = Decoder::default();
    for turn in 0..10_000u32 {
        let mut block = vec![0x40, 8];
        block.extend_from_slice(format!("{turn:08}").as_bytes());
        write_integer(turn as usize % 4100, 7, 0, &mut block);
        block.resize(block.len() + turn as usize % 4100, b'v');
        assert!(decode(&mut decoder, &block).is_ok());
    }
    assert!(decoder.footprint() <= 24 * 1024, "{}", decoder.footprint());
}

#[test]
fn what_is_sent_twice_is_sent_short() {
    let mut encoder = Encoder::new(4096);
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let mut block = Vec::new();
        encoder.begin(&mut block);
        encoder.status(200, &mut block);
        encoder.field(b"server", b"Apus", Indexing::Auto, &mut block);
        encoder.field(b"x-other", b"something or other", Indexing::Auto, &mut block);
        sizes.push(block.len());
    }
    assert_eq!(sizes[2], 3);
    assert!(sizes[0] > 20 && sizes[1] > 20, "{sizes:?}");
}

#[test]
fn secrets_are_never_indexed() {
    let mut encoder = Encoder::new(4096);
    let mut decoder = Decoder::default();
    for _ in 0..3 {
        let mut block = Vec::new();
        encoder.begin(&mut block);
        encoder.field(b"set-cookie", b"secret=1", Indexing::Never, &mut block);
        let mut sensitive = false;
        assert!(decoder.decode(&block, &ListLimits::default(), |field| sensitive = field.sensitive).is_ok());
        assert!(sensitive);
    }
    assert_eq!(encoder.footprint(), 0);
}

#[test]
fn sizes_of_the_peer_are_told_in_the_next_block() {
    let mut encoder = Encoder::new(1024);
    let mut block = Vec::new();
    encoder.begin(&mut block);
    assert_eq!(block, hex("3f e1 07"));
    encoder.set_limit(0);
    encoder.set_limit(4096);
    block.clear();
    encoder.begin(&mut block);
    assert_eq!(block, hex("20 3f e1 07"));
    block.clear();
    encoder.set_limit(8192);
    encoder.begin(&mut block);
    assert_eq!(block, b"");
}
