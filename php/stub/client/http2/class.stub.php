<?php

namespace Apus\Coroutine\Http2;

/**
 * An HTTP/2 client (RFC 9113) of one server: many requests at once over one connection, by ALPN with TLS, with prior
 * knowledge without. Methods that fail return false and set $errCode (see Apus\Coroutine\Http\Client) and $errMsg. Any
 * number of coroutines may send at once; one receives.
 * @rust static CLIENT_CLASS
 * @rust slots
 */
class Client
{
    /** int Why the last call failed; 0 when it did not. */
    public $errCode = 0;

    /** string The same as text. */
    public $errMsg = '';

    /** int Kept for programs that name it. */
    public $sock = -1;

    /** int Kept for programs that name it. */
    public $type = 0;

    /** array|null What set() was given. */
    public $setting = null;

    /** null Kept for programs that name it; the connection is not given out. */
    public $socket = null;

    /** bool Whether there is a connection, as of the last call. */
    public $connected = false;

    /** string The host. */
    public $host = null;

    /** int The port. */
    public $port = 0;

    /** bool Whether TLS is used. */
    public $ssl = false;

    /** int The highest stream that the server has answered. */
    public $serverLastStreamId = 0;

    // @rust module super
    // @rust typed

    /**
     * A client of one server.
     * @param string $host name, IP address, or unix:/path
     * @param int $port 0 for 80, or 443 with TLS
     * @throws \Apus\Client\Exception ARGUMENT
     * Does not wait.
     */
    public function __construct(string $host, int $port = 80, bool $open_ssl = false) {}

    /**
     * Closes the connection.
     * Does not wait.
     */
    public function __destruct() {}

    /**
     * Changes settings of this client: see docs/options.md, scope "client". All are applied, or none.
     * @return bool true
     * @throws \Apus\Client\Exception OPTION for an unknown setting or a value out of range
     * Does not wait.
     */
    public function set(array $settings): bool {}

    /**
     * Connects.
     * @return bool false when that fails, or there is already a connection ($errCode 106)
     * @throws \Apus\Coroutine\ConflictException when another coroutine connects
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function connect(): bool {}

    /**
     * current_stream_id (the last one started), last_stream_id (the highest that was answered), active_stream_num,
     * max_stream_num (streams that the server allows at once); one of them with $key.
     * @throws \ValueError for another key
     * Does not wait.
     */
    public function stats(string $key = ''): array|int {}

    /**
     * Whether the answer of a stream is not complete; for 0 whether there is a connection.
     * Does not wait.
     */
    public function isStreamExist(int $stream_id): bool {}

    /**
     * Starts a request; recv() returns its answer. Waits only while the server allows no further stream, for up to
     * `timeout`; the body is sent as its window allows.
     * @return int|false the stream's id, which the answer carries
     * @throws \Apus\Client\Exception ARGUMENT for what is not valid in HTTP
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function send(\Apus\Http2\Request $request): int|false {}

    /**
     * Sends a further piece of the body of a request with $pipeline, and waits until the server's window allows it.
     * @param string|array $data bytes, or the fields of a form
     * @param bool $end_stream whether the body ends with it
     * @return bool false when the stream accepts no data, or the time `timeout` is over
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function write(int $stream_id, mixed $data, bool $end_stream = false): bool {}

    /**
     * Waits for the next answer of any stream, or a piece of one if the request has $usePipelineRead. A stream that the
     * server resets gives an answer with statusCode -3 and its errCode.
     * @param float $timeout seconds; negative for no limit, 0 for `read_timeout` or else `timeout`
     * @return Response|false false when the connection is lost, or the time-out has expired ($errCode 110; all goes on)
     * @throws \Apus\Coroutine\ConflictException when another coroutine receives
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function recv(float $timeout = 0): \Apus\Http2\Response|false {}

    /**
     * The same as recv().
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function read(float $timeout = 0): \Apus\Http2\Response|false {}

    /**
     * Starts no further request: the connection ends with GOAWAY when the open streams have ended.
     * @param int $error_code 0 only
     * @param string $debug_data not sent by this version
     * @return bool false when there is no connection
     * @throws \ValueError for another code
     * Does not wait.
     * @rust super::go_away
     */
    public function goaway(int $error_code = 0, string $debug_data = ''): bool {}

    /**
     * Sends a PING, and waits for the server's answer, for up to `timeout`.
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function ping(): bool {}

    /**
     * Ends every stream and the connection; a coroutine that waits for it gets false and $errCode 104.
     * @return bool false when there was none
     * Does not wait.
     */
    public function close(): bool {}
}
