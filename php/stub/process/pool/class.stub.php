<?php

namespace Apus\Process;

/**
 * A number of worker processes that are kept running: one that ends, or is killed, is restarted (after a pause, if it
 * keeps failing within its first second). start() makes the calling process their master: SIGTERM and SIGINT end the
 * pool, SIGUSR1 and SIGUSR2 replace the workers one after the other. A worker that is to end gets SIGTERM, and SIGKILL
 * when it has not ended after max_wait_time. With messages it ends when it has handled its current message; with
 * coroutines when they have ended; one that only runs workerstart ends at once unless it handles SIGTERM itself.
 * Events: start(Pool) and shutdown(Pool) in the master; workerstart(Pool, int $workerId), whose return ends a worker
 * without messages, workerstop(Pool, int $workerId), workerexit(Pool, int $workerId), when a worker with coroutines is
 * to end, and message(Pool, string $data) in workers.
 * @rust slots
 */
class Pool
{
    /** The master's process id, once start() was called. */
    public int $master_pid = -1;

    /** In a worker: its process id. */
    public int $workerPid = -1;

    /** In a worker: its number, from 0. */
    public int $workerId = -1;

    /** Not used: see getProcess(). */
    public ?array $workers = null;

    /** In a worker with messages or coroutines: false when it is to end. */
    public bool $workerRunning = true;

    /** The same. */
    public bool $running = true;

    /** The port that listen() has bound; the actual one if 0 was requested. */
    public int $port = 0;

    // @rust typed

    /**
     * @param int $worker_num 1 to 4096
     * @param int $ipc_type where messages come from: Apus\IPC_NONE: there are none; IPC_UNIXSOCK: from other workers,
     * by sendMessage(); IPC_MSGQUEUE: from a System V message queue, for any free worker; IPC_SOCKET: from clients of
     * listen()
     * @param int $msgqueue_key the queue's key; 0 for one made from the script's path. The queue stays in the system
     * @param bool $enable_coroutine workers run their callbacks in coroutines, and handle up to 1,024 messages at once
     * @throws \ValueError for other values
     * Does not wait.
     */
    public function __construct(int $worker_num, int $ipc_type = 0, int $msgqueue_key = 0, bool $enable_coroutine = false) {}

    /**
     * @param array $settings enable_coroutine (bool); max_wait_time: seconds that a worker may take to end (3);
     * max_package_size: bytes of a message over a socket (8 MiB); enable_message_bus (bool): no effect, messages are
     * always whole
     * @throws \ValueError for other settings or values
     * Does not wait.
     */
    public function set(array $settings): void {}

    /**
     * Sets the callback of an event: start, shutdown, workerstart, workerstop, workerexit or message, case-insensitive,
     * with or without a leading "on".
     * @throws \Apus\Process\Exception EVENT for another name, and for message without an $ipc_type; STATE after start()
     * Does not wait.
     */
    public function on(string $name, callable $callback): bool {}

    /**
     * A worker's process: with its pid, and with IPC_UNIXSOCK the pipe to it.
     * @param int $work_id its number; -1 in a worker for itself
     * @throws \ValueError for another number
     * @throws \Apus\Process\Exception STATE before start()
     * Does not wait.
     */
    public function getProcess(int $work_id = -1): \Apus\Process|false {}

    /**
     * Listens for clients, with IPC_SOCKET. A client sends four bytes with the length of its message in network order,
     * the message, and gets an answer of the same form if the callback called write(); one message for each connection,
     * which may take 10 seconds to arrive.
     * @param string $host an IP address or name, or "unix:" and a path
     * @param int $port 0 for any free one: see $port
     * @param int $backlog connections that may wait, 1 to 65535
     * @throws \ValueError for other values
     * @throws \Apus\Process\Exception BIND when the address is not available; STATE for other pools, and after start()
     * Does not wait.
     */
    public function listen(string $host, int $port = 0, int $backlog = 2048): bool {}

    /**
     * Adds to the answer to the message that is being handled, with IPC_SOCKET; it is sent when the callback has ended.
     * @throws \ValueError for an empty string
     * @throws \Apus\Process\Exception STATE elsewhere, and above 256 MiB
     * Does not wait.
     */
    public function write(string $data): bool {}

    /**
     * Sends a message to a worker, with IPC_UNIXSOCK: at most about 200 KiB with the system's defaults
     * (net.core.wmem_max). A restarted worker gets the messages that its predecessor had not taken.
     * @return bool false, with a warning, when it is too long (EMSGSIZE); false when the coroutine was cancelled
     * @throws \ValueError for an empty string or another worker
     * @throws \Apus\Process\Exception STATE for other pools
     * Waits while that worker's pipe is full: in a coroutine others run; outside, the process blocks.
     */
    public function sendMessage(string $data, int $dst_worker_id): bool {}

    /**
     * Removes the calling worker from the pool, which starts another in its place. The worker goes on until its
     * callback has returned, and takes no more messages; it outlives the master.
     * @throws \Apus\Process\Exception STATE outside workers
     * Does not wait.
     */
    public function detach(): bool {}

    /**
     * Starts the workers, and returns in the master when the pool was stopped; in a worker the script ends here.
     * @throws \Apus\Coroutine\Exception CANNOT_FORK inside a coroutine
     * @throws \Apus\Process\Exception EVENT when workers have nothing to do; STATE when it was already started, or has
     * not listened; SYSTEM when the system refuses
     * Blocks.
     */
    public function start(): void {}

    /**
     * Ends the calling worker, as SIGTERM does; another takes its place.
     * @throws \Apus\Process\Exception STATE outside workers
     * Does not wait.
     */
    public function stop(): void {}

    /**
     * Ends the pool: sends SIGTERM to the master.
     * @throws \Apus\Process\Exception STATE when it is not running
     * Does not wait.
     */
    public function shutdown(): bool {}
}
