<?php

namespace Apus;

/**
 * How many processors this process may use.
 * Does not wait.
 * @rust typed
 * @rust host::cpu_num
 */
function cpu_num(): int {}

/**
 * The addresses of this machine's interfaces that are up, interface => address, without loopback.
 * @param int $family AF_INET (2) or AF_INET6 (10)
 * @throws \ValueError for another family
 * Does not wait.
 * @rust typed
 * @rust host::get_local_ip
 */
function get_local_ip(int $family = 2): array {}

/**
 * The hardware addresses of this machine's interfaces that are up, interface => "00:00:5E:00:53:01", without loopback.
 * Does not wait.
 * @rust typed
 * @rust host::get_local_mac
 */
function get_local_mac(): array {}

/**
 * The text of an error number.
 * @param int $error_type Apus\STRERROR_SYSTEM (also knows the numbers of Apus), STRERROR_GAI, STRERROR_DNS or
 * STRERROR_APUS
 * @throws \ValueError for another type
 * Does not wait.
 * @rust typed
 * @rust host::strerror
 */
function strerror(int $errno, int $error_type = 0): string {}

/**
 * errno(3) of the C library as it is now: useful right after a call that failed.
 * Does not wait.
 * @rust typed
 * @rust host::errno
 */
function errno(): int {}

/**
 * Why the last function of Apus that returned false in this process failed; 0 for none. One coroutine's failure
 * replaces another's: call it before the next wait.
 * Does not wait.
 * @rust crate::last_error::get
 */
function last_error(): int {}

/**
 * Sets last_error() to 0.
 * Does not wait.
 * @rust typed
 * @rust host::clear_error
 */
function clear_error(): void {}

/**
 * Sets what ps(1) shows of this process, where the command line of PHP runs.
 * @return bool false when it cannot be set
 * @throws \ValueError for an empty name or a null byte
 * Does not wait.
 * @rust typed
 * @rust host::set_process_name
 */
function set_process_name(string $process_name): bool {}

/**
 * A descriptor can be read.
 * @rust ready::READ
 */
const EVENT_READ = 512;

/**
 * A descriptor can be written.
 * @rust ready::WRITE
 */
const EVENT_WRITE = 1024;

/**
 * Lock a file before it is read or written: the same as LOCK_EX.
 * @rust libc::LOCK_EX
 */
const FILE_LOCK = 2;

/**
 * A name has no address of the wanted family, or does not exist.
 * @rust failure::RESOLVE_FAILED
 */
const ERROR_DNSLOOKUP_RESOLVE_FAILED = 711;

/**
 * The name servers did not answer in time.
 * @rust failure::RESOLVE_TIMEOUT
 */
const ERROR_DNSLOOKUP_RESOLVE_TIMEOUT = 712;

/** Numbers of errno(3). */
const STRERROR_SYSTEM = 0;

/** Numbers of getaddrinfo(3). */
const STRERROR_GAI = 1;

/** Numbers of h_errno. */
const STRERROR_DNS = 2;

/** Numbers of Apus itself. */
const STRERROR_APUS = 9;
