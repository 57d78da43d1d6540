<?php

namespace Apus;

/**
 * TCP sockets: of streams, PDO, mysqli, pgsql, redis, curl, every library.
 * @rust apus_options::hooks::TCP
 */
const HOOK_TCP = 2;

/**
 * UDP sockets.
 * @rust apus_options::hooks::UDP
 */
const HOOK_UDP = 4;

/**
 * Unix stream sockets.
 * @rust apus_options::hooks::UNIX
 */
const HOOK_UNIX = 8;

/**
 * Unix datagram sockets.
 * @rust apus_options::hooks::UDG
 */
const HOOK_UDG = 16;

/**
 * Has no effect of its own: these are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
 * @rust apus_options::hooks::SSL
 */
const HOOK_SSL = 32;

/**
 * Has no effect of its own: these are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
 * @rust apus_options::hooks::TLS
 */
const HOOK_TLS = 64;

/**
 * select(): stream_select() and socket_select().
 * @rust apus_options::hooks::STREAM_FUNCTION
 */
const HOOK_STREAM_FUNCTION = 128;

/**
 * The same as HOOK_STREAM_FUNCTION.
 * @rust apus_options::hooks::STREAM_FUNCTION
 */
const HOOK_STREAM_SELECT = 128;

/**
 * Opening, reading and syncing regular files by PHP's own functions (fopen(), fread(), file_get_contents(), fsync() and
 * their like), on up to 8 threads a core (16 to 64). Worth it only for slow disks: what is in the page cache is read
 * faster without it. Not part of the default.
 * @rust apus_options::hooks::FILE
 */
const HOOK_FILE = 256;

/**
 * sleep(), usleep(), time_nanosleep(), time_sleep_until().
 * @rust apus_options::hooks::SLEEP
 */
const HOOK_SLEEP = 512;

/**
 * Child processes: proc_open(), exec(), popen() and their like, pcntl_waitpid(), and their pipes.
 * @rust apus_options::hooks::PROC
 */
const HOOK_PROC = 1024;

/**
 * Has no effect of its own: these are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
 * @rust apus_options::hooks::CURL
 */
const HOOK_CURL = 2048;

/**
 * Has no effect of its own: these are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
 * @rust apus_options::hooks::NATIVE_CURL
 */
const HOOK_NATIVE_CURL = 4096;

/**
 * Name resolution, and locks on files.
 * @rust apus_options::hooks::BLOCKING_FUNCTION
 */
const HOOK_BLOCKING_FUNCTION = 8192;

/**
 * Name resolution.
 * @rust apus_options::hooks::NET_FUNCTION
 */
const HOOK_NET_FUNCTION = 2097152;

/**
 * Has no effect of its own: these are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
 * @rust apus_options::hooks::SOCKETS
 */
const HOOK_SOCKETS = 16384;

/**
 * Terminals and pipes, standard input and output among them.
 * @rust apus_options::hooks::STDIO
 */
const HOOK_STDIO = 32768;

/**
 * Everything.
 * @rust apus_options::hooks::ALL
 */
const HOOK_ALL = 2147483647;
