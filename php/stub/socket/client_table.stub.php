<?php

namespace Apus\Coroutine;

/**
 * A client for TCP, UDP, Unix sockets and TLS, whose methods let other coroutines run while they wait. One coroutine
 * may read while another one writes; a second one gets an Apus\Coroutine\ConflictException that names both. Time-outs
 * are in seconds: 0 means the settings timeout, connect_timeout, read_timeout and write_timeout of set(), else
 * socket_connect_timeout (2 s) and socket_timeout (none); a negative one means no limit. Failures of the network are
 * return values with errCode and errMsg; both are 0 and '' after a success.
 * @rust slots
 */
class Client
{
    // @rust typed

    /** Out-of-band data. */
    public const MSG_OOB = 1;

    /** Leave the bytes where they are. */
    public const MSG_PEEK = 2;

    /** Fail with EAGAIN instead of waiting. */
    public const MSG_DONTWAIT = 64;

    /** Wait until all bytes have arrived. */
    public const MSG_WAITALL = 256;

    /** Why the last method failed: an errno or an Apus\ERROR_*; 0 after a success. */
    public int $errCode = 0;

    /** The same as text. */
    public string $errMsg = '';

    /** The descriptor; -1 for none. */
    public int $fd = -1;

    /** What exportSocket() gave. */
    public ?\Apus\Coroutine\Socket $socket = null;

    /** The type that the constructor was given. */
    public int $type = 0;

    /** What set() was given, all calls together. */
    public ?array $setting = null;

    /** Whether connect() succeeded and close() was not called. */
    public bool $connected = false;

    // @rust module client

    /**
     * @param int $type Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM; streams with |
     * Apus\SSL use TLS
     * @throws \ValueError for another type
     * Does not wait.
     */
    public function __construct(int $type) {}

    /**
     * Sets time-outs, framing, TLS …: the settings under "Clients" in docs/options.md, and package_length_func, a
     * callable (string $bytes): int. Later calls change only what they name; they apply to an existing connection at
     * once.
     * @throws \Apus\Client\Exception OPTION for a setting that is unknown or out of range; then nothing is changed
     * Does not wait.
     */
    public function set(array $settings): bool {}

    /**
     * Connects to a name, an IP address or a path, and does the TLS handshake.
     * @param float $timeout seconds in total; 0 for the default (2), negative for no limit
     * @param int $sock_flag without effect
     * @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*; EISCONN when
     * already connected
     * Waits.
     */
    public function connect(string $host, int $port = 0, float $timeout = 0, int $sock_flag = 0): bool {}

    /**
     * Some bytes, 64 KiB at most; with open_length_check or open_eof_check one whole message. A message that violates
     * its framing closes the connection.
     * @return string|false '' when the peer has ended its side; false on failure
     * Waits.
     */
    public function recv(float $timeout = 0): string|false {}

    /**
     * The bytes that can be read, without removing them; false with EAGAIN when nothing is.
     * Does not wait.
     */
    public function peek(int $length = 65535): string|false {}

    /**
     * Sends all of it.
     * @return int|false how many bytes were sent: fewer after a failure (then errCode is set); false if none were
     * Waits.
     */
    public function send(string $data, float $timeout = 0): int|false {}

    /**
     * Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow.
     * Waits.
     */
    public function sendfile(string $filename, int $offset = 0, int $length = 0): bool {}

    /**
     * Sends one datagram; needs no connect().
     * @throws \Apus\Client\Exception STATE when the client is not a datagram client
     * Waits.
     */
    public function sendto(string $address, int $port, string $data): bool {}

    /**
     * One datagram, $length bytes of it at most, and who sent it.
     * Waits.
     */
    public function recvfrom(int $length, mixed &$address, mixed &$port = 0): string|false {}

    /**
     * Starts TLS on a connection that was made without it.
     * Waits.
     */
    public function enableSSL(): bool {}

    /**
     * The server's certificate as PEM.
     * Does not wait.
     * @rust client::peer_cert
     */
    public function getPeerCert(): string|false {}

    /**
     * Verifies the server's certificate, for connections that were made with ssl_verify_peer off.
     * @return bool false with ERROR_SSL_VERIFY_FAILED when it is not valid; errMsg tells why
     * Does not wait.
     * @rust client::verify_cert
     */
    public function verifyPeerCert(bool $allow_self_signed = false): bool {}

    /**
     * Whether there is a connection that the peer has not closed, as far as is known here; nothing is sent.
     * Does not wait.
     */
    public function isConnected(): bool {}

    /**
     * The local ['host' => string, 'address' => the same, 'port' => int].
     * Does not wait.
     */
    public function getsockname(): array|false {}

    /**
     * The peer's ['host' => string, 'address' => the same, 'port' => int].
     * Does not wait.
     */
    public function getpeername(): array|false {}

    /**
     * Closes the connection; the client can connect again. Waiting coroutines continue: their methods fail with
     * ECANCELED.
     * @return bool false when there was none
     * Does not wait.
     */
    public function close(): bool {}

    /**
     * The connection as a Coroutine\Socket, the same object each time. Closing either closes both.
     * Does not wait.
     */
    public function exportSocket(): \Apus\Coroutine\Socket|false {}
}

namespace Apus;

