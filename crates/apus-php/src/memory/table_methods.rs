//! The methods that `Apus\Table` and `Apus\ColumnTable` share, declared once: only what names a row differs.

/// The methods of a table whose rows are named by `$key` (`"string"` or `"int"`), with its documentation.
macro_rules! table_methods {
    ($constructor:expr, $key:literal, $key_doc:literal) => {
        &[
            $constructor,
            Method {
                decl: "public function column(string $name, int $type, int $size = 0): bool",
                doc: "Describes a column. To be called before create().\n\
                      @param string $name 1 to 64 bytes, no number, unique in the table; at most 128 columns\n\
                      @param int $type one of the TYPE_ constants\n\
                      @param int $size for TYPE_STRING and dictionaries: bytes of the longest text, 1 to 67,108,863 (required; a row takes \
                      what its text needs, not this); for TYPE_INT: 1, 2 or 4 bytes, anything else means 8; else without effect\n\
                      @return bool true\n\
                      @throws \\ValueError for an unknown type, or a size out of its limits\n\
                      @throws \\Apus\\TableException COLUMN for a bad name or too many columns, STATE after create()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table::column)),
            },
            Method {
                decl: "public function index(string $name, array|string $columns): bool",
                doc: "Describes an ordered index, by which find(), range(), select() and countRange() look for rows. To be called before \
                      create(), after its columns. Each write keeps the indexes right; a table with indexes has one writer at a time.\n\
                      @param string $name 1 to 64 bytes, unique among the indexes; at most 16 indexes\n\
                      @param array|string $columns one column, or two: rows are ordered by the first, then by the second. Texts are ordered by \
                      their bytes\n\
                      @return bool true\n\
                      @throws \\Apus\\TableException COLUMN for a bad name or unknown columns, STATE after create()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table::index)),
            },
            Method {
                decl: "public function create(): bool",
                doc: "Makes the table, in memory that processes forked from now on share. Address space for all rows is reserved; memory \
                      is taken when rows come. Sets $size and $memorySize.\n\
                      @return bool true\n\
                      @throws \\Apus\\TableException STATE when it exists already, COLUMN without columns, NO_MEMORY when the system gives no \
                      address space\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table::create)),
            },
            Method {
                decl: "public function destroy(): bool",
                doc: "Gives the table up in this process; others keep it, and its memory is freed when the last one has. Nothing else can be \
                      done with the object afterwards.\n\
                      @return bool true\n\
                      @throws \\Apus\\TableException STATE before create()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table::destroy)),
            },
            Method {
                decl: concat!("public function set(", $key, " $key, array $value): bool"),
                doc: concat!(
                    "Makes a row, or changes the given columns of one; all of them at once: no reader sees some old and some new. Columns of a new \
                     row that are not given are 0, 0.0 or ''. Numbers, numeric texts, booleans and null are converted where nothing is lost.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @param array $value column => value\n\
                     @return bool true\n\
                     @throws \\Apus\\TableException FULL, KEY, COLUMN, TYPE, RANGE, TOO_LONG, NO_MEMORY: nothing has changed then\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::set)),
            },
            Method {
                decl: concat!("public function insert(", $key, " $key, array $value): bool"),
                doc: concat!(
                    "Makes a row that is not there.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @param array $value column => value, as for set()\n\
                     @return bool false when there is a row of that key: nothing has changed then\n\
                     @throws \\Apus\\TableException as set()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::insert)),
            },
            Method {
                decl: concat!("public function update(", $key, " $key, array $value): bool"),
                doc: concat!(
                    "Changes the given columns of a row that is there, all at once.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @param array $value column => value, as for set()\n\
                     @return bool false when there is no row of that key\n\
                     @throws \\Apus\\TableException as set()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::update)),
            },
            Method {
                decl: concat!("public function get(", $key, " $key, ?string $field = null): array|string|int|float|false"),
                doc: concat!(
                    "Reads a row, or one column of it, as it was at one moment. Takes no lock.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @param string|null $field a column; null for the row\n\
                     @return array|string|int|float|false column => value in the order of the columns, or the value; false when there is no row\n\
                     @throws \\Apus\\TableException COLUMN for an unknown column, STATE before create()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::get)),
            },
            Method {
                decl: concat!("public function getdel(", $key, " $key): array|false"),
                doc: concat!(
                    "Reads a row and removes it in one step: of several processes that try, one gets it.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @return array|false the row; false when there is none\n\
                     @throws \\Apus\\TableException STATE before create()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::getdel)),
            },
            Method {
                decl: concat!("public function del(", $key, " $key): bool"),
                doc: concat!(
                    "Removes a row.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @return bool false when there is none\n\
                     @throws \\Apus\\TableException STATE before create()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::del)),
            },
            Method {
                decl: concat!("public function delete(", $key, " $key): bool"),
                doc: "The same as del().\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::del)),
            },
            Method {
                decl: concat!("public function exists(", $key, " $key): bool"),
                doc: concat!(
                    "Whether there is a row.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @throws \\Apus\\TableException STATE before create()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::exists)),
            },
            Method {
                decl: concat!("public function exist(", $key, " $key): bool"),
                doc: "The same as exists().\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::exists)),
            },
            Method {
                decl: concat!("public function incr(", $key, " $key, string $column, int|float $incrby = 1): int|float"),
                doc: concat!(
                    "Adds to a number in one step. A row that is not there is made, with 0 in its columns.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @param string $column a column of integers or floats\n\
                     @param int|float $incrby what to add; to a column of integers, a whole number\n\
                     @return int|float the new value\n\
                     @throws \\Apus\\TableException COLUMN, TYPE for a column of texts, RANGE when the result does not fit (the row stays as it \
                     was), FULL, KEY, STATE\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::incr)),
            },
            Method {
                decl: concat!("public function decr(", $key, " $key, string $column, int|float $incrby = 1): int|float"),
                doc: "The same as incr(), but takes $incrby away.\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::decr)),
            },
            Method {
                decl: concat!("public function cmpset(", $key, " $key, string $column, mixed $expected, mixed $new): bool"),
                doc: concat!(
                    "Changes one column if it holds what is expected, in one step.\n\
                     @param ", $key, " $key ", $key_doc, "\n\
                     @param string $column a column\n\
                     @param mixed $expected the value that it must have, converted as in set()\n\
                     @param mixed $new the value that it then gets\n\
                     @return bool false when it held something else, or there is no row\n\
                     @throws \\Apus\\TableException as set()\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_rows::cmpset)),
            },
            Method {
                decl: "public function clear(): void",
                doc: "Removes all rows, at once for every process, and gives their memory back.\n\
                      @throws \\Apus\\TableException STATE before create()\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::clear)),
            },
            Method {
                decl: "public function count(): int",
                doc: "How many rows there are; 0 before create().\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::count)),
            },
            Method {
                decl: "public function getSize(): int",
                doc: "How many rows fit.\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::get_size)),
            },
            Method {
                decl: "public function getMemorySize(): int",
                doc: "Bytes of memory that the table has taken so far, over all processes; 0 before create().\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::get_memory_size)),
            },
            Method {
                decl: "public function stats(): array|false",
                doc: "Counts of the table: num (rows), insert_count, update_count, delete_count, conflict_count and conflict_max_level (keys that \
                      shared a place), available_slice_num and total_slice_num (rows that still fit, and in all), memory_used and \
                      memory_reserved in bytes.\n\
                      @return array|false name => number\n\
                      @throws \\Apus\\TableException STATE before create()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table_rows::stats)),
            },
            Method {
                decl: "public function find(string $index, mixed $value, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false): array",
                doc: concat!(
                    "The keys of the rows that have a value in an index.\n\
                     @param string $index its name\n\
                     @param mixed $value the value of its first column; or an array with the values of its first, or of both, columns\n\
                     @param int $limit most keys, 0 or more\n\
                     @param int $offset keys that are passed over first, 0 or more\n\
                     @param bool $descending from the end of the order\n\
                     @return array list of keys (", $key, ") in the index's order\n\
                     @throws \\Apus\\TableException COLUMN for an unknown index, TYPE, RANGE or TOO_LONG for a value that its column cannot hold, \
                     STATE before create() and while the indexes are deferred\n\
                     @throws \\ValueError for too many values, a negative limit or offset\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_query::find)),
            },
            Method {
                decl: "public function range(string $index, mixed $from = null, mixed $to = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array",
                doc: concat!(
                    "The keys of the rows that lie in a part of an index.\n\
                     @param string $index its name\n\
                     @param mixed $from where it begins, included; null: at the start. A value of the first column, or, in an index of two, \
                     [value of the first, bound of the second]\n\
                     @param mixed $to where it ends, included; null: at the end. Where one of both gives the first column's value in an array of \
                     two, that holds for both: range('user_date', [7, 100], null) is all of user 7 from 100 on\n\
                     @param int $limit most keys, 0 or more\n\
                     @param int $offset keys that are passed over first, 0 or more\n\
                     @param bool $descending from the end of the part to its beginning\n\
                     @param bool $exclusive rows at $from and at $to themselves are left out\n\
                     @return array list of keys (", $key, ") in the index's order\n\
                     @throws \\Apus\\TableException as find()\n\
                     @throws \\ValueError for too many values, different first values, a negative limit or offset\n\
                     Does not wait.\n@since 0.1.0"
                ),
                handler: Some(handler!(table_query::range)),
            },
            Method {
                decl: "public function countRange(string $index, mixed $from = null, mixed $to = null, bool $exclusive = false): int",
                doc: "How many rows range() would find.\n\
                      @param string $index its name\n\
                      @param mixed $from as for range()\n\
                      @param mixed $to as for range()\n\
                      @param bool $exclusive as for range()\n\
                      @throws \\Apus\\TableException as find()\n\
                      @throws \\ValueError for too many values, or different first values\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table_query::count_range)),
            },
            Method {
                decl: "public function fetch(array $keys, ?array $columns = null): array",
                doc: "Reads many rows: each as it was at one moment, not all of the same moment.\n\
                      @param array $keys the keys\n\
                      @param array|null $columns names of columns; null for all\n\
                      @return array key => row, in the order of the keys; those without a row are left out\n\
                      @throws \\Apus\\TableException COLUMN, KEY for a key that is none, STATE before create()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table_query::fetch)),
            },
            Method {
                decl: "public function select(string $index, mixed $from = null, mixed $to = null, ?array $columns = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array",
                doc: "The rows that lie in a part of an index: what range() finds, read as fetch() reads it. A row that others move or \
                      remove meanwhile is left out or read as it was, never half.\n\
                      @param string $index its name\n\
                      @param mixed $from as for range()\n\
                      @param mixed $to as for range()\n\
                      @param array|null $columns names of columns; null for all\n\
                      @param int $limit most rows, 0 or more\n\
                      @param int $offset rows that are passed over first, 0 or more\n\
                      @param bool $descending from the end of the part to its beginning\n\
                      @param bool $exclusive rows at $from and at $to themselves are left out\n\
                      @return array key => row in the index's order\n\
                      @throws \\Apus\\TableException as find()\n\
                      @throws \\ValueError as range()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(table_query::select)),
            },
            Method {
                decl: "public function loadJson(mixed $source, string $member = '', ?callable $progress = null, string $key = 'id'): int",
                doc: "Makes or changes a row for each object of a JSON array, or of objects one after the other, while reading: the whole is \
                      never in memory. An object has a member for the key, one for each column, and no others; it takes at most 16 MiB. Rows \
                      before an error have been loaded.\n\
                      @param mixed $source path of a file, or a stream that is open for reading\n\
                      @param string $member the member of the outermost object that holds the array; '' when the array, or the objects, are the outermost value\n\
                      @param callable|null $progress fn(int $rows, int $bytes): ?bool, called every 16,384 rows and at the end with what was loaded \
                      and read so far; false stops\n\
                      @param string $key the member that holds the row's key\n\
                      @return int rows loaded, also when $progress stopped it or the coroutine was cancelled\n\
                      @throws \\Apus\\TableException FILE with the name, the offset and the reason, STATE before create()\n\
                      @throws \\TypeError for a source that is neither\n\
                      In a coroutine, others run now and then. Waits as the stream does.\n@since 0.1.0",
                handler: Some(handler!(bulk::load_json)),
            },
            Method {
                decl: "public function loadCsv(mixed $source, ?array $columns = null, ?callable $progress = null, string $separator = ',', string $key = 'id'): int",
                doc: "Makes or changes a row for each line of CSV (RFC 4180: fields may be quoted with \", and then hold separators, line ends and \
                      doubled quotes), while reading. Columns without a field are 0, 0.0 or '' in new rows. A line takes at most 16 MiB; lines before an \
                      error have been loaded.\n\
                      @param mixed $source path of a file, or a stream that is open for reading\n\
                      @param array|null $columns what the fields are, in their order, '' for one that is passed over; null: the first line says it\n\
                      @param callable|null $progress as for loadJson()\n\
                      @param string $separator one byte, no quote or line end\n\
                      @param string $key the field that holds the row's key\n\
                      @return int rows loaded, also when $progress stopped it or the coroutine was cancelled\n\
                      @throws \\Apus\\TableException FILE with the name, the line and the reason, STATE before create()\n\
                      @throws \\TypeError for a source that is neither\n\
                      @throws \\ValueError for a separator that is not one byte\n\
                      In a coroutine, others run now and then. Waits as the stream does.\n@since 0.1.0",
                handler: Some(handler!(bulk::load_csv)),
            },
            Method {
                decl: "public function deferIndexes(): void",
                doc: "From now on writes leave the indexes as they are, and queries throw STATE, until buildIndexes(): for bulk loads, by several \
                      processes at once if wanted.\n\
                      @throws \\Apus\\TableException STATE before create()\n\
                      Does not wait.\n@since 0.1.0",
                handler: Some(handler!(bulk::defer_indexes)),
            },
            Method {
                decl: "public function buildIndexes(): void",
                doc: "Builds all indexes from the rows, packed, and ends deferIndexes(). Other processes that write wait for it, readers of rows \
                      do not.\n\
                      @throws \\Apus\\TableException NO_MEMORY, STATE before create()\n\
                      In a coroutine, others run meanwhile.\n@since 0.1.0",
                handler: Some(handler!(bulk::build_indexes)),
            },
            Method {
                decl: "public function save(string $path): int",
                doc: "Writes a snapshot of the table to a file, with a checksum; the file replaces an older one when it is complete, so a crash \
                      leaves the old one or the new one.\n\
                      @param string $path the file\n\
                      @return int its bytes; 0 when the coroutine was cancelled meanwhile: the file is written all the same\n\
                      @throws \\Apus\\TableException FILE when it cannot be written, STATE before create()\n\
                      In a coroutine, others run meanwhile. Writers of all processes wait while rows are read.\n@since 0.1.0",
                handler: Some(handler!(bulk::save)),
            },
            Method {
                decl: "public function restore(string $path): int",
                doc: "Replaces all rows by those of a snapshot of a table with the same description.\n\
                      @param string $path the file\n\
                      @return int rows; 0 when the coroutine was cancelled meanwhile: they are restored all the same\n\
                      @throws \\Apus\\TableException FILE when it is missing, torn, damaged or of another table: the rows stay as they were\n\
                      In a coroutine, others run meanwhile.\n@since 0.1.0",
                handler: Some(handler!(bulk::restore)),
            },
            Method {
                decl: "public function rewind(): void",
                doc: "Goes to the first row, for foreach. The object has one cursor: loops over it inside each other share it. Rows that are there \
                      all the time come exactly once, others perhaps. The order is the table's own.\n\
                      @throws \\Apus\\TableException STATE before create()\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_iterate::rewind)),
            },
            Method {
                decl: "public function valid(): bool",
                doc: "Whether the cursor stands on a row.\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_iterate::valid)),
            },
            Method {
                decl: "public function next(): void",
                doc: "Goes to the next row.\n@throws \\Apus\\TableException STATE before create()\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_iterate::next)),
            },
            Method {
                decl: "public function current(): mixed",
                doc: "The row on which the cursor stands, as it was when the cursor came there; null outside.\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_iterate::current)),
            },
            Method {
                decl: "public function key(): mixed",
                doc: "The key of that row; null outside.\nDoes not wait.\n@since 0.1.0",
                handler: Some(handler!(table_iterate::key)),
            },
        ]
    };
}
pub(super) use table_methods;
