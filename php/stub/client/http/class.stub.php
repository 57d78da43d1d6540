<?php

namespace Apus\Coroutine\Http;

/**
 * An HTTP/1.1 and WebSocket client of one server. A request without an answer returns false and sets a negative
 * $statusCode (Apus\HTTP_CLIENT_ESTATUS_*), $errCode (the kernel's error number; 711: the name cannot be resolved, 1014
 * and 1018: TLS, 7102: the answer is not HTTP, 7103: the proxy refused, 8503 and 8504: WebSocket) and $errMsg. A kept
 * connection that the server has closed is replaced, and the request sent again, if the server cannot have acted on it.
 * One coroutine at a time may use a client; on a WebSocket one may receive while another sends.
 * @rust static CLIENT_CLASS
 * @rust slots
 */
class Client
{
    /** null Kept for programs that name it; the connection is not given out. */
    public $socket = null;

    /** int Why the last call failed; 0 when it did not. */
    public $errCode = 0;

    /** string The same as text. */
    public $errMsg = '';

    /** bool Whether a connection is kept, as of the last call. */
    public $connected = false;

    /** string The host. */
    public $host = '';

    /** int The port. */
    public $port = 0;

    /** bool Whether TLS is used. */
    public $ssl = false;

    /** array|null What set() was given. */
    public $setting = null;

    /** string|null The method; null for POST with a body, GET without. */
    public $requestMethod = null;

    /** array|null Header fields of requests: name => value, or a list of values. */
    public $requestHeaders = null;

    /** string|array|null The body; an array is a form. */
    public $requestBody = null;

    /** array|null Files of the next request: see addFile() and addData(). */
    public $uploadFiles = null;

    /** string|null The file into which the next answer's body is written. */
    public $downloadFile = null;

    /** int Where in that file it begins, in bytes. */
    public $downloadOffset = 0;

    /** int The answer's status, or Apus\HTTP_CLIENT_ESTATUS_* without an answer. */
    public $statusCode = 0;

    /** array|null The answer's header fields, names lower-case; several of one name are an array. */
    public $headers = null;

    /** array|null The answer's Set-Cookie fields as they came. */
    public $set_cookie_headers = null;

    /** array|null Cookies that requests carry: those of setCookies() and those that answers set. */
    public $cookies = null;

    /** string The answer's body. */
    public $body = '';

    // @rust module plain
    // @rust typed

    /**
     * A client of one server; it connects when it is first used.
     * @param string $host name, IP address, or unix:/path
     * @param int $port 0 for 80, or 443 with TLS
     * @throws \Apus\Client\Exception ARGUMENT
     * Does not wait.
     */
    public function __construct(string $host, int $port = 0, bool $ssl = false) {}

    /**
     * Closes the connection.
     * Does not wait.
     */
    public function __destruct() {}

    /**
     * Changes settings of this client: see docs/options.md, scope "client". All are applied, or none; they apply from
     * the next request, those of the connection from the next one made. In addition, write_func is a callable(Client
     * $client, string $data) that gets the bodies of answers piece by piece, decompressed, as they arrive; $body then
     * stays empty, and no more is read than it has accepted. Deferred requests do not use it.
     * @return bool true
     * @throws \Apus\Client\Exception OPTION for an unknown setting or a value out of range
     * Does not wait.
     */
    public function set(array $settings): bool {}

    /**
     * Whether requests are deferred.
     * Does not wait.
     */
    public function getDefer(): bool {}

    /**
     * Makes execute() and the like return at once, while the request is in progress; recv() then waits for its answer.
     * @return bool true
     * Does not wait.
     */
    public function setDefer(bool $defer = true): bool {}

    /**
     * Sets the method of the requests that execute() makes.
     * @return bool true
     * @throws \Apus\Client\Exception ARGUMENT when it is not a token
     * Does not wait.
     */
    public function setMethod(string $method): bool {}

