<?php

/** The version whose names and conventions these are. */
function swoole_version(): string {}

/**
 * The same as Apus\cpu_num().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::cpu_num
 */
function swoole_cpu_num(): int {}

/**
 * The same as Apus\last_error().
 * @rust crate::last_error::get
 */
function swoole_last_error(): int {}

/**
 * Sets what swoole_last_error() gives, for the classes of the library.
 * @rust typed
 */
function swoole_set_last_error(int $error): void {}

/**
 * The same as Apus\clear_error().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::clear_error
 */
function swoole_clear_error(): void {}

/**
 * The same as Apus\errno().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::errno
 */
function swoole_errno(): int {}

/**
 * The same as Apus\strerror().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::strerror
 */
function swoole_strerror(int $errno, int $error_type = 0): string {}

/**
 * The same as Apus\set_process_name().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::set_process_name
 */
function swoole_set_process_name(string $process_name): bool {}

/**
 * The same as Apus\get_local_ip().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::get_local_ip
 */
function swoole_get_local_ip(int $family = 2): array {}

/**
 * The same as Apus\get_local_mac().
 * @rust typed
 * @rust within crate::swoole::answers_false
 * @rust host::get_local_mac
 */
function swoole_get_local_mac(): array {}

/**
 * The same as Swoole\Coroutine::create().
 * @rust crate::coroutine::create
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_coroutine_create(callable $func, mixed ...$params): int|false {}

/**
 * The same as Swoole\Coroutine::defer().
 * @rust crate::coroutine::defer
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_coroutine_defer(callable $callback): void {}

/**
 * Changes settings of coroutines.
 * @return bool true
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_async_set(array $settings): bool {}

/**
 * The same as Swoole\Coroutine\System::dnsLookup().
 * @rust crate::system::lookup::dns_lookup_there
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_async_dns_lookup_coro(string $domain_name, float $timeout = 60, int $type = 2): string|false {}

/**
 * Nothing is cached: there is nothing to forget.
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_clear_dns_cache(): void {}

/**
 * A number that depends on the bytes of a string alone.
 * @param int $type 0 for the one by which PHP's arrays are ordered, 1 for Jenkins' one at a time
 * @return int|false false for another type
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_hashcode(string $data, int $type = 0): false|int {}

/**
 * unserialize() of a part of a string.
 * @param int $offset where it begins; negative from the end
 * @param int $length its bytes; 0 for all that follow
 * @return mixed false when there is no such part
 * @rust part::unserialize
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_substr_unserialize(string $str, int $offset, int $length = 0, array $options = []): mixed {}

/**
 * json_decode() of a part of a string.
 * @param int $offset where it begins; negative from the end
 * @param int $length its bytes; 0 for all that follow
 * @return mixed null, with a warning, when there is no such part
 * @rust part::json_decode
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_substr_json_decode(string $str, int $offset, int $length = 0, bool $associative = false, int $depth = 512, int $flags = 0): mixed {}

/**
 * Names the media type of a file name's extension, unless there is one.
 * @rust typed
 */
function swoole_mime_type_add(string $suffix, string $mime_type): bool {}

/**
 * Names the media type of a file name's extension.
 * @rust typed
 */
function swoole_mime_type_set(string $suffix, string $mime_type): void {}

/**
 * Forgets the media type of a file name's extension.
 * @rust typed
 */
function swoole_mime_type_delete(string $suffix): bool {}

/**
 * The media type of a file, by its name; application/octet-stream when that says nothing.
 * @rust typed
 */
function swoole_mime_type_get(string $filename): string {}

/**
 * The same as swoole_mime_type_get().
 * @rust swoole_mime_type_get
 * @rust typed
 */
function swoole_get_mime_type(string $filename): string {}

/**
 * Whether a file's name says what its media type is.
 * @rust typed
 */
function swoole_mime_type_exists(string $filename): bool {}

/**
 * Writes to the log.
 * @param int $level SWOOLE_LOG_*
 * @rust typed
 */
function swoole_error_log(int $level, string $msg): void {}

/**
 * Writes to the log, unless swoole_ignore_error() was called with that number.
 * @param int $level SWOOLE_LOG_*
 * @rust typed
 */
function swoole_error_log_ex(int $level, int $error, string $msg): void {}

/**
 * Has swoole_error_log_ex() write nothing of that number.
 * @rust typed
 */
function swoole_ignore_error(int $error): void {}

/**
 * Waits until some of these clients, streams, processes or sockets can be read or written or have an exception, and
 * leaves only those in the arrays, under their keys. In a coroutine the others go on.
 * @param ?float $timeout seconds; negative for no limit
 * @return int|false how many descriptors those are, 0 when the time is over; false when there is nothing to wait for
 * @rust crate::system::client_select
 * @rust within crate::swoole::answers_false
 */
function swoole_client_select(?array &$read, ?array &$write, ?array &$except, ?float $timeout = 0.5): false|int {}

/**
 * The same as swoole_client_select().
 * @rust crate::system::client_select
 * @rust within crate::swoole::answers_false
 */
function swoole_select(?array &$read, ?array &$write, ?array &$except, ?float $timeout = 0.5): false|int {}

// Timers: the same as the methods of Swoole\Timer.

/**
 * @rust timer::tick
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_tick(int $ms, callable $callback, mixed ...$params): false|int {}

/**
 * @rust timer::after
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_after(int $ms, callable $callback, mixed ...$params): false|int {}

/**
 * @rust timer::exists
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_exists(int $timer_id): bool {}

/**
 * @rust timer::info
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_info(int $timer_id): ?array {}

/**
 * @rust timer::stats
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_stats(): array {}

/**
 * @rust timer::list_there
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_list(): \Swoole\Timer\Iterator {}

/**
 * @rust timer::clear
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_clear(int $timer_id): bool {}

/**
 * @rust timer::clear_all
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_timer_clear_all(): bool {}

// Descriptors: the same as the methods of Swoole\Event.

/**
 * @rust event::add
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_add(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 512): false|int {}

/**
 * @rust event::set
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_set(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 0): bool {}

/**
 * @rust event::del
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_del(mixed $fd): bool {}

/**
 * @rust event::is_set
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_isset(mixed $fd, int $events = 1536): bool {}

/**
 * @rust event::write
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_write(mixed $fd, string $data): bool {}

/**
 * @rust event::wait
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_wait(): void {}

/**
 * @rust event::rshutdown
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_rshutdown(): void {}

/**
 * @rust event::dispatch
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_dispatch(): bool {}

/**
 * @rust event::exit
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_exit(): void {}

/**
 * @rust event::defer
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_defer(callable $callback): bool {}

/**
 * @rust event::cycle
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function swoole_event_cycle(?callable $callback, bool $before = false): bool {}
