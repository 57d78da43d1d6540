//! What an event or a wake-up is for.

use std::num::NonZeroU64;

/// Bits of the place among those of its source.
const PLACE: u32 = 32;
/// Bits of the generation.
const GENERATION: u32 = 20;
/// Sources at most: what is left of 64 bits can count so many.
pub(crate) const SOURCES: usize = 1 << (64 - PLACE - GENERATION);

/// A source's number in its loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceId(pub(crate) u16);

/// What an event or a wake-up is for: a source, a place of its own choice, and a generation, because something may come
/// for what had the place before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(NonZeroU64);

impl Key {
    /// Of the generation the low 20 bits count.
    #[inline]
    pub fn new(source: SourceId, place: u32, generation: u32) -> Self {
        let generation = u64::from(generation & ((1 << GENERATION) - 1));
        Self::of(u64::from(source.0) << (PLACE + GENERATION) | generation << PLACE | u64::from(place))
    }

    #[inline]
    pub(crate) fn of(bits: u64) -> Self {
        // All bits are clear of a future's first place alone, whose generations begin with 1.
        Self(NonZeroU64::new(bits).unwrap_or(NonZeroU64::MIN))
    }

    /// As epoll carries it.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0.get()
    }

    /// The place.
    #[inline]
    pub fn place(self) -> usize {
        (self.0.get() & ((1 << PLACE) - 1)) as usize
    }

    #[inline]
    pub(crate) fn source(self) -> usize {
        (self.0.get() >> (PLACE + GENERATION)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_generations_and_sources_do_not_touch_each_other() {
        let last = SourceId((SOURCES - 1) as u16);
        for (source, place, generation) in [(SourceId(0), 0, 2), (SourceId(1), 7, 1), (last, u32::MAX, (1 << 20) - 1)] {
            let key = Key::of(Key::new(source, place, generation).bits());
            assert_eq!((key.source(), key.place()), (usize::from(source.0), place as usize));
            assert_eq!(key, Key::new(source, place, generation | 1 << 20));
            assert_ne!(key, Key::new(source, place, generation ^ 1));
        }
    }
}
