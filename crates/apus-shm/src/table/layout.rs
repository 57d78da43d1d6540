//! Where everything of a table lies in its region. A function of the schema alone: the same in every process, and in a
//! snapshot.

use super::dictionary::Dictionary;
use super::heap::{self, HEAP_MOST};
use super::order::Order;
use super::schema::{Keys, Kind, Layout, Schema};
use super::segment::{JOURNAL_BYTES, SEGMENT};
use super::{TableError, keys};

/// Areas start at multiples of this: a page, so that each can be given back by itself.
const PAGE: u64 = 4096;
/// Most partitions: a bit each in a word.
pub(super) const PARTITIONS_MOST: u64 = 64;
/// Rows that a further partition is worth: each costs some pages.
const ROWS_A_PARTITION: u64 = 128;
/// Ids of one block: neighbours lie in one partition.
pub(super) const BLOCK_BITS: u32 = 10;
/// Bytes of what stands before the cells of a row with a text key: next row of the bucket, hash, key.
pub(super) const ROW_HEAD: usize = 16;
/// More address space than this is not asked for at once.
const REGION_MOST: u64 = 1 << 45;

/// A part of the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    /// Where it starts; a multiple of 4096.
    pub(crate) offset: usize,
    /// Its size.
    pub(crate) bytes: usize,
}

/// A column's cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnPlace {
    /// Where row 0's cell lies.
    pub(crate) base: usize,
    /// Bytes from a row's cell to the next row's.
    pub(crate) stride: usize,
    /// Bytes of a cell.
    pub(crate) width: usize,
    /// What it holds.
    pub(crate) kind: Kind,
}

impl ColumnPlace {
    /// Where a row's cell lies.
    #[inline]
    pub(crate) fn offset(&self, row: u32) -> usize {
        self.base + row as usize * self.stride
    }
}

/// How rows are found by key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Finder {
    /// Buckets of a hash table in each partition, and the heads of rows.
    Texts { buckets: usize, buckets_each: usize, heads: usize, stride: usize },
    /// A bit a row, and a bit a block: whether any of the block's rows ever existed. Memory of other blocks is not
    /// touched, not even by reading.
    Ids { bits: usize, blocks: usize },
}

#[derive(Debug)]
pub(super) struct Plan {
    /// Partitions; a power of two.
    pub(super) partitions: usize,
    /// With text keys: rows of a partition are numbered from a multiple of `1 << row_bits` on.
    pub(super) row_bits: u32,
    /// Row numbers lie below.
    pub(super) rows_end: u32,
    /// The segments: of the partitions, then of the indexes.
    pub(super) segments: usize,
    pub(super) journals: usize,
    pub(super) finder: Finder,
    pub(super) places: Vec<ColumnPlace>,
    /// The areas of rows (heads and cells together, or one an array), with the bytes of a row in each.
    pub(super) row_areas: Vec<(Area, usize)>,
    pub(super) heaps: usize,
    pub(super) heap_each: usize,
    pub(super) orders: Vec<Area>,
    /// By column; empty for those that are no dictionary.
    pub(super) dictionaries: Vec<Option<Area>>,
    pub(super) bytes: usize,
}

/// Hands out areas one after the other.
struct Taker(u64);

impl Taker {
    fn take(&mut self, bytes: u64) -> Result<Area, TableError> {
        let offset = self.0;
        self.0 = offset.saturating_add(bytes.max(1).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX));
        if self.0 > REGION_MOST {
            return Err(TableError::NoMemory(format!(
                "the table could grow beyond {} TiB: make it for fewer rows or shorter texts",
                REGION_MOST >> 40
            )));
        }
        Ok(Area { offset: offset as usize, bytes: (self.0 - offset) as usize })
    }

    fn each(&mut self, count: usize, bytes: u64) -> Result<(usize, usize), TableError> {
        let each = bytes.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        let area = self.take(each.saturating_mul(count as u64))?;
        Ok((area.offset, each as usize))
    }
}

/// Rows that a partition has room for, as a power of two: keys fall into partitions at random, so a partition gets its
/// share and some standard deviations more, however many tables are made.
fn row_bits(rows: u64, partitions: u64) -> u32 {
    let share = rows.div_ceil(partitions);
    let spread = 12 * (share.isqrt() + 1) + 64;
    (share + spread).min(rows).next_power_of_two().ilog2()
}

impl Plan {
    pub(super) fn new(schema: &Schema) -> Result<Self, TableError> {
        let (partitions, row_bits, rows_end) = match schema.keys {
            Keys::Text { .. } => {
                let partitions = (schema.rows / ROWS_A_PARTITION).clamp(1, PARTITIONS_MOST).next_power_of_two();
                let bits = row_bits(schema.rows, partitions);
                (partitions, bits, partitions << bits)
            }
            Keys::Ids { most } => {
                let partitions = (most >> BLOCK_BITS).clamp(1, PARTITIONS_MOST);
                (1 << partitions.ilog2(), 0, most)
            }
        };
        let mut taker = Taker(PAGE);
        let segments = taker.take((partitions + 1) * SEGMENT as u64)?.offset;
        let journals = taker.take((partitions + 1) * JOURNAL_BYTES as u64)?.offset;
        let mut plan = Self {
            partitions: partitions as usize,
            row_bits,
            rows_end: rows_end as u32,
            segments,
            journals,
            finder: Finder::Ids { bits: 0, blocks: 0 },
            places: Vec::new(),
            row_areas: Vec::new(),
            heaps: 0,
            heap_each: 0,
            orders: Vec::new(),
            dictionaries: Vec::new(),
            bytes: 0,
        };
        plan.place_rows(schema, &mut taker)?;
        plan.place_rest(schema, &mut taker)?;
        plan.bytes = taker.0 as usize;
        Ok(plan)
    }

