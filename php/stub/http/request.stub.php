<?php

namespace Apus\Http;

/**
 * One HTTP request. Its properties are built when they are first read.
 * @rust lazy 9 fill_property
 */
class Request
{
    /** The connection's session id. */
    public int $fd = 0;

    /** The stream of an HTTP/2 request; 0 in HTTP/1. */
    public int $streamId = 0;

    /** Header fields, names lower-case; several of one name are joined with ", " (RFC 9110 section 5.3). */
    public ?array $header;

    /**
     * request_method, request_uri (path as sent), path_info (path decoded), query_string (if there is one),
     * request_time, request_time_float, server_protocol, server_port, remote_port, server_addr, remote_addr, master_time
     * (when the connection was accepted). Keys are lower-case.
     */
    public ?array $server;

    /** Cookies; null without any. */
    public ?array $cookie;

    /** Query variables, nested as PHP does; null without any. Limit: max_input_vars. */
    public ?array $get;

    /**
     * Uploaded files by field: name, full_path, type, tmp_name, error (UPLOAD_ERR_*), size, as in $_FILES, but a field
     * list[] holds a list of such entries; null without any. is_uploaded_file() and move_uploaded_file() recognise
     * them. They are removed when the request object is freed.
     */
    public ?array $files;

    /** Form fields of an urlencoded or multipart body; null without any. Limits: max_input_vars, max_form_memory. */
    public ?array $post;

    /** Paths of the uploaded files; null without any. */
    public ?array $tmpfiles;

    /**
     * The request method as sent, such as GET (RFC 9110 section 9).
     * Does not wait.
     */
    public function getMethod(): string {}

    /**
     * The id of the trace that the request belongs to (W3C Trace Context): 32 hexadecimal digits. The one that the
     * client sent, where the setting request_ids says that it is believed, else one that was made here.
     * Does not wait.
     */
    public function getTraceId(): string {}

    /**
     * What to send to another service as the field traceparent, so that the trace goes on there.
     * Does not wait.
     */
    public function getTraceparent(): string {}

    /**
     * The whole body; empty without one. With the setting stream_request_body it waits for what has not arrived yet.
     * @return string|false false, with a warning, for a multipart form, whose parts are in $post and $files; with the
     * setting http_parse_post off it is returned whole
     * @throws \Apus\Http\Exception BODY when the body was cut off (streamed bodies only)
     */
    public function rawContent(): string|false {}

    /**
     * The same as rawContent().
     * @rust raw_content
     */
    public function getContent(): string|false {}

    /**
     * The body, which is JSON, as json_decode() gives it. The Content-Type is not looked at, and each call decodes
     * anew. With the setting stream_request_body it waits for what has not arrived yet.
     * @param bool $assoc whether objects become arrays
     * @param int $depth how deep arrays and objects may lie in each other at most
     * @throws \Apus\Http\Exception JSON when the body is empty, is not JSON, lies deeper than that, or is a multipart
     * form; BODY when it was cut off (streamed bodies only)
     * @throws \ValueError when $depth is out of range
     * @rust super::json::json
     */
    public function json(bool $assoc = true, int $depth = 512): mixed {}

    /**
     * The next bytes of the body. With the setting stream_request_body it waits until some have arrived, and a body of
     * any allowed size passes in constant memory; the client is read only as fast as this is called.
     * @param int $max 1 to 16777216 bytes
     * @return string at most $max bytes; empty at the end
     * @throws \ValueError when $max is out of range
     * @throws \Apus\Http\Exception BODY when the body was cut off or arrived too slowly
     * Waits.
     */
    public function read(int $max = 65536): string {}

    /**
     * Trailer fields of a chunked body, or one over HTTP/2, names lower-case (RFC 9110 section 6.5); of a streamed body once it was read.
     * Does not wait.
     * @rust trailers
     */
    public function getTrailers(): array {}

    /**
     * The request as it was received: the head, and the body if it was kept whole.
     * Does not wait.
     */
    public function getData(): string|false {}

    /**
     * Whether the client has closed the connection. See also the setting cancel_on_disconnect.
     * Does not wait.
     */
    public function isAborted(): bool {}
}
