<?php

namespace Apus\Coroutine;

/**
 * A socket whose methods let other coroutines run while they wait. One coroutine may read while another one writes; a
 * second reader or writer gets an Apus\Coroutine\ConflictException that names both. Time-outs are in seconds: 0 means
 * the socket's own limit (setOption() with SO_RCVTIMEO, setProtocol()), else the settings socket_connect_timeout (2 s)
 * and socket_timeout (none); a negative one means no limit. Failures of the network are return values with errCode (an
 * errno) and errMsg; both are 0 and '' after a success.
 * @rust slots
 */
class Socket
{
    // @rust typed

    /** The descriptor; -1 when closed. */
    public readonly int $fd;

    /** The address family: AF_INET, AF_INET6 or AF_UNIX. */
    public readonly int $domain;

    /** SOCK_STREAM, SOCK_DGRAM or another type of socket(2). */
    public readonly int $type;

    /** The protocol; 0 for the usual one. */
    public readonly int $protocol;

    /** Why the last method failed: an errno; 0 after a success. */
    public int $errCode = 0;

    /** The same as text. */
    public string $errMsg = '';

    // @rust module methods

    /**
     * @param int $domain AF_INET, AF_INET6 or AF_UNIX (also Apus\AF_INET …)
     * @param int $type SOCK_STREAM or SOCK_DGRAM (also Apus\SOCK_STREAM …)
     * @throws \Apus\Client\Exception ARGUMENT when the system cannot create such a socket
     * Does not wait.
     */
    public function __construct(int $domain, int $type, int $protocol = 0) {}

    /**
     * Binds to an IP address and port (0: the system chooses one, see getsockname()), or to a path. Takes no names.
     * @return bool false on failure, with errCode
     * Does not wait.
     */
    public function bind(string $address, int $port = 0): bool {}

    /**
     * Starts to accept connections, of which $backlog may be queued.
     * Does not wait.
     */
    public function listen(int $backlog = 512): bool {}

    /**
     * The next connection. It has the settings that setProtocol() gave this socket: framing, time-outs, TLS; but the
     * caller has to do the handshake: sslHandshake().
     * @param float $timeout seconds; 0 for the default, negative for no limit
     * @return Apus\Coroutine\Socket|false false on failure: ETIMEDOUT, ECANCELED when closed or cancelled meanwhile
     * Waits.
     */
    public function accept(float $timeout = 0): \Apus\Coroutine\Socket|false {}

    /**
     * Connects to a name, an IP address or a path. A name is resolved without blocking; its addresses of this socket's
     * family (8 at most) are tried in turn. With open_ssl it also does the TLS handshake.
     * @param float $timeout seconds in total; 0 for the default (2), negative for no limit
     * @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*
     * Waits.
     */
    public function connect(string $host, int $port = 0, float $timeout = 0): bool {}

    /**
     * Whether the peer has not closed the connection, as far as is known here; nothing is sent.
     * Does not wait.
     */
    public function checkLiveness(): bool {}

    /**
     * The coroutine that reads now (Apus\EVENT_READ) or writes (Apus\EVENT_WRITE); 0 for none.
     * Does not wait.
     */
    public function getBoundCid(int $event): int {}

    /**
     * The bytes that can be read, without removing them.
     * @return string|false '' when the peer has ended its side; false with EAGAIN when nothing is there
     * Does not wait.
     */
    public function peek(int $length = 65536): string|false {}

    /**
     * Some bytes, as soon as there are any: at most $length.
     * @return string|false '' when the peer has ended its side; false on failure
     * @throws Apus\Coroutine\ConflictException when another coroutine reads
     * Waits.
     */
    public function recv(int $length = 65536, float $timeout = 0): string|false {}

    /**
     * $length bytes. Fewer if the peer ends its side, or after a time-out or a cancellation: then errCode is set, and
     * what has arrived is returned.
     * @return string|false false if nothing arrived before a failure
     * Waits.
     */
    public function recvAll(int $length = 65536, float $timeout = 0): string|false {}

    /**
     * One line with its end, a \n or a \r; $length bytes of a longer one; what is left at the end of the stream.
     * @return string|false '' at the end; false on failure, what has arrived stays for the next read
     * Waits.
     */
    public function recvLine(int $length = 65536, float $timeout = 0): string|false {}

    /**
     * As recv(), but reads as much as there is (64 KiB) from the kernel and keeps the rest for later reads: for many
     * small ones.
     * Waits.
     */
    public function recvWithBuffer(int $length = 65536, float $timeout = 0): string|false {}

    /**
     * One whole message, in the framing that setProtocol() has set; without one, what recv() returns. After a time-out
     * or a cancellation, the received part of a message stays for the next call. A message that is longer than
     * package_max_length, or whose length is invalid, closes the connection: ERROR_PACKAGE_LENGTH_TOO_LARGE,
     * ERROR_PACKAGE_LENGTH_NOT_FOUND, ERROR_PACKAGE_MALFORMED_DATA.
     * @return string|false '' when the peer has ended its side; false on failure, ECONNRESET when that was inside a
     * message
     * Waits.
     */
    public function recvPacket(float $timeout = 0): string|false {}

