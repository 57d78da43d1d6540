<?php

namespace Swoole\Http2;

/**
 * Apus\Http2\Request, for code written for Swoole.
 * @rust second Apus\Http2\Request
 */
class Request
{
    public $path = '/';

    public $method = 'GET';

    public $headers = null;

    public $cookies = null;

    public $data = '';

    public $pipeline = false;

    public $usePipelineRead = false;
}

/**
 * Apus\Http2\Response, for code written for Swoole.
 * @rust second Apus\Http2\Response
 */
class Response
{
    public $streamId = 0;

    public $errCode = 0;

    public $statusCode = 0;

    public $pipeline = false;

    public $headers = null;

    public $set_cookie_headers = null;

    public $cookies = null;

    public $data = null;
}
