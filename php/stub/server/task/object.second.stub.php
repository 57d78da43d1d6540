<?php

namespace Swoole\Server;

/**
 * Apus\Server\Task, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Server\Task
 * @rust also swoole_server_task
 * @rust within crate::swoole::answers_false
 */
class Task
{
    public $data = null;

    public $dispatch_time = 0.0;

    public $id = -1;

    public $worker_id = -1;

    public $flags = 0;

    public function finish(mixed $data): bool {}

    /**
     * @rust pack_there
     * @rust typed
     */
    public static function pack(mixed $data): string|false {}

    /**
     * @rust unpack_there
     * @rust typed
     */
    public static function unpack(string $data): mixed {}
}