    /**
     * Sets the header fields of all requests, replacing earlier ones: name => value, or a list of values; null omits
     * one. Host, Connection and Accept-Encoding override the client's own; Content-Length is always the client's.
     * @return bool true
     * @throws \Apus\Client\Exception ARGUMENT for what RFC 9110 section 5 forbids
     * Does not wait.
     */
    public function setHeaders(array $headers): bool {}

    /**
     * Adds Basic credentials to requests (RFC 7617).
     * @throws \Apus\Client\Exception ARGUMENT for a user name with a colon
     * Does not wait.
     */
    public function setBasicAuth(string $username, string $password): void {}

    /**
     * Sets the cookies that requests carry, name => value, replacing earlier ones; values are percent-encoded.
     * @return bool true
     * Does not wait.
     */
    public function setCookies(array $cookies): bool {}

    /**
     * Sets the body of the requests that execute() makes: bytes, or the fields of a form.
     * @return bool true
     * Does not wait.
     */
    public function setData(array|string $data): bool {}

    /**
     * Adds (a part of) a file to the next request, which becomes a multipart form. It is read while it is sent.
     * @param string $name the form field's name
     * @param string|null $type media type; null for the one of its extension
     * @param string|null $filename the name sent to the server; null for the file's own
     * @param int $offset bytes from its start
     * @param int $length bytes; 0 for the rest of it
     * @return bool true
     * @throws \Apus\Client\Exception ARGUMENT when it cannot be read or is shorter
     * Does not wait.
     */
    public function addFile(string $path, string $name, ?string $type = null, ?string $filename = null, int $offset = 0, int $length = 0): bool {}

    /**
     * Adds a string to the next request as if it were a file.
     * @param string $path the file's contents
     * @param string $name the form field's name
     * @param string|null $type media type; null for application/octet-stream
     * @param string|null $filename null for $name
     * @return bool true
     * Does not wait.
     * @rust raw
     */
    public function addData(string $path, string $name, ?string $type = null, ?string $filename = null): bool {}

    // @rust module execute

    /**
     * Makes the request that was set up, and waits for its answer.
     * @param string $path path and query; characters that a URL cannot contain are percent-encoded
     * @return bool false without an answer: see the class
     * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that is not valid in HTTP; STATE on
     * a WebSocket, or while a deferred answer has not been fetched
     * @throws \Apus\Coroutine\ConflictException when another coroutine is using the client
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function execute(string $path): bool {}

    /**
     * The same as execute() with GET.
     * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that is not valid in HTTP; STATE on
     * a WebSocket, or while a deferred answer has not been fetched
     * @throws \Apus\Coroutine\ConflictException when another coroutine is using the client
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function get(string $path): bool {}

    /**
     * The same as execute() with POST and this body, which later requests do not have.
     * @param string|array $data bytes, or the fields of a form
     * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that is not valid in HTTP; STATE on
     * a WebSocket, or while a deferred answer has not been fetched
     * @throws \Apus\Coroutine\ConflictException when another coroutine is using the client
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function post(string $path, mixed $data): bool {}

    /**
     * Makes the request that was set up, and stores the body of a successful answer (2xx) in a file; $body stays empty.
     * At offset 0 the file is truncated first; to resume a file, pass its size here and set a Range header.
     * @param int $offset bytes from the file's start
     * @throws \ValueError for a negative offset
     * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that is not valid in HTTP; STATE on
     * a WebSocket, or while a deferred answer has not been fetched
     * @throws \Apus\Coroutine\ConflictException when another coroutine is using the client
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function download(string $path, string $file, int $offset = 0): bool {}

    // @rust module plain

    /**
     * $body.
     * Does not wait.
     */
    public function getBody(): string|false {}

    /**
     * $headers.
     * Does not wait.
     */
    public function getHeaders(): array|false|null {}

    /**
     * $cookies.
     * Does not wait.
     */
    public function getCookies(): array|false|null {}

