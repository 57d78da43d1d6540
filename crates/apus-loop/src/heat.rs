//! Whether it is likely to pay to look once more before a wait.
//!
//! A look that brings something saves the wait, one that brings nothing was in vain. So they are counted against each
//! other: while more bring something than not, every turn looks; otherwise one of so many does, to find out.

use std::cell::Cell;

/// How far the count goes to either side.
const MOST: i8 = 16;

/// See the module.
#[derive(Debug)]
pub(crate) struct Heat {
    count: Cell<i8>,
    left_out: Cell<u8>,
    rare: u8,
}

impl Heat {
    /// While looks are in vain, one of `rare` turns looks.
    pub(crate) const fn new(rare: u8) -> Self {
        Self { count: Cell::new(0), left_out: Cell::new(0), rare }
    }

    /// Whether to look now.
    #[inline]
    pub(crate) fn is_hot(&self) -> bool {
        if self.count.get() >= 0 {
            return true;
        }
        let left_out = self.left_out.get() + 1;
        self.left_out.set(if left_out < self.rare { left_out } else { 0 });
        left_out == self.rare
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
        let heat = Heat::new(16);
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
