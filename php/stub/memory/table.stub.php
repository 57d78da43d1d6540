<?php

namespace Apus;

/**
 * What columns of tables hold.
 */
trait Columns
{
    /**
     * Signed integers of 8 bytes, or of 1, 2 or 4 when column() is given that size.
     * @rust table::TYPE_INT
     */
    public const TYPE_INT = 1;

    /**
     * Floats.
     * @rust table::TYPE_FLOAT
     */
    public const TYPE_FLOAT = 2;

    /**
     * Texts of up to the given number of bytes; a row takes what its text needs.
     * @rust table::TYPE_STRING
     */
    public const TYPE_STRING = 3;

    /**
     * Integers from 0 to 255, in one byte.
     * @rust table::TYPE_UINT8
     */
    public const TYPE_UINT8 = 16;

    /**
     * Integers from -128 to 127, in one byte.
     * @rust table::TYPE_INT8
     */
    public const TYPE_INT8 = 17;

    /**
     * Integers from 0 to 65,535, in two bytes.
     * @rust table::TYPE_UINT16
     */
    public const TYPE_UINT16 = 18;

    /**
     * Integers from -32,768 to 32,767, in two bytes.
     * @rust table::TYPE_INT16
     */
    public const TYPE_INT16 = 19;

    /**
     * Integers from 0 to 4,294,967,295, in four bytes.
     * @rust table::TYPE_UINT32
     */
    public const TYPE_UINT32 = 20;

    /**
     * Integers from -2,147,483,648 to 2,147,483,647, in four bytes.
     * @rust table::TYPE_INT32
     */
    public const TYPE_INT32 = 21;

    /**
     * Integers from 0 to PHP_INT_MAX, in eight bytes.
     * @rust table::TYPE_UINT64
     */
    public const TYPE_UINT64 = 22;

    /**
     * All integers, in eight bytes.
     * @rust table::TYPE_INT64
     */
    public const TYPE_INT64 = 23;

    /**
     * Texts with few different values: each is stored once, a row takes two bytes. Up to 65,535 different ones besides
     * ''; they stay until clear().
     * @rust table::TYPE_DICTIONARY
     */
    public const TYPE_DICTIONARY = 32;

    /**
     * The same with four bytes a row, for as many different texts as rows fit, from 65,536 to 16,777,215.
     * @rust table::TYPE_DICTIONARY32
     */
    public const TYPE_DICTIONARY32 = 33;

    /** Rows that fit; null before create(). */
    public $size = null;

    /** Bytes of memory that create() took; null before. getMemorySize() tells what rows have taken since. */
    public $memorySize = null;
}

/**
 * What tables can do: rows are found by keys of the type Key.
 */
trait Rows
{
    // @rust module table

    /**
     * Describes a column. Call it before create().
     * @param string $name 1 to 64 bytes, not a number, unique in the table; at most 128 columns
     * @param int $type one of the TYPE_ constants
     * @param int $size for TYPE_STRING and dictionaries: bytes of the longest text, 1 to 67,108,863 (required; a row
     * takes what its text needs, not this); for TYPE_INT: 1, 2 or 4 bytes, anything else means 8; else without effect
     * @return bool true
     * @throws \ValueError for an unknown type, or a size out of range
     * @throws \Apus\TableException COLUMN for a bad name or too many columns, STATE after create()
     * Does not wait.
     */
    public function column(string $name, int $type, int $size = 0): bool {}

    /**
     * Describes an ordered index, with which find(), range(), select() and countRange() look for rows. Call it before
     * create(), after its columns. Each write updates the indexes; a table with indexes has one writer at a time.
     * @param string $name 1 to 64 bytes, unique among the indexes; at most 16 indexes
     * @param array|string $columns one column, or two: rows are ordered by the first, then by the second. Texts are
     * ordered by their bytes
     * @return bool true
     * @throws \Apus\TableException COLUMN for a bad name or unknown columns, STATE after create()
     * Does not wait.
     */
    public function index(string $name, array|string $columns): bool {}

    /**
     * Creates the table, in memory that is shared with processes forked from now on. Address space for all rows is
     * reserved; memory is taken as rows are added. Sets $size and $memorySize.
     * @return bool true
     * @throws \Apus\TableException STATE when it exists already, COLUMN without columns, NO_MEMORY when the system
     * provides no address space
     * Does not wait.
     */
    public function create(): bool {}

