//! Random lists through another implementation, both ways.

use httlib_hpack::{Decoder as TheirDecoder, Encoder as TheirEncoder};

use super::{Decoder, Encoder, Indexing, ListLimits, Listed, static_table};

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let any = self.below(4) == 0;
        (0..self.below(most)).map(|_| if any { self.below(256) } else { 32 + self.below(95) } as u8).collect()
    }

    /// From few names and values often, so that tables are of use.
    fn field(&mut self) -> (Vec<u8>, Vec<u8>) {
        let (name, value) = static_table::ENTRIES[self.below(61)];
        match self.below(6) {
            0 => (name.to_vec(), value.to_vec()),
            1 => (name.to_vec(), self.bytes(40)),
            2 | 3 => (format!("x-{}", self.below(6)).into_bytes(), format!("{:030}", self.below(3)).into_bytes()),
            4 => (format!("x-{}", self.below(6)).into_bytes(), self.bytes(300)),
            _ => ([b"n".to_vec(), self.bytes(20)].concat(), self.bytes(20)),
        }
    }

    fn list(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..self.below(12)).map(|_| self.field()).collect()
    }
}

#[test]
fn they_write_and_we_read() {
    const FLAGS: [u8; 8] = [0, 0x1, 0x2, 0x3, 0x4, 0x7, 0x8, 0x10];
    for seed in 1..40u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut theirs = TheirEncoder::with_dynamic_size(4096);
        let mut ours = Decoder::default();
        for _ in 0..60 {
            let list = random.list();
            let mut block = Vec::new();
            for (name, value) in &list {
                let flags = FLAGS[random.below(FLAGS.len())];
                assert!(theirs.encode((name.clone(), value.clone(), flags), &mut block).is_ok());
            }
            let mut seen = Vec::new();
            let limits = ListLimits { max_list: 1 << 20, max_fields: 100 };
            let verdict = ours.decode(&block, &limits, |field| seen.push((field.name.to_vec(), field.value.to_vec())));
            assert_eq!((verdict, seen), (Ok(Listed::All), list), "seed {seed}");
        }
    }
}

#[test]
fn we_write_and_they_read() {
    for seed in 1..40u64 {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let most = [0, 100, 500, 4096][random.below(4)];
        let mut ours = Encoder::new(most);
        let mut theirs = TheirDecoder::with_dynamic_size(4096);
        let mut again = Decoder::default();
        for turn in 0..60 {
            if turn % 20 == 19 {
                ours.set_limit([0, 64, 300, 4096][random.below(4)]);
            }
            let list = random.list();
            let mut block = Vec::new();
            ours.begin(&mut block);
            for (name, value) in &list {
                let indexing = [Indexing::Auto, Indexing::Auto, Indexing::Without, Indexing::Never][random.below(4)];
                ours.field(name, value, indexing, &mut block);
            }
            let mut seen = Vec::new();
            let limits = ListLimits { max_list: 1 << 20, max_fields: 100 };
            let verdict = again.decode(&block, &limits, |field| seen.push((field.name.to_vec(), field.value.to_vec())));
            assert_eq!((verdict, &seen), (Ok(Listed::All), &list), "seed {seed}");
            let mut seen = Vec::new();
            assert!(theirs.decode(&mut block, &mut seen).is_ok(), "seed {seed}");
            let seen: Vec<_> = seen.into_iter().map(|(name, value, _)| (name, value)).collect();
            assert_eq!(seen, list, "seed {seed}");
        }
    }
}
