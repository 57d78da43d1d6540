//! HPACK blocks, several of one connection: no panic, no more than the limits, the tables stay small, what is read and
//! written again is read the same, and heads are whole. The first byte of each piece is its length.
#![no_main]

use apus_proto::http1::RequestHead;
use apus_proto::http2::hpack::{Decoder, Encoder, Indexing, ListLimits, Listed};
use apus_proto::http2::{HeadDecoder, HeadLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, bool, &[u8])| {
    let (max_list, end_stream, mut rest) = input;
    let list = ListLimits { max_list: max_list.into(), max_fields: 20 };
    let mut alone = Decoder::default();
    let mut heads = HeadDecoder::default();
    let (mut encoder, mut again) = (Encoder::new(512), Decoder::default());
    while let Some((&len, tail)) = rest.split_first() {
        let block;
        (block, rest) = tail.split_at(usize::from(len).min(tail.len()));
        let mut fields = Vec::new();
        let verdict = alone.decode(block, &list, |field| {
            fields.push((field.name.to_vec(), field.value.to_vec(), field.sensitive));
        });
        let size: usize = fields.iter().map(|(name, value, _)| name.len() + value.len() + 32).sum();
        assert!(size <= list.max_list && fields.len() <= list.max_fields);
        // Two of 4096 bytes, rounded up as a vector grows, 128 entries, and the scratch memory of a block.
        assert!(alone.footprint() < 24 * 1024);
        head(&mut heads, block, end_stream, list, verdict.is_ok());
        if verdict.is_err() {
            return;
        }
        round(&mut encoder, &mut again, &fields);
    }
});

fn head(heads: &mut HeadDecoder, block: &[u8], end_stream: bool, list: ListLimits, block_is_good: bool) {
    let limits = HeadLimits { list, ..HeadLimits::default() };
    let (mut bytes, mut head) = (Vec::new(), RequestHead::default());
    match heads.request(block, end_stream, &limits, &mut bytes, &mut head) {
        Ok(_) => {
            assert!(block_is_good);
            assert!(bytes.ends_with(b"\r\n\r\n") && head.head_len == bytes.len());
            assert!(!head.method.is_empty() && !head.target.is_empty() && head.host.is_some());
            // One line each, as nothing that would begin another may be in a field.
            let lines = bytes.split(|&byte| byte == b'\n').count();
            assert_eq!(lines, 1 + head.headers.len() + usize::from(head.protocol.is_some()) + 2);
            assert_eq!(bytes.iter().filter(|&&byte| byte == b'\r').count() + 1, lines);
        }
        Err(apus_proto::http2::HeadError::Block(_)) => assert!(!block_is_good),
        Err(_) => assert!(block_is_good),
    }
}

fn round(encoder: &mut Encoder, decoder: &mut Decoder, fields: &[(Vec<u8>, Vec<u8>, bool)]) {
    let mut block = Vec::new();
    encoder.begin(&mut block);
    for (name, value, sensitive) in fields {
        let indexing = if *sensitive { Indexing::Never } else { Indexing::Auto };
        encoder.field(name, value, indexing, &mut block);
    }
    let mut got = Vec::new();
    let limits = ListLimits { max_list: usize::MAX, max_fields: usize::MAX };
    let verdict = decoder.decode(&block, &limits, |field| {
        got.push((field.name.to_vec(), field.value.to_vec(), field.sensitive));
    });
    assert_eq!(verdict, Ok(Listed::All));
    assert_eq!(got, fields);
}
