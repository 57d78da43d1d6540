<?php

/** The contract's messages for Apus and Swoole, whose servers and frames are alike. */

declare(strict_types=1);

namespace Bench\Ws;

/** @param \Closure(string): void $broadcast to all connections, on all workers */
function handler(\Closure $broadcast): \Closure
{
    return static function (object $server, object $frame) use ($broadcast): void {
        $text = $frame->data;
        if ($frame->opcode === 1 && ($text[1] ?? '') === ':') {
            if ($text[0] === 'b') {
                $broadcast($text);
                return;
            }
            if ($text[0] === 'p') {
                [, $fd, $count, $gap] = explode(':', $text);
                $server->push($frame->fd, push($server, (int) $fd, (int) $count, (int) $gap));
                return;
            }
        }
        if ($text === 'w') {
            $text = "w:{$server->worker_id}:{$frame->fd}";
        }
        $server->push($frame->fd, $text, $frame->opcode);
    };
}

/** Pushes $count messages that carry the time of their sending, $gap nanoseconds apart; see client/src/push.rs. */
function push(object $server, int $fd, int $count, int $gap): string
{
    $begun = $next = hrtime(true);
    $pushed = 0;
    for ($i = 0; $i < $count; $i++) {
        for ($now = hrtime(true); $now < $next; $now = hrtime(true)) {
        }
        $next += $gap;
        $pushed += (int) $server->push($fd, sprintf('%020d', $now));
    }
    return "p:$pushed:" . (hrtime(true) - $begun);
}
