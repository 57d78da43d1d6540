<?php

/**
 * Sends the rest of the answer and lets the script go on without its client. Only in scripts of `apus serve`.
 * @return bool false when the answer had ended already
 * @rust typed
 */
function fastcgi_finish_request(): bool {}

/**
 * The fields of the request's head. Only in scripts of `apus serve`.
 * @rust request_headers
 * @rust typed
 */
function getallheaders(): array {}

/**
 * The fields of the request's head. Only in scripts of `apus serve`.
 * @rust request_headers
 * @rust typed
 */
function apache_request_headers(): array {}

/**
 * The same as Apus\handle_request().
 * @rust handle_request
 * @rust typed
 */
function frankenphp_handle_request(callable $callback): bool {}

/**
 * The same as fastcgi_finish_request().
 * @rust fastcgi_finish_request
 * @rust typed
 */
function frankenphp_finish_request(): bool {}

/**
 * The fields of the request's head. Only in scripts of `apus serve`.
 * @rust request_headers
 * @rust typed
 */
function frankenphp_request_headers(): array {}
