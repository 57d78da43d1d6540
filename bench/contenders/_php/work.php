<?php

/**
 * What the routes do, shared by every PHP contender, so that only the servers differ.
 */

declare(strict_types=1);

namespace Bench;

const HELLO = 'Hello, World!';

/** W6 stage 1: built anew for each request, as the others do. */
function listing(): string
{
    $items = [];
    for ($id = 0; $id < 100; $id++) {
        $items[] = ['id' => $id, 'name' => 'item ' . $id, 'active' => $id % 2 === 0];
    }
    return json_encode($items, JSON_THROW_ON_ERROR);
}

/** W6 stage 2: keep the body under a new UUID, then delete it. */
function upload(string $dir, string $body): string
{
    $uuid = uuid4();
    $path = $dir . '/' . $uuid;
    keep($path, $body);
    unlink($path);
    return $uuid;
}

/** W6 stage 3: keep the body, read it back, delete it. */
function echoed(string $dir, string $body): string
{
    $path = $dir . '/' . uuid4();
    keep($path, $body);
    $bytes = file_get_contents($path);
    unlink($path);
    if ($bytes === false) {
        throw new \RuntimeException("cannot read $path");
    }
    return $bytes;
}

function keep(string $path, string $body): void
{
    if (file_put_contents($path, $body) !== strlen($body)) {
        throw new \RuntimeException("cannot write $path");
    }
}

/** RFC 9562 section 5.4. */
function uuid4(): string
{
    $bytes = random_bytes(16);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
}
