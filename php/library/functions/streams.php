<?php

/* What functions of streams are in coroutines under SWOOLE_HOOK_STREAM_FUNCTION. */

/** Others have a turn first, whatever is ready; a stream counts once, readable and writable as it may be. */
function swoole_stream_select(?array &$read, ?array &$write, ?array &$except, ?int $seconds, ?int $microseconds = null): int|false
{
    Apus\Coroutine::sleep(0);
    $count = stream_select($read, $write, $except, $seconds, $microseconds);
    if (!$count) {
        return $count;
    }
    $streams = [];
    foreach ([$read, $write, $except] as $ready) {
        foreach ($ready ?? [] as $stream) {
            $streams[(int) $stream] = true;
        }
    }
    return count($streams);
}
