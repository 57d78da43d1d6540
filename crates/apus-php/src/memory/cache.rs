//! `Apus\Cache`: what processes remember together.

use std::time::Duration;

use apus_shm::{CACHE_LEAST, CACHE_MOST, Cache, CacheError, Found, Stored};
use apus_zend::class::{Class, Method};
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, handler, native};

use super::cache_remember::{self, Makers};
use super::pack;
use crate::exception::{self, CACHE, entry};

/// Seconds of the longest time that is told from none: a hundred years.
const LONGEST: f64 = 3.2e9;

/// What is behind the PHP object.
pub(super) struct Shared {
    pub(super) cache: Cache,
    /// Values that coroutines of this process make now.
    pub(super) makers: Makers,
}

native!(Shared, "Apus\\Cache");

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let given = call.int(0, 0)?;
    let bytes = usize::try_from(given).ok().filter(|bytes| (CACHE_LEAST..=CACHE_MOST).contains(bytes));
    let Some(bytes) = bytes else {
        let text = format!("must be from {CACHE_LEAST} (64 KiB) to {CACHE_MOST} (1 TiB) bytes, {given} given");
        return Err(call.value_error(0, &text));
    };
    match Cache::new(bytes) {
        Ok(cache) => call.construct(Shared { cache, makers: Makers::default() }),
        Err(error) => {
            let text = format!("no memory could be shared for a cache of {bytes} bytes: {error}");
            Err(exception::throw(&CACHE, "NO_MEMORY", &text))
        }
    }
}

/// What a refusal throws; the key is the first argument.
pub(super) fn refused(call: &Call, error: CacheError) -> Raise {
    match error {
        CacheError::Key { given } => call.value_error(0, &format!("must be a key of 1 to 1024 bytes, {given} given")),
        CacheError::TooLarge { .. } => {
            let text = format!("the entry has {error}: make the cache larger, or store less under one key");
            exception::throw(&CACHE, "TOO_LARGE", &text)
        }
        CacheError::NoInteger | CacheError::Overflow => {
            let key = String::from_utf8_lossy(call.bytes(0).unwrap_or_default()).into_owned();
            exception::throw(&CACHE, "TYPE", &format!("\"{key}\" was not changed: {error}"))
        }
    }
}

/// Seconds as a length of life: 0 for none that ends.
pub(super) fn life(call: &Call, index: usize) -> Result<Option<Duration>, Raise> {
    let seconds = call.float(index, 0.0)?;
    if seconds == 0.0 {
        return Ok(None);
    }
    let life = if seconds > 0.0 { Duration::try_from_secs_f64(seconds.min(LONGEST)).ok() } else { None };
    match life {
        Some(life) => Ok(Some(life)),
        None => Err(call.value_error(index, &format!("must be 0 or more seconds, {seconds:?} given"))),
    }
}

/// What was found, as PHP's value. PHP code may run when it is an object.
pub(super) fn value_of(found: Found, bytes: &[u8]) -> Result<Value, Raise> {
    match found {
        Found::Int(value) => Ok(Value::int(value)),
        Found::Bytes => pack::decode(bytes),
    }
}

/// Stores a value: integers as such, everything else packed, for which PHP code may run when it is an object.
pub(super) fn store(
    cache: &Cache,
    key: &[u8],
    value: &Value,
    life: Option<Duration>,
    only_new: bool,
) -> Result<Result<bool, CacheError>, Raise> {
    if let View::Int(value) = value.view() {
        return Ok(cache.set(key, Stored::Int(value), life, only_new));
    }
    let mut bytes = Vec::with_capacity(256);
    pack::encode(value, &mut bytes)?;
    Ok(cache.set(key, Stored::Bytes(&bytes), life, only_new))
}

fn get(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let mut bytes = Vec::new();
    let found = call.this::<Shared>()?.cache.get(call.bytes(0)?, &mut bytes);
    match found {
        Some(found) => call.ret(value_of(found, &bytes)?),
        None => call.ret(call.value(1)),
    }
}

fn put(call: &Call, only_new: bool) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let (key, life) = (call.bytes(0)?, life(call, 2)?);
    let stored = store(&call.this::<Shared>()?.cache, key, &call.value(1), life, only_new)?;
    call.ret(stored.map_err(|error| refused(call, error))?)
}

fn set(call: &Call) -> Result<(), Raise> {
    put(call, false)
}

fn add(call: &Call) -> Result<(), Raise> {
    put(call, true)
}

fn has(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    call.ret(call.this::<Shared>()?.cache.has(call.bytes(0)?))
}

fn delete(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    call.ret(call.this::<Shared>()?.cache.remove(call.bytes(0)?))
}

fn touch(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let life = life(call, 1)?;
    call.ret(call.this::<Shared>()?.cache.touch(call.bytes(0)?, life))
}

