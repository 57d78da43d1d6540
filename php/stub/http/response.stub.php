<?php

namespace Apus\Http;

/**
 * The answer to one request. It may outlive the request's handler and be used from other coroutines. An answer that is
 * never ended becomes a 500 when the object is freed.
 */
class Response
{
    /** The connection's session id. */
    public int $fd = 0;

    /**
     * Sets the status code, and a reason phrase instead of the standard one (RFC 9110 section 15).
     * @param int $code 200 to 999, or 101 to accept a WebSocket handshake with end(); default 200
     * @return bool false when the head has already been sent
     * @throws \Apus\Http\Exception INVALID_STATUS
     * Does not wait.
     */
    public function status(int $code, string $reason = ''): bool {}

    /**
     * The same as status().
     * @rust status
     */
    public function setStatusCode(int $code, string $reason = ''): bool {}

    /**
     * Sets a header field, replacing earlier ones of its name; an array makes several lines, null removes the field.
     * @param bool $format whether content-type is sent as Content-Type
     * @return bool false when the head has already been sent, or for a field that the server itself sets (Keep-Alive,
     * Transfer-Encoding, and Connection except "close" and "keep-alive")
     * @throws \Apus\Http\Exception INVALID_HEADER
     * Does not wait.
     */
    public function header(string $key, string|array|null $value, bool $format = true): bool {}

    /**
     * The same as header().
     * @rust header
     */
    public function setHeader(string $key, string|array|null $value, bool $format = true): bool {}

    /**
     * The header fields set so far, names lower-case; several lines of one name are an array.
     * Does not wait.
     */
    public function getHeaders(): array {}

    /**
     * Sets a cookie; the value is percent-encoded (RFC 6265). An empty value deletes it.
     * @param int $expires Unix time in seconds; 0 for the browser's session
     * @param string $samesite Lax, Strict or None; empty to leave it out
     * @param string $priority Low, Medium or High; empty to leave it out
     * @param bool $partitioned needs $secure
     * @return bool false when the head has already been sent
     * @throws \Apus\Http\Exception INVALID_COOKIE
     * Does not wait.
     * @rust cookie_encoded
     */
    public function cookie(string $name, string $value = '', int $expires = 0, string $path = '/', string $domain = '', bool $secure = false, bool $httponly = false, string $samesite = '', string $priority = '', bool $partitioned = false): bool {}

    /**
     * Sets a cookie; the value is sent as it is (RFC 6265).
     * @param int $expires Unix time in seconds; 0 for the browser's session
     * @param string $samesite Lax, Strict or None; empty to leave it out
     * @param string $priority Low, Medium or High; empty to leave it out
     * @param bool $partitioned needs $secure
     * @return bool false when the head has already been sent
     * @throws \Apus\Http\Exception INVALID_COOKIE
     * Does not wait.
     * @rust cookie_raw
     */
    public function rawcookie(string $name, string $value = '', int $expires = 0, string $path = '/', string $domain = '', bool $secure = false, bool $httponly = false, string $samesite = '', string $priority = '', bool $partitioned = false): bool {}

    /**
     * Adds a trailer field, which is sent after the body (RFC 9110 section 6.5), over HTTP/1.1 a chunked one. An HTTP/1.0
     * client gets none.
     * @return bool false when the response has ended
     * @throws \Apus\Http\Exception INVALID_HEADER, also for fields that cannot be trailers (RFC 9110 section 6.5.1):
     * Content-Length, Content-Type, Set-Cookie, …
     * Does not wait.
     */
    public function trailer(string $key, string $value): bool {}

    /**
     * Sends an interim answer before the response (RFC 9110 section 15.2): with 103 a browser begins to load what the
     * Link fields name while the handler still works (RFC 8297). It may be called several times. An HTTP/1.0 client
     * gets none.
     * @param int $code 102 to 199
     * @param array $headers values by name; an array makes several lines
     * @return bool false when the head has already been sent or the client has gone
     * @throws \Apus\Http\Exception INVALID_STATUS, INVALID_HEADER
     * Does not wait.
     */
    public function informational(int $code, array $headers = []): bool {}

    /**
     * Sends a PING over the connection of an HTTP/2 request (RFC 9113 section 6.7), so that nothing between takes a
     * quiet connection for dead.
     * @return bool false over HTTP/1, and when the client has gone
     * Does not wait.
     */
    public function ping(): bool {}