/**
 * A client for TCP, UDP, Unix sockets and TLS for code outside coroutines, where it blocks its process; inside a
 * coroutine it lets the others run. The time-out of connect(), half a second unless given, limits each later operation,
 * too. Failures of the network are return values with errCode and errMsg; both are 0 and '' after a success.
 * @rust static BLOCKING
 * @rust slots
 */
class Client
{
    // @rust typed

    /** Out-of-band data. */
    public const MSG_OOB = 1;

    /** Leave the bytes where they are. */
    public const MSG_PEEK = 2;

    /** Fail with EAGAIN instead of waiting. */
    public const MSG_DONTWAIT = 64;

    /** Wait until all bytes have arrived. */
    public const MSG_WAITALL = 256;

    /** End reading. */
    public const SHUT_RD = 0;

    /** End writing. */
    public const SHUT_WR = 1;

    /** End both. */
    public const SHUT_RDWR = 2;

    /** Why the last method failed: an errno or an Apus\ERROR_*; 0 after a success. */
    public int $errCode = 0;

    /** The descriptor; -1 for none. */
    public int $sock = -1;

    /** Whether connect() took up the connection of an earlier client (of a type with | Apus\KEEP). */
    public bool $reuse = false;

    /** How often the connection was taken up so. */
    public int $reuseCount = 0;

    /** The type that the constructor was given. */
    public int $type = 0;

    /** The id that the constructor was given. */
    public string $id = '';

    /** What set() was given, all calls together. */
    public ?array $setting = null;

    /** errCode in words. */
    public string $errMsg = '';

    // @rust module blocking

    /**
     * @param int $type Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM; streams with |
     * Apus\SSL use TLS; with | Apus\KEEP close() leaves the connection to the next client of its process
     * @param bool $async must be false
     * @param string $id which connections are meant; empty for those to the same host and port
     * @throws \ValueError for another type
     * @throws \Apus\Client\Exception OPTION when $async is true
     * Does not wait.
     */
    public function __construct(int $type, bool $async = false, string $id = '') {}

    /**
     * Sets time-outs, framing, TLS …: the settings under "Clients" in docs/options.md, and package_length_func.
     * @throws \Apus\Client\Exception OPTION for a setting that is unknown or out of range; then nothing is changed
     * Does not wait.
     */
    public function set(array $settings): bool {}

    /**
     * Connects to a name, an IP address or a path, and does the TLS handshake. Outside coroutines a name is resolved in
     * the time that the system's resolver takes.
     * @param float $timeout seconds, for this and for each later operation; negative for no limit
     * @param int $sock_flag without effect
     * @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*; EISCONN when
     * already connected
     * Waits.
     */
    public function connect(string $host, int $port = 0, float $timeout = 0.5, int $sock_flag = 0): bool {}

    /**
     * Some bytes, at most $size; with MSG_WAITALL as many; with open_length_check or open_eof_check and no flag one
     * whole message.
     * @return string|false '' when the peer has ended its side; false on failure: ETIMEDOUT, EAGAIN with MSG_DONTWAIT
     * Waits.
     */
    public function recv(int $size = 65536, int $flag = 0): string|false {}

    /**
     * Sends all of it; with a flag what the kernel takes at once.
     * @return int|false how many bytes were sent: fewer after a failure (then errCode is set); false if none were
     * Waits.
     */
    public function send(string $data, int $flag = 0): int|false {}

    /**
     * Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow.
     * Waits.
     */
    public function sendfile(string $filename, int $offset = 0, int $length = 0): bool {}

    /**
     * Sends one datagram; needs no connect().
     * @throws \Apus\Client\Exception STATE when the client is not a datagram client
     * Waits.
     */
    public function sendto(string $ip, int $port, string $data): bool {}

    /**
     * Ends reading (SHUT_RD), writing (SHUT_WR) or both (SHUT_RDWR).
     * Does not wait.
     */
    public function shutdown(int $how): bool {}

    /**
     * Starts TLS on a connection that was made without it.
     * @throws \ValueError when a callback is given: the handshake is done when this returns
     * Waits.
     */
    public function enableSSL(?callable $onSslReady = null): bool {}

    /**
     * The server's certificate as PEM; false for none.
     * Does not wait.
     * @rust blocking::peer_cert
     */
    public function getPeerCert(): string|bool {}

    /**
     * Verifies the server's certificate, for connections that were made with ssl_verify_peer off.
     * Does not wait.
     * @rust blocking::verify_cert
     */
    public function verifyPeerCert(bool $allow_self_signed = false): bool {}

    /**
     * Whether there is a connection that the peer has not closed, as far as is known here; nothing is sent.
     * Does not wait.
     */
    public function isConnected(): bool {}

    /**
     * The local ['host' => string, 'address' => the same, 'port' => int].
     * Does not wait.
     */
    public function getsockname(): array|false {}

    /**
     * The peer's ['host' => string, 'address' => the same, 'port' => int].
     * Does not wait.
     */
    public function getpeername(): array|false {}

    /**
     * Closes the connection; the client can connect again.
     * @param bool $force also one that would be kept for the next client (Apus\KEEP)
     * @return bool false when there was none
     * Does not wait.
     */
    public function close(bool $force = false): bool {}
}
