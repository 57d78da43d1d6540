<?php

namespace Apus;

/**
 * What all servers have in common: one master process that supervises, and workers that serve. See docs/processes.md.
 * @rust slots
 */
class Server
{
    // @rust typed

    /** All settings in effect, once start() was called. */
    public ?array $setting = null;

    /** The session ids of all connections; inside workers. */
    public ?\Apus\Server\Connections $connections = null;

    /** The first port's address. */
    public string $host = '';

    /** The first port's number; the actual one if 0 was requested. */
    public int $port = 0;

    /** The first port's kind of socket. */
    public int $type = 0;

    /** The mode that the constructor was given. */
    public int $mode = 0;

    /** All ports: Apus\Server\Port objects. */
    public ?array $ports = null;

    /** The master's process id, once start() was called. */
    public int $master_pid = 0;

    /** The same: the master manages the workers. */
    public int $manager_pid = 0;

    /** Inside a worker: its id, from 0. */
    public int $worker_id = -1;

    /** Whether this process is a task worker. */
    public bool $taskworker = false;

    /** Inside a worker: its process id. */
    public int $worker_pid = 0;

    /**
     * A server of raw streams and datagrams: TCP, UDP and Unix sockets. Binds the address at once, so that an address
     * in use throws an exception here. A socket that systemd passed for it is used instead.
     * @param string $host an IPv4 or IPv6 address, a name, or the path of a Unix socket
     * @param int $port 0 to 65535; 0 for any free one: see $port
     * @param int $mode Apus\BASE or Apus\PROCESS, which mean the same
     * @param int $sockType Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, SOCK_UNIX_STREAM or SOCK_UNIX_DGRAM
     * @throws \Apus\Server\Exception BIND
     * Does not wait.
     * @rust construct_plain
     */
    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1) {}

    /**
     * Changes settings: see docs/options.md. All are applied, or none.
     * @throws \Apus\Server\Exception OPTION (the message names the setting, its limits and unit), STATE after start()
     * Does not wait.
     */
    public function set(array $settings): bool {}

    /**
     * Sets the callback of an event; its name may have any case. In the master, outside coroutines:
     * start, managerstart, beforereload, afterreload, beforeshutdown, managerstop, shutdown ($server);
     * workererror ($server, $workerId, $workerPid, $exitCode, $signal).
     * In workers, each in a coroutine: workerstart, workerexit, workerstop ($server, $workerId);
     * connect, close ($server, $fd, $workerId); request (Request, Response);
     * receive ($server, $fd, $workerId, $data): a message of a stream, or the bytes that arrived if there is no
     * framing;
     * bufferfull, bufferempty ($server, $fd): see buffer_high_watermark;
     * packet ($server, $data, $clientInfo): a datagram; $clientInfo has address, port, server_socket, server_port;
     * task ($server, $taskId, $srcWorkerId, $data), in task workers: what it returns, unless null, is the task's
     * result; with task_enable_coroutine or task_use_object ($server, Apus\Server\Task);
     * finish ($server, $taskId, $data), taskerror ($server, $taskId, $reason): in the worker that called task().
     * @throws \Apus\Server\Exception EVENT, STATE after start()
     * Does not wait.
     */
    public function on(string $event, callable $callback): bool {}

    /**
     * The callback of an event, or null.
     * Does not wait.
     */
    public function getCallback(string $event): mixed {}

    /**
     * Listens on one more address; the kind of socket as in the constructor. A stream port of an Http\Server speaks
     * HTTP, unless Port::set() or Port::on() say otherwise.
     * @throws \Apus\Server\Exception BIND, STATE after start()
     * Does not wait.
     * @rust listen
     */
    public function addlistener(string $host, int $port, int $sockType): \Apus\Server\Port|false {}

    /** The same as addlistener(). */
    public function listen(string $host, int $port, int $sockType): \Apus\Server\Port|false {}

    /**
     * Starts the server: this process becomes the master, and returns true when the server has stopped. It never
     * returns in workers: their script ends here.
     * Signals to the master: TERM stops when requests have ended (setting max_wait_time), INT stops at once, USR1
     * reloads event and task workers, USR2 task workers, HUP reloads as USR1 and reopens the log.
     * @throws \Apus\Server\Exception STATE, EVENT (a port without a callback that answers), OPTION, BIND, PROCESS
     */
    public function start(): bool {}

    // @rust module info

    /**
     * Stops the server; requests that have begun are finished.
     * @throws \Apus\Server\Exception STATE when it is not running
     * Does not wait.
     */
    public function shutdown(): bool {}

    /**
     * Replaces all event and task workers with new ones; no request and no task is lost. User processes stay.
     * @param bool $onlyTaskWorkers whether event workers stay, too
     * @throws \Apus\Server\Exception STATE when it is not running
     * Does not wait.
     */
    public function reload(bool $onlyTaskWorkers = false): bool {}

    /**
     * Replaces one worker (-1: this one) with a new one, which serves before the old one exits, even if called in
     * workerstart; a user process is told to exit (TERM), and started again when it has.
     * @return bool false when there is no such worker
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function stop(int $workerId = -1, bool $waitEvent = false): bool {}

    /**
     * Numbers of the whole server: start_time, connection_num, accept_count, close_count, worker_num, idle_worker_num,
     * serving_worker_num, worker_crash_count, request_count, response_count, error_count (status 500 and above),
     * concurrency (requests being handled), task_worker_num, task_idle_worker_num, tasking_num (tasks that wait or
     * run), task_queue_num (that wait), task_queue_bytes (that both take), task_delayed_num (that wait for their time),
     * task_count (done), task_error_count, user_process_num, total_recv_bytes, total_send_bytes, coroutine_num,
     * memory_bytes, rss_bytes, loop_blocked_count, latency_p50_us, latency_p99_us; of this worker:
     * worker_request_count, worker_response_count, worker_concurrency, coroutine_peak_num; and workers, one row for
     * each.
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function stats(): array {}

    /**
     * Whether a connection is open, in any worker.
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function exist(int $fd): bool {}

    /**
     * The same as exist().
     * @rust info::exist
     */
    public function exists(int $fd): bool {}

    /**
     * Closes a connection of any worker, after the data that waits to be sent; with $reset at once, if the connection
     * belongs to this worker. In the handler of that connection's request the answer is sent first.
     * @return bool false when there is no such connection, and when this worker is closing it already
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     * @rust info::close_connection
     */
    public function close(int $fd, bool $reset = false): bool {}

    /**
     * Information about a connection: remote_ip, remote_port, server_port, socket_type, worker_id, reactor_id,
     * connect_time, last_time, last_recv_time, request_count, close_errno; of a WebSocket websocket_status (3); of a
     * stream or WebSocket of this worker send_queued_bytes. In the callback of close, until its first wait, that of the
     * connection which ends.
     * @return array|false false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     * @rust info::client_info
     */
    public function getClientInfo(int $fd, int $reactorId = -1, bool $ignoreError = false): array|false {}

    /**
     * Session ids greater than $startFd, ascending.
     * @param int $count 1 to 10000
     * @return array|false false when there are none
     * @throws \ValueError when $count is out of range
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     * @rust info::client_list
     */
    public function getClientList(int $startFd = 0, int $count = 10): array|false {}

    // @rust module self

    /**
     * The master's process id; false before start().
     * Does not wait.
     */
    public function getMasterPid(): int|false {}

    /**
     * The same as getMasterPid(): the master manages the workers.
     * Does not wait.
     * @rust get_master_pid
     */
    public function getManagerPid(): int|false {}

    /**
     * This worker's id; false outside workers.
     * Does not wait.
     */
    public function getWorkerId(): int|false {}

    /**
     * The process id of a worker (-1: this one); false when there is none.
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function getWorkerPid(int $workerId = -1): int|false {}

    /**
     * Sends bytes over a stream connection of any worker. Where buffer_output_size bytes wait for it already,
     * send_policy decides: wait (outside coroutines: drop), drop, or close. Data sent from one coroutine arrives in
     * that order.
     * @param int|string $fd the session id, or the path of a Unix datagram socket
     * @param int $serverSocket for a path: which of the server's ports sends, as in packet's $clientInfo; -1 for the
     * first
     * @return bool true when the bytes are sent or wait to be; false when they are lost: see getLastError()
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (where a coroutine runs).
     * @rust super::send::send
     */
    public function send(int|string $fd, string $data, int $serverSocket = -1): bool {}

    /**
     * Sends one datagram from a datagram port of this server.
     * @param string $ip an IPv4 or IPv6 address, or the path of a Unix socket (then $port is ignored)
     * @param string $data 65507 bytes at most
     * @param int $serverSocket which port sends, as in packet's $clientInfo; -1 for the first one of the receiver's
     * family
     * @return bool false when the kernel does not take it: getLastError() gives its errno
     * @throws \ValueError for an invalid address
     * @throws \Apus\Server\Exception STATE outside workers, and without such a port
     * Waits (where a coroutine runs).
     * @rust super::packet::sendto
     */
    public function sendto(string $ip, int $port, string $data, int $serverSocket = -1): bool {}

    // @rust module super::send

    /**
     * Sends a file over a stream connection, after the data that waits; it is read while it is sent. Only one file at a
     * time waits for a connection: the next one waits until it has been sent. A connection of another worker gets its
     * bytes as send() sends them.
     * @param int $length 0 for all from $offset on
     * @return bool false when it cannot be opened or the connection has gone: see getLastError()
     * @throws \ValueError when the file is shorter
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (where a coroutine runs).
     */
    public function sendfile(int $fd, string $file, int $offset = 0, int $length = 0): bool {}

    /**
     * Like send() over a stream connection of this worker, and returns when the kernel has all of it.
     * @return bool false when the connection has gone: see getLastError()
     * @throws \Apus\Server\Exception STATE outside workers
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE when it has to wait outside a coroutine
     * Waits.
     */
    public function sendwait(int $fd, string $data): bool {}

    /**
     * Stops reading from a stream or WebSocket of any worker, until resume(): the kernel's buffers fill, and the peer
     * has to wait.
     * @return bool false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits only for another worker that is behind with its messages.
     */
    public function pause(int $fd): bool {}

    /**
     * Undoes pause().
     * @return bool false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits only for another worker that is behind with its messages.
     */
    public function resume(int $fd): bool {}

    /**
     * Starts to read from a new connection of a port with enable_delay_receive.
     * @return bool false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits only for another worker that is behind with its messages.
     */
    public function confirm(int $fd): bool {}

    /**
     * Begins TLS on a stream of this worker (STARTTLS; setting ssl_starttls). What was sent before goes in clear; bytes
     * that the client sent behind the command that asked for TLS end the connection.
     * @return bool false when there is no such connection, or it speaks TLS
     * Waits until what was sent has left.
     */
    public function enableSSL(int $fd): bool {}

    /**
     * Makes the heartbeat ignore a connection, however silent it is.
     * @return bool false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits only for another worker that is behind with its messages.
     */
    public function protect(int $fd, bool $on = true): bool {}

    /**
     * The connections of this worker that have sent nothing for heartbeat_idle_time, which are closed at once if
     * requested.
     * @return array|false their session ids; false when no connection is at a port with heartbeat_idle_time
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function heartbeat(bool $ifCloseConnection = true): array|false {}

    /**
     * How many bytes wait in memory for the client of a connection of this worker, files apart.
     * @return int|false false when there is no such connection in this worker
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function bufferedAmount(int $fd): int|false {}

    /**
     * Why the latest call that returned false failed: one of Apus\ERROR_*, or an errno of the kernel.
     * Does not wait.
     * @rust crate::last_error::get
     * @rust raw
     */
    public function getLastError(): int {}

    // @rust module super::routing::methods

    /**
     * Sends a value to a worker, which may be this one: its event pipemessage ($server, $srcWorkerId, $message) gets
     * it. Messages from one worker arrive in order. Values other than strings are serialized; objects are unserialized
     * outside coroutines.
     * @param int $workerId 0 to worker_num + task_worker_num - 1
     * @return bool false when the worker takes nothing now (outside coroutines), is just being replaced, or the value
     * is larger than package_max_length and 8 MiB: see getLastError()
     * @throws \ValueError when there is no such worker
     * @throws \Exception what serialize() throws
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (where a coroutine runs).
     */
    public function sendMessage(mixed $message, int $workerId): bool {}

    /**
     * Assigns a connection of any worker to a user. A user may have many connections, a connection has one user; the
     * last call counts. The binding ends with the connection.
     * @param string|int $user 1 to 256 bytes; an integer means its decimal digits
     * @return bool false when there is no such connection
     * @throws \ValueError for a name that is empty or too long
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for a connection of another worker).
     */
    public function bind(int $fd, string|int $user): bool {}

    /**
     * Ends the binding of a connection to its user.
     * @return bool false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for a connection of another worker).
     */
    public function unbind(int $fd): bool {}

    /**
     * Sends a message to all connections of a user, in all workers, and with the setting broker on all servers:
     * WebSockets get a message (binary where $data is not UTF-8 and $opcode is null), others the data as it is. A
     * connection for which buffer_output_size bytes wait does not get it and is not counted.
     * @return int the connections that it reached; processes that do not answer within 2 s are not counted
     * @throws \ValueError, \Apus\Client\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE where it would have to wait for other workers
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for the answers of other workers).
     */
    public function sendToUser(string|int $user, \Apus\WebSocket\Frame|string $data, ?int $opcode = null, int $flags = 1): int {}

    /**
     * Whether a user has a connection, on any worker, and with the setting broker on any server.
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for the answers of other workers, 2 s at most).
     */
    public function isOnline(string|int $user): bool {}

    /**
     * The session ids of a user's connections to this server, ascending.
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for the answers of other workers, 2 s at most).
     */
    public function userConnections(string|int $user): array {}

    /**
     * Subscribes a connection of any worker to a topic. The subscription ends with the connection.
     * @param string $topic 1 to 256 bytes
     * @return bool false when there is no such connection, or it has 1024 topics: see getLastError()
     * @throws \ValueError for a topic that is empty or too long
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for a connection of another worker).
     */
    public function subscribe(int $fd, string $topic): bool {}

    /**
     * Ends a subscription; without a topic, all of them.
     * @return bool false when there is no such connection
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for a connection of another worker).
     */
    public function unsubscribe(int $fd, string $topic = ''): bool {}

    /**
     * Sends a message to all connections that are subscribed to a topic, in all workers, and with the setting broker on
     * all servers: WebSockets get a message ($opcode as in sendToUser()), encoded once and never compressed, others the
     * data as it is. It does not
     * wait for a slow connection: one for which buffer_output_size bytes wait does not get it, or is closed if
     * send_policy says so.
     * @return bool false when a worker or the broker takes nothing now, so that some may not get it: see getLastError()
     * @throws \ValueError, \Apus\Client\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (where a coroutine runs, for room in another worker's queue).
     */
    public function publish(string $topic, \Apus\WebSocket\Frame|string $data, ?int $opcode = null, int $flags = 1): bool {}

    /**
     * How many connections are subscribed to a topic, in all workers, and with the setting broker on all servers.
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for the answers of other workers, 2 s at most).
     */
    public function subscribers(string $topic): int {}

    /**
     * Who is subscribed to a topic: a row for each connection, with fd, user (null when it has none; decimal digits are
     * an integer, as with array keys), worker_id, and server: '' for a connection of this server, else a name of the
     * other server, to which fd and worker_id refer.
     * @param int $limit maximum number of rows, 1 to 100000
     * @throws \ValueError when $limit is out of range
     * @throws \Apus\Server\Exception STATE outside workers
     * Waits (for the answers of other workers, 2 s at most).
     */
    public function presence(string $topic, int $limit = 1000): array {}

    // @rust module super::task::methods

    /**
     * Hands a task to a task worker, and does not wait for it: the event task gets it there. What its callback returns
     * (unless null) or gives to finish() comes back to this process, to the callback or the event finish ($server,
     * $taskId, $data); failures go to the event taskerror ($server, $taskId, $reason). The task runs even if this
     * process dies. See docs/tasks.md.
     * @param mixed $data what Apus\pack() takes
     * @param int $dstWorkerId 0 to task_worker_num - 1, or -1 for the first one that is free
     * @param callable|null $finishCallback fn($server, int $taskId, mixed $data)
     * @param int $priority Apus\TASK_HIGH, TASK_NORMAL or TASK_LOW: tasks of a higher priority run first
     * @return int|false its number, from 1; false when task_queue_size is reached (ERROR_TASK_QUEUE_FULL)
     * @throws \ValueError for an unknown worker or priority
     * @throws \Apus\Server\TaskException TOO_LARGE when it would not fit even if it were alone
     * @throws \Apus\Server\Exception STATE outside the server's processes and without task workers, EVENT without a
     * task callback
     * @throws \Exception what packing the data throws
     * Does not wait.
     */
    public function task(mixed $data, int $dstWorkerId = -1, ?callable $finishCallback = null, int $priority = \Apus\TASK_NORMAL): int|false {}

    /**
     * Submits a task and waits for its result. Outside coroutines it blocks this process. After the time-out the task
     * goes on, and its result is dropped.
     * @param float $timeout seconds, for room and result together; negative for no limit
     * @return mixed the result; null when the task ended without one; false otherwise, and getLastError() is
     * ERROR_TASK_TIMEOUT, ERROR_TASK_WORKER_DIED, ERROR_TASK_FAILED (it threw; the log says what) or
     * ERROR_TASK_QUEUE_FULL; 0 after a task that returned false
     * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
     * Waits.
     */
    public function taskwait(mixed $data, float $timeout = 0.5, int $dstWorkerId = -1): mixed {}

    /**
     * Submits several tasks and waits for all of them. Outside coroutines it blocks this process.
     * @param array $tasks the data of each, 10000 at most
     * @param float $timeout seconds for all of them; negative for no limit
     * @return array|false the results, by the positions 0, 1, … of the tasks; a task without a result in time is
     * missing. False if there were none: see getLastError()
     * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
     * Waits.
     */
    public function taskWaitMulti(array $tasks, float $timeout = 0.5): array|false {}

    /**
     * The same as taskWaitMulti(), with false in the positions of tasks without a result in time.
     * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
     * Waits.
     */
    public function taskCo(array $tasks, float $timeout = 0.5): array|false {}

    /**
     * Inside the callback of the event task: gives the sender a result, as Apus\Server\Task::finish() does.
     * @return bool false when the sender wants none, or there is no room for it
     * @throws \Apus\Server\Exception STATE outside a task
     * @throws \Apus\Server\TaskException TOO_LARGE
     * Does not wait.
     */
    public function finish(mixed $data): bool {}

    // @rust module super::task::schedule

    /**
     * Submits a task that runs after some time. It is kept in memory that the processes share: it survives the death or
     * reload of any worker, but not the server's end. Its result goes to the event finish, if this process still
     * exists.
     * @param float $seconds 0 to ten years
     * @return int|false its number; false when task_queue_size is reached
     * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
     * Does not wait.
     */
    public function taskAfter(float $seconds, mixed $data, int $dstWorkerId = -1): int|false {}

    /**
     * Submits a task that runs after some time, and again after each such interval, until taskCancel() or the server's
     * end. One task worker takes each run; a run that would begin while another is in progress is skipped. What it
     * returns is dropped.
     * @param float $seconds 0.001 to ten years
     * @param string $name replaces a task of this name, so that a workerstart callback may call this in every worker,
     * and again after a reload; 256 bytes at most; empty for none
     * @return int|false its number; false when task_queue_size is reached
     * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
     * Does not wait.
     */
    public function taskEvery(float $seconds, mixed $data, string $name = ''): int|false {}

    /**
     * Submits a task that runs by a calendar expression. As with taskEvery(), one task worker takes each run, and none
     * overlap; dates that pass while it runs are skipped.
     * @param string $expression minute, hour, day of the month, month, day of the week, as in crontab(5), and seconds
     * before them where there are six fields; names of months and days, @hourly and the like, L, W and # are accepted
     * @param string $name as in taskEvery()
     * @param string $timezone such as Europe/Berlin; empty for PHP's own (date.timezone, date_default_timezone_set()),
     * or, if that is not set, the system's (TZ)
     * @return int|false its number; false when task_queue_size is reached
     * @throws \ValueError for an invalid expression or time zone
     * @throws \Apus\Server\TaskException, \Apus\Server\Exception as task()
     * Does not wait.
     */
    public function taskCron(string $expression, mixed $data, string $name = '', string $timezone = ''): int|false {}

    /**
     * Cancels a task: one that has not begun does not run; one that is running is finished
     * (Apus\Server\Task::isCancelled() tells it, in a compute() Apus\progress() throws), and is not repeated. There is
     * no event for this.
     * @return bool false when there is no such task any more
     * @throws \Apus\Server\Exception STATE outside the server's processes and without task workers
     * Does not wait.
     */
    public function taskCancel(int $taskId): bool {}

    /**
     * Makes a task worker call something that takes long, and waits for its return value; meanwhile this worker serves
     * others. Outside coroutines it blocks this process.
     * @param callable $callable a function, a static or other method (its object is copied), an invokable object, or a
     * closure that is defined inside a function, a method or the main script (what it uses, and its $this, are copied)
     * @param array $args its arguments, copied
     * @param callable|null $progress fn(mixed $value): called here with what the callable passes to Apus\progress(); if
     * it returns false, the computation is cancelled
     * @param float $timeout seconds, after which it is cancelled; negative for no limit
     * @return mixed what the callable returned; false when the wait was cancelled without an exception
     * @throws \Apus\Server\TaskException FAILED when it threw (the message says what), WORKER_DIED, TIMEOUT,
     * CANCELLED, FULL, TOO_LARGE, CALLABLE when it cannot be sent
     * @throws \Apus\Server\Exception STATE outside the server's processes and without task workers
     * @throws \Exception what packing the arguments throws, and what $progress throws
     * Waits.
     * @rust super::task::compute::compute
     */
    public function compute(callable $callable, array $args = [], ?callable $progress = null, float $timeout = -1): mixed {}

    /**
     * Makes the server run a process beside its workers: it starts with them, is restarted when it ends (after at most
     * a second, or after longer pauses if it keeps failing), and gets TERM when the server stops, after the workers
     * have exited; reloads do not affect it. All workers share its pipe: what one writes to $process, the process
     * reads.
     * @param Apus\Process $process one that was not started; at most 1024
     * @return int|false its number among these, from 0. From start() on $process->id is its id among all processes,
     * which follows those of the task workers
     * @throws \Apus\Process\Exception STATE when it has already been started or added
     * @throws \Apus\Server\Exception STATE after start()
     * @throws \ValueError for too many
     * Does not wait.
     * @rust super::user_process::add_process
     */
    public function addProcess(\Apus\Process $process): int|false {}
}
