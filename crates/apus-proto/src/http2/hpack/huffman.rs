//! The Huffman code of field strings (RFC 7541 section 5.2 and appendix B).

use super::HpackError;

/// Bits of each byte's code, and of EOS. The code is canonical, so these are all there is to know: codes of a length
/// follow one another in the order of their bytes, and the shorter ones come first.
#[rustfmt::skip]
static BITS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const LONGEST: usize = 30;

/// The number of EOS among the symbols.
const EOS: usize = 256;

/// What follows from [`BITS`].
struct Code {
    /// Each symbol's code, in the lowest bits.
    codes: [u32; 257],
    /// The symbols in the order of their codes.
    symbols: [u16; 257],
    /// For each length the first code beyond those of that length, as the highest bits of 32.
    ends: [u64; LONGEST + 1],
    /// For each length the code of its first symbol, and that symbol's place in `symbols`.
    firsts: [(u32, u16); LONGEST + 1],
}

const CODE: Code = code();

const fn code() -> Code {
    let mut made = Code { codes: [0; 257], symbols: [0; 257], ends: [0; LONGEST + 1], firsts: [(0, 0); LONGEST + 1] };
    let (mut next, mut place, mut bits) = (0u32, 0u16, 1);
    while bits <= LONGEST {
        next <<= 1;
        made.firsts[bits] = (next, place);
        let mut symbol = 0;
        while symbol < 257 {
            if BITS[symbol] as usize == bits {
                made.codes[symbol] = next;
                made.symbols[place as usize] = symbol as u16;
                next += 1;
                place += 1;
            }
            symbol += 1;
        }
        made.ends[bits] = (next as u64) << (32 - bits);
        bits += 1;
    }
    made
}

/// For the first eight bits of what is left: the symbol and its length where eight bits are enough, else 0.
static SHORT: [(u8, u8); 256] = {
    let mut short = [(0, 0); 256];
    let mut symbol = 0;
    while symbol < 256 {
        let bits = BITS[symbol];
        if bits <= 8 {
            let from = (CODE.codes[symbol] << (8 - bits)) as usize;
            let mut at = 0;
            while at < 1usize << (8 - bits) {
                short[from + at] = (symbol as u8, bits);
                at += 1;
            }
        }
        symbol += 1;
    }
    short
};

static CODES: [u32; 257] = CODE.codes;
static SYMBOLS: [u16; 257] = CODE.symbols;
static ENDS: [u64; LONGEST + 1] = CODE.ends;
static FIRSTS: [(u32, u16); LONGEST + 1] = CODE.firsts;

/// Bytes that `text` takes when it is coded.
pub(super) fn coded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|&byte| usize::from(BITS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Appends `text`, coded.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut window, mut held) = (0u64, 0u32);
    for &byte in text {
        let bits = u32::from(BITS[usize::from(byte)]);
        window = window << bits | u64::from(CODES[usize::from(byte)]);
        held += bits;
        while held >= 8 {
            held -= 8;
            out.push((window >> held) as u8);
        }
    }
    if held > 0 {
        // What is left of the last byte is filled with the first bits of EOS, which are ones.
        out.push((window << (8 - held)) as u8 | (0xff >> held));
    }
}

/// Appends what `coded` stands for: at most 8/5 of its length.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let mut rest = coded.iter();
    // The bits that were read and not yet used, in the lowest places.
    let (mut window, mut held) = (0u64, 0u32);
    loop {
        while held <= 32 {
            let Some(&byte) = rest.next() else { return last(window, held, out) };
            window = window << 8 | u64::from(byte);
            held += 8;
        }
        // Above 32 bits are there, so that no code lacks any.
        while held >= 30 {
            let (symbol, bits) = symbol((window << (64 - held) >> 32) as u32)?;
            out.push(symbol);
            held -= bits;
        }
    }
}

/// The end of a string: what is left of the last byte are fewer than eight ones (RFC 7541 section 5.2).
fn last(window: u64, mut held: u32, out: &mut Vec<u8>) -> Result<(), HpackError> {
    while held > 0 {
        let left = window << (64 - held);
        // Ones stand for what is missing: with those no code but EOS, which is an error, ends beyond what is held.
        let ones = if held >= 32 { 0 } else { u32::MAX >> held };
        let view = (left >> 32) as u32 | ones;
        if held < 8 && view == u32::MAX {
            return Ok(());
        }
        let (symbol, bits) = symbol(view)?;
        if bits > held {
            return Err(HpackError::Huffman);
        }
        out.push(symbol);
        held -= bits;
    }
    Ok(())
}

/// The symbol that the highest bits are, and how many.
#[inline]
fn symbol(view: u32) -> Result<(u8, u32), HpackError> {
    let (symbol, bits) = SHORT[(view >> 24) as usize];
    if bits != 0 { Ok((symbol, u32::from(bits))) } else { long_symbol(view) }
}

fn long_symbol(view: u32) -> Result<(u8, u32), HpackError> {
    for bits in 10..=LONGEST {
        if u64::from(view) < ENDS[bits] {
            let (code, place) = FIRSTS[bits];
            let at = usize::from(place) + ((view >> (32 - bits)) - code) as usize;
            let symbol = usize::from(SYMBOLS[at]);
            // RFC 7541 section 5.2: EOS inside a string is an error.
            return if symbol == EOS { Err(HpackError::Huffman) } else { Ok((symbol as u8, bits as u32)) };
        }
    }
    Err(HpackError::Huffman)
}
