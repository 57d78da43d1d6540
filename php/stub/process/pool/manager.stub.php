<?php

namespace Apus\Process;

/**
 * A pool of processes in which each worker runs its own callable: see Apus\Process\Pool for how they are kept running
 * and ended.
 */
class Manager
{
    // @rust typed

    /**
     * @param int $ipcType Apus\IPC_NONE or IPC_UNIXSOCK: workers reach each other by getProcess()->write()
     * @param int $msgQueueKey the key of a message queue
     * @throws \ValueError for another type
     * Does not wait.
     */
    public function __construct(int $ipcType = 0, int $msgQueueKey = 0) {}

    /**
     * Adds a worker.
     * @param callable $func what it runs: $func(Apus\Process\Pool $pool, int $workerId); when that returns, the worker
     * is started again
     * @param bool $enableCoroutine in a coroutine
     * @throws \ValueError above 4,096 workers
     * Does not wait.
     */
    public function add(callable $func, bool $enableCoroutine = false): static {}

    /**
     * Adds several workers that run the same.
     * @throws \ValueError for less than 1 and above 4,096 workers
     * Does not wait.
     */
    public function addBatch(int $workerNum, callable $func, bool $enableCoroutine = false): static {}

    /**
     * As Apus\Process\Pool::start().
     * @throws \Apus\Process\Exception STATE without a worker
     * Blocks.
     */
    public function start(): void {}

    /**
     * @throws \ValueError for another type
     * Does not wait.
     */
    public function setIPCType(int $ipcType): static {}

    /**
     * What was set.
     * Does not wait.
     */
    public function getIPCType(): int {}

    /**
     * The key of the message queue.
     * Does not wait.
     */
    public function setMsgQueueKey(int $msgQueueKey): static {}

    /**
     * What was set.
     * Does not wait.
     */
    public function getMsgQueueKey(): int {}
}
