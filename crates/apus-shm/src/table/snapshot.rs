//! A table's contents as a file.
//!
//! Layout, all numbers little-endian: a head (magic, version, fingerprint of the memory's layout, rows, flags, the
//! description's length and the description, their CRC-32), then sections (where in memory, length, bytes, CRC-32 of
//! all that), then the end (a section of length 0 at [`END`], with the number of sections). What is not there whole, or
//! differs in a single bit, is refused before the table is touched.
//!
//! Saving writes beside the file and renames at the end, when all is on the disk: whatever happens, there is the old
//! file or the new one.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crc32fast::Hasher;

use super::layout::Area;
use super::schema::{Column, Keys, Kind, Layout, Schema};
use super::store::Store;
use super::{Table, TableError};
use crate::region::Region;
use crate::replace::Replacement;

const MAGIC: [u8; 8] = *b"ApusTabl";
/// Of the file's format. The memory's layout has a version of its own, in the fingerprint.
const VERSION: u32 = 1;
/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 20;
/// Bytes of the head before the description.
const HEAD: usize = 40;
/// Longest description.
const DESCRIPTION_LONGEST: u32 = 1 << 20;
/// Where the last section says that it lies.
const END: u64 = u64::MAX;
/// In the flags: the indexes are deferred.
const DEFERRED: u32 = 1;

/// What was saved or restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Bytes of the file.
    pub bytes: u64,
    /// Rows of the table.
    pub rows: u64,
}

impl Table {
    /// Writes the contents to a file, whose old contents stay until all of the new ones are on the disk. Who would
    /// change the table waits while it is copied (not until it is on the disk); readers do not. A new file is its
    /// owner's alone; one that is there keeps its permissions.
    pub fn save(&self, path: &Path) -> Result<SnapshotInfo, TableError> {
        let failed = |error: io::Error| TableError::File(format!("saving {}: {error}", path.display()));
        let new = Replacement::begin(path, OWNER).map_err(failed)?;
        let info = self.store.freeze(|store| write(store, new.file())).map_err(failed)?;
        new.finish_on_disk().map(|()| info).map_err(failed)
    }

    /// Replaces the contents by those of a file that [`save`](Self::save) wrote from a table of the same description. A
    /// file that is torn, changed or of another table is refused, and the table stays as it was. Whoever would read or
    /// change the table waits meanwhile. A checksum finds damage, not malice: so what was read is looked through whole
    /// before anybody sees it, and when it contradicts itself, the file is refused and the table is empty.
    pub fn restore(&self, path: &Path) -> Result<SnapshotInfo, TableError> {
        let failed = |error: Refusal| match error {
            Refusal::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                TableError::File(format!("restoring {}: the file is cut short", path.display()))
            }
            Refusal::Io(error) => TableError::File(format!("restoring {}: {error}", path.display())),
            Refusal::Unfit(why) => TableError::File(format!("restoring {}: {why}", path.display())),
        };
        let file = File::open(path).map_err(|error| failed(error.into()))?;
        let mut reader = Snapshot::open(file).map_err(failed)?;
        reader.fits(&self.store).map_err(failed)?;
        let size = self.store.region().size();
        let bytes = reader.sections(size, |_, _| ()).map_err(failed)?;
        let deferred = reader.flags & DEFERRED != 0;
        let fill = |region: &Region| {
            reader.rewind().and_then(|()| reader.sections(size, |at, bytes| put(region, at, bytes))).map_err(failed)?;
            Ok(())
        };
        let contradiction = |what| failed(Refusal::Unfit(format!("the file contradicts itself: {what}")));
        self.store.replace(deferred, fill, contradiction)?;
        Ok(SnapshotInfo { bytes, rows: reader.rows })
    }
}

/// Permissions of a new file: its owner may read and write.
const OWNER: u32 = 0o600;

/// Why a file is not taken.
enum Refusal {
    Io(io::Error),
    Unfit(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn unfit<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Unfit(why.into()))
}

/// Writes and counts.
struct Sink<'a> {
    file: &'a File,
    bytes: u64,
}

impl Sink<'_> {
    fn put(&mut self, bytes: &[u8], sum: &mut Hasher) -> io::Result<()> {
        sum.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn end(&mut self, sum: Hasher) -> io::Result<()> {
        self.bytes += 4;
        self.file.write_all(&sum.finalize().to_le_bytes())
    }
}