    fn place_rows(&mut self, schema: &Schema, taker: &mut Taker) -> Result<(), TableError> {
        let rows = u64::from(self.rows_end);
        let texts = matches!(schema.keys, Keys::Text { .. });
        let head = if texts { ROW_HEAD } else { 0 };
        let (mut heads, mut heads_stride) = (0, ROW_HEAD);
        match schema.layout {
            Layout::Rows => {
                let (offsets, stride) = record(schema, head);
                let area = taker.take(rows * stride as u64)?;
                self.row_areas.push((area, stride));
                (heads, heads_stride) = (area.offset, stride);
                self.places = place_columns(schema, |at| (area.offset + offsets[at], stride));
            }
            Layout::Columns => {
                if texts {
                    let area = taker.take(rows * ROW_HEAD as u64)?;
                    self.row_areas.push((area, ROW_HEAD));
                    heads = area.offset;
                }
                for column in &schema.columns {
                    let width = column.kind.width();
                    self.row_areas.push((taker.take(rows * width as u64)?, width));
                }
                let first = usize::from(texts);
                let areas = &self.row_areas;
                self.places = place_columns(schema, |at| (areas[first + at].0.offset, areas[first + at].1));
            }
        }
        self.finder = if texts {
            let most = (1u64 << self.row_bits).max(keys::BUCKETS);
            let (buckets, buckets_each) = taker.each(self.partitions, most * 4)?;
            Finder::Texts { buckets, buckets_each, heads, stride: heads_stride }
        } else {
            let bits = taker.take(rows.div_ceil(64) * 8)?.offset;
            Finder::Ids { bits, blocks: taker.take((rows >> BLOCK_BITS).div_ceil(64) * 8 + 8)?.offset }
        };
        Ok(())
    }

    fn place_rest(&mut self, schema: &Schema, taker: &mut Taker) -> Result<(), TableError> {
        // Rows of one partition, at most.
        let rows = match schema.keys {
            Keys::Text { .. } => 1 << self.row_bits,
            Keys::Ids { most } => most.div_ceil(self.partitions as u64).next_multiple_of(1 << BLOCK_BITS),
        };
        let rows = rows.min(schema.rows);
        let mut heap_bytes = 0u64;
        if let Keys::Text { longest } = schema.keys {
            heap_bytes = heap_bytes.saturating_add(heap::reserve(rows, longest));
        }
        for column in &schema.columns {
            if let Kind::Text { longest } = column.kind {
                heap_bytes = heap_bytes.saturating_add(heap::reserve(rows, longest));
            }
        }
        let share = (REGION_MOST / 2 / self.partitions as u64).min(HEAP_MOST);
        (self.heaps, self.heap_each) = taker.each(self.partitions, heap_bytes.min(share))?;
        for _ in &schema.indexes {
            self.orders.push(taker.take(Order::area_bytes(schema.rows))?);
        }
        for column in &schema.columns {
            self.dictionaries.push(match column.kind {
                Kind::Dictionary { longest, most } => Some(taker.take(Dictionary::area_bytes(longest, most))?),
                Kind::Int { .. } | Kind::Float | Kind::Text { .. } => None,
            });
        }
        Ok(())
    }
}

fn place_columns(schema: &Schema, place: impl Fn(usize) -> (usize, usize)) -> Vec<ColumnPlace> {
    let columns = schema.columns.iter().enumerate();
    columns
        .map(|(at, column)| {
            let (base, stride) = place(at);
            ColumnPlace { base, stride, width: column.kind.width(), kind: column.kind }
        })
        .collect()
}

/// The record of a row: each column's offset in it, and its size. Wide cells come first, so that none needs padding.
fn record(schema: &Schema, head: usize) -> (Vec<usize>, usize) {
    let mut offsets = vec![0; schema.columns.len()];
    let mut end = head;
    for width in [8, 4, 2, 1] {
        for (at, column) in schema.columns.iter().enumerate() {
            if column.kind.width() == width {
                offsets[at] = end;
                end += width;
            }
        }
    }
    let widest = schema.columns.iter().map(|column| column.kind.width()).max().unwrap_or(1);
    (offsets, end.next_multiple_of(if head > 0 { 8 } else { widest }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_has_room_for_more_than_its_share() {
        for (rows, partitions) in [(1, 1), (127, 1), (1024, 8), (8192, 64), (1 << 20, 64), (1 << 30, 64)] {
            let room = 1u64 << row_bits(rows, partitions);
            let share = rows.div_ceil(partitions);
            assert!(room >= rows.min(share + 12 * share.isqrt()), "{rows} rows");
            assert!(room * partitions <= 1 << 31, "{rows} rows");
        }
    }
}