    /**
     * Tells the client of an HTTP/2 request to begin no more streams on this connection (RFC 9113 section 6.8). What
     * has begun is answered, then the connection is closed.
     * @param int $code 0 for no error
     * @param string $message what the client may log; at most 1024 bytes of it
     * @return bool false over HTTP/1, and when the client has gone
     * Does not wait.
     */
    public function goaway(int $code = 0, string $message = ''): bool {}

    /**
     * Sends a piece of the body, chunked (RFC 9112 section 7.1) unless a Content-Length was set; the first call sends
     * the head. If the client reads slowly, it waits until less than buffer_output_size bytes are on their way.
     * @return bool false when the client has gone, the response has ended, or (outside coroutines) the buffer is full;
     * with a warning when it is more than the Content-Length announced: then the connection is closed
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits (where a coroutine runs).
     */
    public function write(string $data): bool {}

    /**
     * Sends the response, or the last part of one begun with write(), and ends it. The bytes are sent at once.
     * @return bool false when the client has gone or the response has already ended
     * Does not wait.
     */
    public function end(?string $content = null): bool {}

    /**
     * Sends (a part of) a file as the body, without copying it (sendfile(2)), and ends the response. A Content-Type is
     * chosen by the file name's extension unless one was set. Of a whole file with status 200, conditional requests and
     * ranges are answered (304, 206, 412, 416).
     * @param int $offset bytes from its start
     * @param int $length bytes; 0 for the rest of the file
     * @return bool false when the head has already been sent or the client has gone
     * @throws \Apus\Http\Exception FILE when it cannot be read or is shorter
     * Does not wait.
     * @rust send_file
     */
    public function sendfile(string $path, int $offset = 0, int $length = 0): bool {}

    /**
     * Answers with a redirection and ends the response (RFC 9110 section 15.4).
     * @param int $code 300 to 399
     * @return bool false when the head has already been sent
     * @throws \Apus\Http\Exception INVALID_STATUS, INVALID_HEADER
     * Does not wait.
     */
    public function redirect(string $location, int $code = 302): bool {}

    /**
     * Whether something can be sent: the response has not ended, and the client is not known to have gone.
     * Does not wait.
     */
    public function isWritable(): bool {}

    /**
     * Detaches the answer from this object: freeing it sends nothing. Response::create() with the fd continues it.
     * @return bool false when the response has ended, or was detached already
     * Does not wait.
     */
    public function detach(): bool {}

    /**
     * A response object for a connection of this worker that waits for an answer.
     * @param mixed $server the server, or the fd itself
     * @return Response|false false when there is no such connection here, or it waits for no answer
     * Does not wait.
     */
    public static function create(mixed $server, int $fd = -1): \Apus\Http\Response|false {}

    // @rust module super::websocket

    /**
     * Accepts the WebSocket handshake that this request is (RFC 6455 section 4.2): sends 101 with the header fields set
     * before, a Sec-WebSocket-Protocol among them. Then recv() and push() use the connection, and no message event
     * comes.
     * @return bool false when the request is not a valid handshake, or is from an origin that websocket_origins does
     * not allow: it was then answered with 400, 403, 405 or 426, unless the head had already been sent
     * @throws \Apus\Http\Exception DETACHED
     * Does not wait.
     */
    public function upgrade(): bool {}

    /**
     * The next message. The server answers pings. The client is read only as fast as this is called.
     * @param float $timeout seconds; negative for no limit
     * @return Frame|string|false an empty string once the connection is closed (with open_websocket_close_frame the
     * CloseFrame before it); false when the time-out expires
     * @throws \Apus\Http\Exception NOT_UPGRADED
     * Waits.
     */
    public function recv(float $timeout = -1): \Apus\WebSocket\Frame|string|false {}

    /**
     * Sends a message: see Apus\WebSocket\Server::push().
     * @return bool false when it is lost
     * @throws \Apus\Http\Exception NOT_UPGRADED
     * @throws \Apus\Client\Exception ARGUMENT
     * Waits.
     */
    public function push(\Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool {}

    /**
     * Ends the WebSocket with a closing handshake, or closes the connection of a request that is not answered yet.
     * @return bool false when it is closed already
     * Does not wait.
     */
    public function close(): bool {}
}
