<?php

namespace Apus\Coroutine\Http;

/**
 * The answer to a request that Apus\Coroutine\Http\request(), get() or post() made: see getStatusCode(), getHeaders(),
 * getCookies() and getBody().
 * @rust static PROXY
 * @rust native
 */
class ClientProxy extends \Apus\Coroutine\Http\Client
{
}

/**
 * Makes one request over a connection of its own, and waits for its answer.
 * @param string|array|null $data the body: bytes, or the fields of a form
 * @param string $url of http or https
 * @param array|null $options settings, as Client::set() takes them
 * @param array|null $headers header fields, name => value
 * @param array|null $cookies cookies, name => value
 * @throws \Apus\Client\Exception REQUEST when there is no answer; ARGUMENT, OPTION
 * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
 * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
 * Waits.
 * @rust request_url
 * @rust typed
 */
function request(string $url, string $method, mixed $data = null, ?array $options = null, ?array $headers = null, ?array $cookies = null): \Apus\Coroutine\Http\ClientProxy {}

/**
 * The same as request() with GET.
 * @param string $url of http or https
 * @param array|null $options settings, as Client::set() takes them
 * @param array|null $headers header fields, name => value
 * @param array|null $cookies cookies, name => value
 * @throws \Apus\Client\Exception REQUEST when there is no answer; ARGUMENT, OPTION
 * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
 * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
 * Waits.
 * @rust get_url
 * @rust typed
 */
function get(string $url, ?array $options = null, ?array $headers = null, ?array $cookies = null): \Apus\Coroutine\Http\ClientProxy {}

/**
 * The same as request() with POST.
 * @param string|array $data the body: bytes, or the fields of a form
 * @param string $url of http or https
 * @param array|null $options settings, as Client::set() takes them
 * @param array|null $headers header fields, name => value
 * @param array|null $cookies cookies, name => value
 * @throws \Apus\Client\Exception REQUEST when there is no answer; ARGUMENT, OPTION
 * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
 * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
 * Waits.
 * @rust post_url
 * @rust typed
 */
function post(string $url, mixed $data, ?array $options = null, ?array $headers = null, ?array $cookies = null): \Apus\Coroutine\Http\ClientProxy {}