    /**
     * Releases the table in this process; others keep it, and its memory is freed when the last one has released it.
     * Nothing else can be done with the object afterwards.
     * @return bool true
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function destroy(): bool {}

    // @rust module table_rows

    /**
     * Creates a row, or changes the given columns of one, all of them at once: no reader sees some old and some new.
     * Columns of a new row that are not given are 0, 0.0 or ''. Numbers, numeric texts, booleans and null are converted
     * if nothing is lost.
     * @param Key $key KeyText
     * @param array $value column => value
     * @return bool true
     * @throws \Apus\TableException FULL, KEY, COLUMN, TYPE, RANGE, TOO_LONG, NO_MEMORY: then nothing is changed
     * Does not wait.
     */
    public function set(Key $key, array $value): bool {}

    /**
     * Creates a row that does not exist.
     * @param Key $key KeyText
     * @param array $value column => value, as for set()
     * @return bool false when there is a row with that key: then nothing is changed
     * @throws \Apus\TableException as set()
     * Does not wait.
     */
    public function insert(Key $key, array $value): bool {}

    /**
     * Changes the given columns of an existing row, all at once.
     * @param Key $key KeyText
     * @param array $value column => value, as for set()
     * @return bool false when there is no row with that key
     * @throws \Apus\TableException as set()
     * Does not wait.
     */
    public function update(Key $key, array $value): bool {}

    /**
     * Reads a row, or one column of it, as it was at one moment. Takes no lock.
     * @param Key $key KeyText
     * @param string|null $field a column; null for the row
     * @return array|string|int|float|false column => value in the order of the columns, or the value; false when there
     * is no row
     * @throws \Apus\TableException COLUMN for an unknown column, STATE before create()
     * Does not wait.
     */
    public function get(Key $key, ?string $field = null): array|string|int|float|false {}

    /**
     * Reads a row and removes it in one step: of several processes that try, only one gets it.
     * @param Key $key KeyText
     * @return array|false the row; false when there is none
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function getdel(Key $key): array|false {}

    /**
     * Removes a row.
     * @param Key $key KeyText
     * @return bool false when there is none
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function del(Key $key): bool {}

    /**
     * The same as del().
     * Does not wait.
     * @rust table_rows::del
     */
    public function delete(Key $key): bool {}

    /**
     * Whether there is a row.
     * @param Key $key KeyText
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function exists(Key $key): bool {}

    /**
     * The same as exists().
     * Does not wait.
     * @rust table_rows::exists
     */
    public function exist(Key $key): bool {}

    /**
     * Adds to a number in one step. A missing row is created, with 0 in its columns.
     * @param Key $key KeyText
     * @param string $column a column of integers or floats
     * @param int|float $incrby what to add; to a column of integers, a whole number
     * @return int|float the new value
     * @throws \Apus\TableException COLUMN, TYPE for a column of texts, RANGE when the result does not fit (the row
     * stays as it was), FULL, KEY, STATE
     * Does not wait.
     */
    public function incr(Key $key, string $column, int|float $incrby = 1): int|float {}

    /**
     * The same as incr(), but subtracts $incrby.
     * Does not wait.
     */
    public function decr(Key $key, string $column, int|float $incrby = 1): int|float {}

    /**
     * Changes one column if it has the expected value, in one step.
     * @param Key $key KeyText
     * @param string $column a column
     * @param mixed $expected the value that it must have, converted as in set(); floats are compared by their bits
     * @param mixed $new the value that it is then given
     * @return bool false when it has another value, or there is no row
     * @throws \Apus\TableException as set()
     * Does not wait.
     */
    public function cmpset(Key $key, string $column, mixed $expected, mixed $new): bool {}

    /**
     * Removes all rows, at once for every process, and gives their memory back.
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function clear(): void {}

    /**
     * How many rows there are; 0 before create().
     * Does not wait.
     */
    public function count(): int {}

    /**
     * How many rows fit.
     * Does not wait.
     */
    public function getSize(): int {}

    /**
     * Bytes of memory that the table has taken so far, over all processes; 0 before create().
     * Does not wait.
     */
    public function getMemorySize(): int {}

