<?php

namespace Apus;

/**
 * Encodes a value as a string, for another process, a file or a cache: smaller and faster than serialize(). Objects,
 * references and cycles are preserved; __serialize(), __sleep() and Serializable are called as serialize() calls them.
 * The format is Apus's own: read it with Apus\unpack() of the same major version.
 * @param mixed $value nested at most 1024 deep
 * @return string at most 1 GiB
 * @throws \Apus\PackException UNSUPPORTED for a resource, DEPTH when nested deeper, TOO_LARGE
 * @throws \Exception for objects that PHP forbids to serialize, such as closures, and what magic methods throw
 * Does not wait by itself.
 * @rust pack::pack
 */
function pack(mixed $value): string {}

/**
 * Decodes a string that Apus\pack() made. __unserialize(), __wakeup() and Serializable are called as unserialize()
 * calls them; a class that cannot be loaded gives a __PHP_Incomplete_Class. Bytes that pack() did not produce throw an
 * exception and do no harm; but untrusted bytes can name any class of the program, so allow only the expected ones.
 * @param array $options "allowed_classes": true for all (the default), false for none, or an array of names
 * @throws \Apus\PackException MALFORMED, and MISMATCH when an enumeration or class does not match what was packed
 * @throws \ValueError for another option
 * @throws \TypeError when a value does not have its property's type
 * Does not wait by itself.
 * @rust pack::unpack
 */
function unpack(string $data, array $options = []): mixed {}

/**
 * Type of an Apus\Lock: one holds it.
 * @rust lock::MUTEX
 */
const MUTEX = 3;

/**
 * Type of an Apus\Lock: one holds it (LOCK_EX), or many share it (LOCK_SH).
 * @rust lock::RWLOCK
 */
const RWLOCK = 1;

/**
 * Type of an Apus\Lock: as MUTEX, for very short critical sections: spins before it waits.
 * @rust lock::SPINLOCK
 */
const SPINLOCK = 5;

/**
 * Type of an Apus\Lock: as MUTEX, but any process may unlock it.
 * @rust lock::SEM
 */
const SEM = 4;

/**
 * Type of an Apus\Lock: as RWLOCK, and against other programs that flock() the same file, too.
 * @rust lock::FILELOCK
 */
const FILELOCK = 2;