fn write(store: &Store, file: &File) -> io::Result<SnapshotInfo> {
    let mut sink = Sink { file, bytes: 0 };
    let description = describe(store.schema());
    let flags = if store.deferred() { DEFERRED } else { 0 };
    let rows = store.len();
    let mut head = Vec::with_capacity(HEAD + description.len());
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&flags.to_le_bytes());
    head.extend_from_slice(&store.fingerprint().to_le_bytes());
    head.extend_from_slice(&rows.to_le_bytes());
    head.extend_from_slice(&(description.len() as u64).to_le_bytes());
    head.extend_from_slice(description.as_bytes());
    let mut sum = Hasher::new();
    sink.put(&head, &mut sum)?;
    sink.end(sum)?;
    let ranges = store.ranges();
    let mut chunk = Vec::with_capacity(CHUNK + 8);
    for range in &ranges {
        write_section(store.region(), *range, &mut sink, &mut chunk)?;
    }
    let mut sum = Hasher::new();
    sink.put(&section_head(END, ranges.len() as u64), &mut sum)?;
    sink.end(sum)?;
    Ok(SnapshotInfo { bytes: sink.bytes, rows })
}

fn section_head(at: u64, bytes: u64) -> [u8; 16] {
    let mut head = [0; 16];
    head[..8].copy_from_slice(&at.to_le_bytes());
    head[8..].copy_from_slice(&bytes.to_le_bytes());
    head
}

fn write_section(region: &Region, range: Area, sink: &mut Sink<'_>, chunk: &mut Vec<u8>) -> io::Result<()> {
    let mut sum = Hasher::new();
    sink.put(&section_head(range.offset as u64, range.bytes as u64), &mut sum)?;
    for from in (0..range.bytes).step_by(CHUNK) {
        chunk.clear();
        region.copy_out(range.offset + from, CHUNK.min(range.bytes - from), chunk);
        sink.put(chunk, &mut sum)?;
    }
    sink.end(sum)
}

fn put(region: &Region, at: usize, bytes: &[u8]) {
    region.copy_in(at, bytes);
}

/// A file being read.
struct Snapshot {
    file: BufReader<File>,
    flags: u32,
    fingerprint: u64,
    rows: u64,
    description: String,
    /// Where the sections start.
    start: u64,
}

impl Snapshot {
    fn open(file: File) -> Result<Self, Refusal> {
        let mut file = BufReader::with_capacity(CHUNK, file);
        let mut head = [0; HEAD];
        file.read_exact(&mut head[..12])?;
        if head[..8] != MAGIC {
            return unfit("this is no snapshot of a table");
        }
        let number = |at: usize, head: &[u8]| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let version = number(8, &head) as u32;
        if version != VERSION {
            return unfit(format!("the file's format is version {version}, this program reads version {VERSION}"));
        }
        file.read_exact(&mut head[12..])?;
        let len = number(32, &head);
        if len > u64::from(DESCRIPTION_LONGEST) {
            return unfit("the file is damaged: its head is wrong");
        }
        let mut description = vec![0; len as usize];
        file.read_exact(&mut description)?;
        let mut sum = Hasher::new();
        sum.update(&head);
        sum.update(&description);
        Self::sum(&mut file, sum, || "its head".into())?;
        Ok(Self {
            file,
            flags: (number(8, &head) >> 32) as u32,
            fingerprint: number(16, &head),
            rows: number(24, &head),
            description: String::from_utf8_lossy(&description).into_owned(),
            start: HEAD as u64 + len + 4,
        })
    }

    fn sum(file: &mut impl Read, sum: Hasher, what: impl Fn() -> String) -> Result<(), Refusal> {
        let mut stored = [0; 4];
        file.read_exact(&mut stored)?;
        if u32::from_le_bytes(stored) == sum.finalize() {
            Ok(())
        } else {
            unfit(format!("the file is damaged: the checksum of {} is wrong", what()))
        }
    }

