//! The kinds of blocking calls that hooks can take over, as bits of the setting `hook_flags`.

/// TCP sockets.
pub const TCP: i64 = 1 << 1;
/// UDP sockets.
pub const UDP: i64 = 1 << 2;
/// Unix stream sockets.
pub const UNIX: i64 = 1 << 3;
/// Unix datagram sockets.
pub const UDG: i64 = 1 << 4;
/// Part of TCP: what the field calls ssl:// streams.
pub const SSL: i64 = 1 << 5;
/// Part of TCP: what the field calls tls:// streams.
pub const TLS: i64 = 1 << 6;
/// `select()`: `stream_select()`, `socket_select()`.
pub const STREAM_FUNCTION: i64 = 1 << 7;
/// Regular files, on a pool of threads.
pub const FILE: i64 = 1 << 8;
/// Sleeping.
pub const SLEEP: i64 = 1 << 9;
/// Child processes: waiting for their end, their pipes.
pub const PROC: i64 = 1 << 10;
/// Part of TCP: curl.
pub const CURL: i64 = 1 << 11;
/// Part of TCP: curl.
pub const NATIVE_CURL: i64 = 1 << 12;
/// Name resolution and file locks.
pub const BLOCKING_FUNCTION: i64 = 1 << 13;
/// Part of TCP, UDP, UNIX, UDG: the sockets extension.
pub const SOCKETS: i64 = 1 << 14;
/// Terminals and inherited pipes.
pub const STDIO: i64 = 1 << 15;
/// Part of `BLOCKING_FUNCTION`: name resolution, as the field calls it.
pub const NET_FUNCTION: i64 = 1 << 21;
/// Everything, kinds yet to come included.
pub const ALL: i64 = 0x7fff_ffff;
/// Everything but regular files: the page cache is faster than another thread.
pub const DEFAULT: i64 = ALL & !FILE;
