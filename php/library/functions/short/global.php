<?php

declare(strict_types=1);

function _string(string $string = ''): Swoole\StringObject
{
    return new Swoole\StringObject($string);
}

function _mbstring(string $string = ''): Swoole\MultibyteStringObject
{
    return new Swoole\MultibyteStringObject($string);
}

function _array(array $array = []): Swoole\ArrayObject
{
    return new Swoole\ArrayObject($array);
}
