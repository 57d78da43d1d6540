<?php

namespace Apus\Http2;

/**
 * A request that Apus\Coroutine\Http2\Client::send() sends.
 * @rust slots
 */
class Request
{
    /** string Path and query. */
    public $path = '/';

    /** string The method. */
    public $method = 'GET';

    /** array|null Header fields: name => value, or a list of values. */
    public $headers = null;

    /** array|null Cookies: name => value. */
    public $cookies = null;

    /** string|array The body; an array is a form. */
    public $data = '';

    /** bool Whether more of the body follows by write(). */
    public $pipeline = false;

    /** bool Whether the answer is given piece by piece, by read(). */
    public $usePipelineRead = false;
}

/**
 * An answer received over HTTP/2, or a piece of one.
 * @rust slots
 */
class Response
{
    /** int The stream, as send() returned it. */
    public $streamId = 0;

    /** int Why the stream broke: one of Apus\HTTP2_ERROR_*, or a kernel's error number; 0 when it did not. */
    public $errCode = 0;

    /** int The status; -3 when the stream broke. */
    public $statusCode = 0;

    /** bool Whether more of this answer follows. */
    public $pipeline = false;

    /** array|null Fields, names lower-case, those of the trailer section too. */
    public $headers = null;

    /** array|null Set-Cookie fields as they came. */
    public $set_cookie_headers = null;

    /** array|null What they set: name => value. */
    public $cookies = null;

    /** string The body, or the next piece of it. */
    public $data = null;
}
