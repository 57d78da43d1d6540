<?php

declare(strict_types=1);

use Swoole\Curl\Handler;

function swoole_curl_init(string $url = ''): Handler
{
    return new Handler($url);
}

function swoole_curl_setopt(Handler $obj, int $opt, mixed $value): bool
{
    return $obj->setOpt($opt, $value);
}

function swoole_curl_setopt_array(Handler $obj, array $array): bool
{
    foreach ($array as $option => $value) {
        if (!$obj->setOpt($option, $value)) {
            return false;
        }
    }
    return true;
}

function swoole_curl_exec(Handler $obj): string|bool
{
    return $obj->exec();
}

function swoole_curl_getinfo(Handler $obj, int $opt = 0): mixed
{
    return $obj->getInfo($opt);
}

function swoole_curl_errno(Handler $obj): int
{
    return $obj->errno();
}

function swoole_curl_error(Handler $obj): string
{
    return $obj->error();
}

function swoole_curl_reset(Handler $obj): void
{
    $obj->reset();
}

function swoole_curl_close(Handler $obj): void
{
    $obj->close();
}

function swoole_curl_multi_getcontent(Handler $obj): ?string
{
    return $obj->getContent();
}

// Not in the global namespace: libraries look there for what ext/curl can do.
if (!defined('CURLOPT_PREREQFUNCTION') && !defined('Swoole\Curl\CURLOPT_PREREQFUNCTION')) {
    define('Swoole\Curl\CURLOPT_PREREQFUNCTION', 20312);
    define('Swoole\Curl\CURL_PREREQFUNC_OK', 0);
    define('Swoole\Curl\CURL_PREREQFUNC_ABORT', 1);
}