    /// Whether it is of a table like this one; if not, what differs first.
    fn fits(&self, store: &Store) -> Result<(), Refusal> {
        let own = describe(store.schema());
        if self.description == own {
            if self.fingerprint == store.fingerprint() {
                return Ok(());
            }
            return unfit("it was saved by a version of Apus that lays tables out otherwise: load the data anew");
        }
        let (mut file, mut own) =
            (self.description.lines(), own.lines().map(str::to_owned).collect::<Vec<_>>().into_iter());
        loop {
            let (file, own) = (file.next(), own.next());
            if file != own.as_deref() {
                let (file, own) = (file.unwrap_or("nothing more"), own.as_deref().unwrap_or("nothing more"));
                return unfit(format!("it is of another table: the file has {file}; this table has {own}"));
            }
        }
    }

    fn rewind(&mut self) -> Result<(), Refusal> {
        self.file.seek(SeekFrom::Start(self.start))?;
        Ok(())
    }

    /// Reads all sections, whose bytes `each` gets in parts, with where they belong. Tells the size of the file.
    fn sections(&mut self, size: usize, mut each: impl FnMut(usize, &[u8])) -> Result<u64, Refusal> {
        let (mut count, mut at) = (0, self.start);
        let mut chunk = vec![0; CHUNK];
        loop {
            let mut head = [0; 16];
            self.file.read_exact(&mut head)?;
            let number = |from: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[from + byte]));
            let (offset, bytes) = (number(0), number(8));
            let mut sum = Hasher::new();
            sum.update(&head);
            if offset == END && bytes == count {
                Self::sum(&mut self.file, sum, || "its end".into())?;
                return self.nothing_more(at + 20);
            }
            let inside = offset.checked_add(bytes).is_some_and(|end| end <= size as u64) && offset.is_multiple_of(8);
            if !inside {
                return unfit(format!("the file is damaged: section {} lies nowhere", count + 1));
            }
            self.section(offset as usize, bytes as usize, sum, count + 1, &mut chunk, &mut each)?;
            at += 20 + bytes;
            count += 1;
        }
    }

    fn section(
        &mut self,
        offset: usize,
        bytes: usize,
        mut sum: Hasher,
        number: u64,
        chunk: &mut [u8],
        each: &mut impl FnMut(usize, &[u8]),
    ) -> Result<(), Refusal> {
        for from in (0..bytes).step_by(CHUNK) {
            let part = &mut chunk[..CHUNK.min(bytes - from)];
            self.file.read_exact(part)?;
            sum.update(part);
            each(offset + from, part);
        }
        Self::sum(&mut self.file, sum, || format!("section {number}"))
    }

    fn nothing_more(&mut self, at: u64) -> Result<u64, Refusal> {
        let mut byte = [0];
        if self.file.read(&mut byte)? == 0 { Ok(at) } else { unfit("something follows the end of the snapshot") }
    }
}

/// A table's description, a line each for what can differ.
fn describe(schema: &Schema) -> String {
    let keys = match schema.keys {
        Keys::Text { longest } => format!("keys of up to {longest} bytes"),
        Keys::Ids { most } => format!("ids below {most}"),
    };
    let layout = match schema.layout {
        Layout::Rows => "rows",
        Layout::Columns => "columns",
    };
    let mut lines = vec![keys, format!("a layout by {layout}"), format!("room for {} rows", schema.rows)];
    let columns = schema.columns.iter().enumerate();
    lines.extend(columns.map(|(at, column)| format!("column {}, {:?}, of {}", at + 1, column.name, kind(column))));
    lines.extend(schema.indexes.iter().enumerate().map(|(at, index)| {
        let names: Vec<_> = index.columns.iter().filter_map(|column| schema.columns.get(*column)).collect();
        let names: Vec<_> = names.iter().map(|column| format!("{:?}", column.name)).collect();
        format!("index {}, {:?}, on {}", at + 1, index.name, names.join(" and "))
    }));
    lines.join("\n")
}

fn kind(column: &Column) -> String {
    match column.kind {
        Kind::Int { bytes, signed } => {
            format!("{} integers of {bytes} bytes", if signed { "signed" } else { "unsigned" })
        }
        Kind::Float => "floats".into(),
        Kind::Text { longest } => format!("texts of up to {longest} bytes"),
        Kind::Dictionary { longest, most } => format!("{most} different texts of up to {longest} bytes"),
    }
}
