//! Whether it is likely to pay that the kernel is asked once more before the runtime waits.
//!
//! A look that brings events saves the runtime's own wait, one that brings none was in vain. So they are counted
//! against each other: while more bring something than not, every turn looks; otherwise one of [`RARE`] does, to find
//! out.

use std::cell::Cell;

/// How far the count goes to either side.
const MOST: i8 = 16;
/// While looks are in vain, one of so many turns looks.
const RARE: u8 = 16;

/// See the module.
#[derive(Default)]
pub(crate) struct Heat {
    count: Cell<i8>,
    left_out: Cell<u8>,
}

impl Heat {
    /// Whether to look now.
    #[inline]
    pub(crate) fn is_hot(&self) -> bool {
        if self.count.get() >= 0 {
            return true;
        }
        let left_out = self.left_out.get() + 1;
        self.left_out.set(if left_out < RARE { left_out } else { 0 });
        left_out == RARE
    }

    /// The look brought something, or nothing.
    #[inline]
    pub(crate) fn brought(&self, something: bool) {
        let count = self.count.get() + if something { 1 } else { -1 };
        self.count.set(count.clamp(-MOST, MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_in_vain_become_rare_and_others_frequent() {
        let heat = Heat::default();
        let mut looks = 0;
        for _ in 0..1_000 {
            if heat.is_hot() {
                looks += 1;
                heat.brought(false);
            }
        }
        assert!((60..=100).contains(&looks), "{looks}");
        for _ in 0..1_000 {
            if heat.is_hot() {
                heat.brought(true);
            }
        }
        assert!((0..100).all(|_| heat.is_hot()));
    }
}