    /**
     * Sends as much as the kernel accepts at once, after waiting until it accepts something.
     * @return int|false how many bytes; false on failure, EPIPE when the peer has gone
     * @throws Apus\Coroutine\ConflictException when another coroutine writes
     * Waits.
     */
    public function send(string $data, float $timeout = 0): int|false {}

    /**
     * As recv() for the sum of the given lengths, cut into pieces of these lengths.
     * @param array $io_vector lengths, 1 or more bytes each
     * Waits.
     */
    public function readVector(array $io_vector, float $timeout = 0): array|false {}

    /**
     * As recvAll() for the sum of the given lengths, cut into pieces of these lengths.
     * @param array $io_vector lengths, 1 or more bytes each
     * Waits.
     */
    public function readVectorAll(array $io_vector, float $timeout = 0): array|false {}

    /**
     * As send() for several strings in one call.
     * Waits.
     */
    public function writeVector(array $io_vector, float $timeout = 0): int|false {}

    /**
     * As sendAll() for several strings in one call.
     * Waits.
     */
    public function writeVectorAll(array $io_vector, float $timeout = 0): int|false {}

    /**
     * Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow. It is read outside the event
     * loop.
     * Waits.
     */
    public function sendFile(string $file, int $offset = 0, int $length = 0): bool {}

    /**
     * Sends all of it.
     * @return int|false how many bytes were sent: fewer after a failure (then errCode is set); false if none were
     * Waits.
     */
    public function sendAll(string $data, float $timeout = 0): int|false {}

    /**
     * One datagram, 64 KiB at most; $peername becomes ['address' => string, 'port' => int].
     * Waits.
     */
    public function recvfrom(mixed &$peername, float $timeout = 0): string|false {}

    /**
     * Sends one datagram to a name, an IP address or a path.
     * Waits.
     */
    public function sendto(string $addr, int $port, string $data): int|false {}

    /**
     * The value of an option of socket(7), tcp(7) …: an int; arrays for SO_LINGER (l_onoff, l_linger), SO_RCVTIMEO and
     * SO_SNDTIMEO (sec, usec); a string for SO_BINDTODEVICE and TCP_CONGESTION.
     * @return mixed false on failure
     * Does not wait.
     */
    public function getOption(int $level, int $opt_name): mixed {}

    /**
     * Sets how messages are framed and how TLS is used: the settings under "Clients" in docs/options.md, and
     * package_length_func, a callable (string $bytes): int that returns the length of the whole message at the start of
     * $bytes, 0 to be called again when there are more, -1 when they are invalid. Later calls change only what they
     * name.
     * @throws \Apus\Client\Exception OPTION for a setting that is unknown or out of range; then nothing is changed
     * Does not wait.
     */
    public function setProtocol(array $settings): bool {}

    /**
     * Sets what getOption() gives. SO_RCVTIMEO and SO_SNDTIMEO limit the waits of this socket's methods.
     * Does not wait.
     */
    public function setOption(int $level, int $opt_name, mixed $opt_value): bool {}

    /**
     * Starts TLS: as the server on an accepted connection (ssl_cert_file and ssl_key_file are needed), else as the
     * client. The server is verified unless ssl_verify_peer is off.
     * @return bool false on failure: ERROR_SSL_HANDSHAKE_FAILED, ERROR_SSL_VERIFY_FAILED,
     * ERROR_SSL_CREATE_CONTEXT_FAILED, an errno
     * Waits.
     */
    public function sslHandshake(): bool {}

    /**
     * Ends reading (0), writing (1) or both (2); TLS sends close_notify before writing ends.
     * Does not wait.
     */
    public function shutdown(int $how = 2): bool {}

    /**
     * Cancels the wait of the coroutine that reads (Apus\EVENT_READ) or writes (Apus\EVENT_WRITE): its method fails
     * with ECANCELED.
     * @return bool false when none waits
     * Does not wait.
     */
    public function cancel(int $event = 512): bool {}

    /**
     * Closes it; a second call does nothing. Waiting coroutines continue: their methods fail with ECANCELED.
     * @return bool true
     * Does not wait.
     */
    public function close(): bool {}

    /**
     * The peer's ['address' => string, 'port' => int]; a path and 0 for Unix sockets.
     * Does not wait.
     */
    public function getpeername(): array|false {}

    /**
     * The local ['address' => string, 'port' => int].
     * Does not wait.
     */
    public function getsockname(): array|false {}

    /**
     * Whether it was closed on this side.
     * Does not wait.
     */
    public function isClosed(): bool {}

    /**
     * A socket over that of a stream or of ext/sockets, with a descriptor of its own. Use only one of the two for
     * reading: data that the stream has read ahead stays with it.
     * @return Apus\Coroutine\Socket|false false when it is not a socket
     * Does not wait.
     */
    public static function import(mixed $stream): \Apus\Coroutine\Socket|false {}
}