    /**
     * $statusCode.
     * Does not wait.
     */
    public function getStatusCode(): int|false {}

    /**
     * The head of the request that was sent last.
     * @return string|false false before the first
     * Does not wait.
     */
    public function getHeaderOut(): string|false {}

    /**
     * address and port of the server (or proxy) that the kept connection leads to.
     * @return array|false false without one
     * Does not wait.
     * @rust plain::get_peer_name
     */
    public function getpeername(): array|false {}

    /**
     * address and port of the local end of the kept connection.
     * @return array|false false without one
     * Does not wait.
     * @rust plain::get_sock_name
     */
    public function getsockname(): array|false {}

    /**
     * The server's certificate, as PEM.
     * @return string|false false without TLS or a kept connection
     * Does not wait.
     */
    public function getPeerCert(): string|false {}

    /**
     * Asks the server to switch to WebSocket (RFC 6455), with GET and the headers that were set. Any other answer
     * returns false, too: see $statusCode.
     * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that is not valid in HTTP; STATE on
     * a WebSocket, or while a deferred answer has not been fetched
     * @throws \Apus\Coroutine\ConflictException when another coroutine is using the client
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @rust execute::upgrade
     */
    public function upgrade(string $path): bool {}

    // @rust module websocket

    /**
     * Sends a WebSocket message, and waits until it has been sent. It is compressed if the server agreed to that.
     * @param string|\Apus\WebSocket\Frame $data a frame's own opcode and flags take precedence
     * @param int $opcode Apus\WEBSOCKET_OPCODE_*
     * @param int $flags Apus\WEBSOCKET_FLAG_*; 0 when fragments with opcode CONTINUATION follow, in their order
     * @return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest is then sent with
     * the next frame)
     * @throws \Apus\Client\Exception STATE when upgrade() has not succeeded; ARGUMENT for what a frame cannot contain
     * @throws \Apus\Coroutine\ConflictException when another coroutine sends
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @rust raw
     */
    public function push(mixed $data, int $opcode = 1, int $flags = 1): bool {}

    /**
     * Waits for the next WebSocket message, assembled from its fragments; pings are answered meanwhile. After a
     * deferred request: waits for its answer.
     * @param float $timeout seconds; negative for no limit, 0 for `read_timeout` or else `timeout`
     * @return Frame|string|bool the message; '' when the server has closed; false when the time-out expires ($errCode
     * 110, the WebSocket goes on), or it broke; for a deferred request what execute() would have returned
     * @throws \Apus\Client\Exception STATE when there is neither
     * @throws \Apus\Coroutine\ConflictException when another coroutine receives
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function recv(float $timeout = 0): \Apus\WebSocket\Frame|string|bool {}

    /**
     * Closes the connection; a coroutine that waits for it gets false and $errCode 104.
     * @return bool false when there was none
     * Does not wait.
     * @rust plain::close
     */
    public function close(): bool {}

    /**
     * Sends a WebSocket ping.
     * @param string $data up to 125 bytes, which the server sends back
     * @throws \ValueError when it is longer
     * @return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest is then sent with
     * the next frame)
     * @throws \Apus\Client\Exception STATE when upgrade() has not succeeded; ARGUMENT for what a frame cannot contain
     * @throws \Apus\Coroutine\ConflictException when another coroutine sends
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function ping(string $data = ''): bool {}

    /**
     * Sends a WebSocket close frame, waits for the server's for up to a second (where no other coroutine receives), and
     * closes the connection.
     * @param int $code Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999
     * @param string $reason up to 123 bytes of UTF-8
     * @return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest is then sent with
     * the next frame)
     * @throws \Apus\Client\Exception STATE when upgrade() has not succeeded; ARGUMENT for what a frame cannot contain
     * @throws \Apus\Coroutine\ConflictException when another coroutine sends
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function disconnect(int $code = 1000, string $reason = ''): bool {}
}