    /**
     * Counts of the table: num (rows), insert_count, update_count, delete_count, conflict_count and conflict_max_level
     * (keys that collided), available_slice_num and total_slice_num (rows that still fit, and in all), memory_used and
     * memory_reserved in bytes.
     * @return array|false name => number
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function stats(): array|false {}

    // @rust module table_query

    /**
     * The keys of the rows that have a value in an index.
     * @param string $index its name
     * @param mixed $value the value of its first column; or an array with the values of its first, or of both, columns
     * @param int $limit maximum number of keys, 0 or more
     * @param int $offset keys to skip first, 0 or more
     * @param bool $descending from the end of the order
     * @return array list of keys (Key) in the index's order
     * @throws \Apus\TableException COLUMN for an unknown index, TYPE, RANGE or TOO_LONG for a value that its column
     * cannot hold, STATE before create() and while the indexes are deferred
     * @throws \ValueError for too many values, a negative limit or offset
     * Does not wait.
     */
    public function find(string $index, mixed $value, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false): array {}

    /**
     * The keys of the rows in a part of an index.
     * @param string $index its name
     * @param mixed $from where it begins, included; null: at the start. A value of the first column, or, in an index of
     * two, [value of the first, bound of the second]
     * @param mixed $to where it ends, included; null: at the end. If one of them gives the first column's value in an
     * array of two, it applies to both: range('user_date', [7, 100], null) is all of user 7 from 100 on
     * @param int $limit maximum number of keys, 0 or more
     * @param int $offset keys to skip first, 0 or more
     * @param bool $descending from the end of the part to its beginning
     * @param bool $exclusive rows at $from and at $to themselves are left out
     * @return array list of keys (Key) in the index's order
     * @throws \Apus\TableException as find()
     * @throws \ValueError for too many values, different first values, a negative limit or offset
     * Does not wait.
     */
    public function range(string $index, mixed $from = null, mixed $to = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array {}

    /**
     * How many rows range() would find.
     * @param string $index its name
     * @param mixed $from as for range()
     * @param mixed $to as for range()
     * @param bool $exclusive as for range()
     * @throws \Apus\TableException as find()
     * @throws \ValueError for too many values, or different first values
     * Does not wait.
     */
    public function countRange(string $index, mixed $from = null, mixed $to = null, bool $exclusive = false): int {}

    /**
     * Reads many rows: each as it was at one moment, but not all at the same moment.
     * @param array $keys the keys
     * @param array|null $columns names of columns; null for all
     * @return array key => row, in the order of the keys; those without a row are left out
     * @throws \Apus\TableException COLUMN, KEY for an invalid key, STATE before create()
     * Does not wait.
     */
    public function fetch(array $keys, ?array $columns = null): array {}

    /**
     * The rows in a part of an index: what range() finds, read as fetch() reads it. A row that other processes move or
     * remove meanwhile is left out or read as it was, never half.
     * @param string $index its name
     * @param mixed $from as for range()
     * @param mixed $to as for range()
     * @param array|null $columns names of columns; null for all
     * @param int $limit maximum number of rows, 0 or more
     * @param int $offset rows to skip first, 0 or more
     * @param bool $descending from the end of the part to its beginning
     * @param bool $exclusive rows at $from and at $to themselves are left out
     * @return array key => row in the index's order
     * @throws \Apus\TableException as find()
     * @throws \ValueError as range()
     * Does not wait.
     */
    public function select(string $index, mixed $from = null, mixed $to = null, ?array $columns = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array {}

    // @rust module bulk

    /**
     * Creates or changes a row for each object of a JSON array, or of a sequence of objects, while reading: the whole
     * is never in memory. An object has a member for the key, one for each column, and no others; it takes at most 16
     * MiB. Rows before an error have been loaded.
     * @param mixed $source path of a file, or a stream that is open for reading
     * @param string $member the member of the outermost object that holds the array; '' when the array, or the objects,
     * are the outermost value
     * @param callable|null $progress fn(int $rows, int $bytes): ?bool, called every 16,384 rows and at the end with
     * what was loaded and read so far; false stops
     * @param string $key the member that holds the row's key
     * @return int rows loaded, also when $progress stopped it or the coroutine was cancelled
     * @throws \Apus\TableException FILE with the name, the offset and the reason, STATE before create()
     * @throws \TypeError for a source that is neither
     * In a coroutine, others run from time to time. Waits as the stream does.
     */
    public function loadJson(mixed $source, string $member = '', ?callable $progress = null, string $key = 'id'): int {}

    /**
     * Creates or changes a row for each line of CSV (RFC 4180: fields may be quoted with ", and then hold separators,
     * line ends and doubled quotes), while reading. Columns without a field are 0, 0.0 or '' in new rows. A line takes
     * at most 16 MiB; lines before an error have been loaded.
     * @param mixed $source path of a file, or a stream that is open for reading
     * @param array|null $columns the names of the fields, in order, '' for one to skip; null: the first line has them
     * @param callable|null $progress as for loadJson()
     * @param string $separator one byte, not a quote or line end
     * @param string $key the field that holds the row's key
     * @return int rows loaded, also when $progress stopped it or the coroutine was cancelled
     * @throws \Apus\TableException FILE with the name, the line and the reason, STATE before create()
     * @throws \TypeError for a source that is neither
     * @throws \ValueError for a separator that is not one byte
     * In a coroutine, others run from time to time. Waits as the stream does.
     */
    public function loadCsv(mixed $source, ?array $columns = null, ?callable $progress = null, string $separator = ',', string $key = 'id'): int {}

    /**
     * From now on writes leave the indexes as they are, and queries throw STATE, until buildIndexes(): for bulk loads,
     * also by several processes at once.
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function deferIndexes(): void {}

    /**
     * Builds all indexes from the rows, packed, and ends deferIndexes(). Writers in other processes wait for it,
     * readers of rows do not.
     * @throws \Apus\TableException NO_MEMORY, STATE before create()
     * In a coroutine, others run meanwhile.
     */
    public function buildIndexes(): void {}

    /**
     * Writes a snapshot of the table to a file, with a checksum; the file replaces an older one when it is complete, so
     * a crash leaves the old one or the new one.
     * @param string $path the file
     * @return int its bytes; 0 when the coroutine was cancelled meanwhile: the file is written nevertheless
     * @throws \Apus\TableException FILE when it cannot be written, STATE before create()
     * In a coroutine, others run meanwhile. Writers of all processes wait while rows are read.
     */
    public function save(string $path): int {}

    /**
     * Replaces all rows with those of a snapshot of a table with the same description.
     * @param string $path the file
     * @return int rows; 0 when the coroutine was cancelled meanwhile: they are restored nevertheless
     * @throws \Apus\TableException FILE when it is missing, incomplete, damaged or of another table: the rows stay as
     * they were
     * In a coroutine, others run meanwhile.
     */
    public function restore(string $path): int {}

    // @rust module table_iterate

    /**
     * Goes to the first row, for foreach. The object has one cursor: nested loops over it share it. Rows that exist all
     * the time come exactly once, others may or may not come. The order is the table's own.
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function rewind(): void {}

    /**
     * Whether the cursor is on a row.
     * Does not wait.
     */
    public function valid(): bool {}

    /**
     * Goes to the next row.
     * @throws \Apus\TableException STATE before create()
     * Does not wait.
     */
    public function next(): void {}

    /**
     * The row on which the cursor is, as it was when the cursor got there; null outside.
     * Does not wait.
     */
    public function current(): mixed {}

    /**
     * The key of that row; null outside.
     * Does not wait.
     */
    public function key(): mixed {}
}

/**
 * Rows with typed columns in memory that processes share, found by a text key. Create it before the processes are
 * forked (before Server::start()); then each reads and writes all rows. Readers take no lock and never see a
 * half-written row; a process that is killed in the middle of a write leaves the row as it was or as it was to become.
 * @rust slots
 */
class Table implements \Iterator, \Countable
{
    // @rust typed
    // @rust let Key = string
    // @rust let KeyText = 1 to 1,024 bytes

    use Columns;

    /**
     * @param int $table_size rows that fit, 1 to 1,073,741,824; exactly as many, whatever their keys are
     * @param float $conflict_proportion accepted for programs that pass it; keys that collide cost nothing extra here
     * @throws \ValueError for less or more
     * @rust table::construct_rows
     */
    public function __construct(int $table_size, float $conflict_proportion = 0.2) {}

    use Rows;
}

/**
 * Rows with typed columns in memory that processes share, found by an integer id from 0 on. Each column is a separate
 * array, so a row takes no more than its values: for many rows with dense ids. Otherwise it is like Apus\Table.
 */
class ColumnTable implements \Iterator, \Countable
{
    // @rust typed
    // @rust let Key = int
    // @rust let KeyText = its id, from 0 to the greatest one

    use Columns;

    /**
     * @param int $maxId the greatest id, 0 to 4,294,967,294; memory is taken for ids that are used
     * @throws \ValueError for less or more
     * @rust table::construct_ids
     */
    public function __construct(int $maxId) {}

    use Rows;
}
