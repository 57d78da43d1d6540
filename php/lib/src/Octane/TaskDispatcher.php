<?php

declare(strict_types=1);

namespace Apus\Octane;

use Apus\Http\Server;
use Laravel\Octane\Contracts\DispatchesTasks;
use Laravel\Octane\Exceptions\TaskExceptionResult;
use Laravel\Octane\Exceptions\TaskTimeoutException;
use Laravel\SerializableClosure\SerializableClosure;

/** `Octane::concurrently()` and its like, by task workers. */
final class TaskDispatcher implements DispatchesTasks
{
    public function __construct(private readonly Server $server)
    {
    }

    public function resolve(array $tasks, int $waitMilliseconds = 3000): array
    {
        $sent = array_values(array_map(self::sent(...), $tasks));
        $results = $this->server->taskWaitMulti($sent, $waitMilliseconds / 1000);
        if ($results === false && $tasks !== []) {
            throw TaskTimeoutException::after($waitMilliseconds);
        }
        $values = [];
        foreach (array_keys($tasks) as $place => $key) {
            $result = $results[$place] ?? null;
            if ($result instanceof TaskExceptionResult) {
                throw $result->getOriginal();
            }
            $values[$key] = $result === null ? false : $result->result;
        }
        return $values;
    }

    public function dispatch(array $tasks): void
    {
        foreach ($tasks as $task) {
            $this->server->task(self::sent($task));
        }
    }

    /** Closures are sent with their code. */
    private static function sent(mixed $task): mixed
    {
        return $task instanceof \Closure ? new SerializableClosure($task) : $task;
    }
}