fn change(call: &Call, sign: i64) -> Result<(), Raise> {
    call.expect(1, 3)?;
    let life = life(call, 2)?;
    let added = match call.int(1, 1)?.checked_mul(sign) {
        Some(delta) => call.this::<Shared>()?.cache.add(call.bytes(0)?, delta, life),
        None => Err(CacheError::Overflow),
    };
    call.ret(added.map_err(|error| refused(call, error))?)
}

fn increment(call: &Call) -> Result<(), Raise> {
    change(call, 1)
}

fn decrement(call: &Call) -> Result<(), Raise> {
    change(call, -1)
}

fn clear(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.this::<Shared>()?.cache.clear();
    Ok(())
}

fn stats(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let stats = call.this::<Shared>()?.cache.stats();
    let mut array = Array::new(9)?;
    for (name, value) in [
        ("entries", stats.entries),
        ("used", stats.used),
        ("bytes", stats.bytes),
        ("longest", stats.longest),
        ("hits", stats.hits),
        ("misses", stats.misses),
        ("evictions", stats.evictions),
        ("expired", stats.expired),
        ("emptied", stats.emptied),
    ] {
        array.set_int(name.as_bytes(), value as i64)?;
    }
    call.ret(array)
}

/// `Apus\Cache`.
pub(crate) static CLASS: Class = Class {
    name: "Apus\\Cache",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A cache that processes share: make it before the server starts, and every worker reads and writes the same one. It takes a bounded number of\n\
          bytes; what was not read for long makes room for what is new, and any entry may be gone at any time. Keys have 1 to 1,024 bytes. Values are\n\
          copied in and out (Apus\\pack()); integers can be counted with. A process that is killed while it writes costs the entries of one partition,\n\
          never a wrong value.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct(int $bytes)",
            doc: "@param int $bytes that all entries may take, 64 KiB to 1 TiB; an entry takes its key and packed value, each to the next multiple of\n\
                  eight, and 40. Memory is taken as it fills. One entry may take half of a partition: of all below 8 MiB, of 4 to 8 MiB above, of a\n\
                  64th from 256 MiB on\n\
                  @throws \\ValueError for another size\n@throws \\Apus\\CacheException NO_MEMORY\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function get(string $key, mixed $default = null): mixed",
            doc: "@return mixed the value, or $default when it is not there\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get)),
        },
        Method {
            decl: "public function set(string $key, mixed $value, float $ttl = 0): bool",
            doc: "Stores a value in place of what was there.\n\
                  @param float $ttl seconds until it is gone; 0 for no end\n@return bool true\n\
                  @throws \\ValueError for a key of another length, or a negative time\n\
                  @throws \\Apus\\CacheException TOO_LARGE, and what was there stays\n\
                  @throws \\Apus\\PackException for what cannot be packed\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set)),
        },
        Method {
            decl: "public function add(string $key, mixed $value, float $ttl = 0): bool",
            doc: "Stores a value unless one is there.\n\
                  @param float $ttl as for set()\n@return bool false: there is one, and it stays\n\
                  @throws \\ValueError and exceptions as set()\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(add)),
        },
        Method {
            decl: "public function has(string $key): bool",
            doc: "Whether a key is there now. It may be gone at the next call: take get() and its default where the value is wanted.\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(has)),
        },
        Method {
            decl: "public function delete(string $key): bool",
            doc: "@return bool false when it was not there\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(delete)),
        },
        Method {
            decl: "public function touch(string $key, float $ttl): bool",
            doc: "Gives an entry another end.\n@param float $ttl seconds from now; 0 for no end\n\
                  @return bool false when it is not there\n@throws \\ValueError for a negative time\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(touch)),
        },
        Method {
            decl: "public function increment(string $key, int $by = 1, float $ttl = 0): int",
            doc: "Adds to an integer in one step; one that is not there begins at 0.\n\
                  @param float $ttl seconds for one that is not there; one that is keeps its end\n@return int the sum\n\
                  @throws \\Apus\\CacheException TYPE when what is there is no integer, or the sum is out of range; it stays\n\
                  @throws \\ValueError as set()\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(increment)),
        },
        Method {
            decl: "public function decrement(string $key, int $by = 1, float $ttl = 0): int",
            doc: "Subtracts in one step: as increment().\n\
                  @return int the difference\n@throws \\Apus\\CacheException TYPE\n@throws \\ValueError as set()\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(decrement)),
        },
        Method {
            decl: "public function remember(string $key, float $ttl, callable $fn, float $wait = 10, bool $strict = false): mixed",
            doc: cache_remember::DOC,
            handler: Some(handler!(cache_remember::remember)),
        },
        Method {
            decl: "public function clear(): void",
            doc: "Forgets everything and gives the memory back; the counters of stats() go on.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(clear)),
        },
        Method {
            decl: "public function stats(): array",
            doc: "@return array{entries: int, used: int, bytes: int, longest: int, hits: int, misses: int, evictions: int, expired: int, emptied: int}\n\
                  entries that lie there and bytes that they take; bytes that they may take, and one of them; reads that found something, and not;\n\
                  entries that made room before and after their end; partitions emptied because a process was killed as it wrote\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(stats)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
