<?php

namespace Swoole;

/**
 * Apus\Server, for code written for Swoole: a call that cannot be made gives false and a warning. See docs/compat.md.
 * @rust second Apus\Server
 * @rust also swoole_server
 * @rust within crate::swoole::answers_false
 */
class Server
{
    // @rust typed

    public $setting = null;

    public $connections = null;

    public $host = '';

    public $port = 0;

    public $type = 0;

    public $mode = 0;

    public $ports = null;

    public $master_pid = 0;

    public $manager_pid = 0;

    public $worker_id = -1;

    public $taskworker = false;

    public $worker_pid = 0;

    public $ssl = false;

    public $stats_timer = null;

    public $admin_server = null;

    private $onStart = null;

    private $onBeforeShutdown = null;

    private $onShutdown = null;

    private $onWorkerStart = null;

    private $onWorkerStop = null;

    private $onBeforeReload = null;

    private $onAfterReload = null;

    private $onWorkerExit = null;

    private $onWorkerError = null;

    private $onTask = null;

    private $onFinish = null;

    private $onManagerStart = null;

    private $onManagerStop = null;

    private $onPipeMessage = null;

    /** @rust within crate::swoole::throws */
    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sock_type = 1) {}

    public function set(array $settings): bool {}

    /** @rust within crate::server::on_there */
    public function on(string $event_name, callable $callback): bool {}

    public function getCallback(string $event_name): \Closure|string|array|null {}

    public function listen(string $host, int $port, int $sock_type): \Swoole\Server\Port|false {}

    public function addlistener(string $host, int $port, int $sock_type): \Swoole\Server\Port|false {}

    public function sendMessage(mixed $message, int $dst_worker_id): bool {}

    public function addProcess(\Swoole\Process $process): int|false {}

    public function start(): bool {}

    public function stop(int $workerId = -1, bool $waitEvent = false): bool {}

    public function send(int|string $fd, string $send_data, int $serverSocket = -1): bool {}

    public function sendfile(int $conn_fd, string $filename, int $offset = 0, int $length = 0): bool {}

    public function stats(): array {}

    /**
     * A socket for the options of a port, by its place in $ports, which stays the server's; before start().
     * @rust get_socket
     * @rust typed
     */
    public function getSocket(int $port = 0): \Socket|false {}

    public function bind(int $fd, int $uid): bool {}

    public function sendto(string $ip, int $port, string $send_data, int $server_socket = -1): bool {}

    public function sendwait(int $conn_fd, string $send_data): bool {}

    public function exist(int $fd): bool {}

    public function exists(int $fd): bool {}

    public function protect(int $fd, bool $is_protected = true): bool {}

    public function close(int $fd, bool $reset = false): bool {}

    public function confirm(int $fd): bool {}

    public function pause(int $fd): bool {}

    public function resume(int $fd): bool {}

    public function task(mixed $data, int $taskWorkerIndex = -1, ?callable $finishCallback = null): int|false {}

    public function taskwait(mixed $data, float $timeout = 0.5, int $taskWorkerIndex = -1): mixed {}

    public function taskWaitMulti(array $tasks, float $timeout = 0.5): array|false {}

    public function taskCo(array $tasks, float $timeout = 0.5): array|false {}

    public function finish(mixed $data): bool {}

    public function reload(bool $only_reload_taskworker = false): bool {}

    public function shutdown(): bool {}

    public function heartbeat(bool $ifCloseConnection = true): array|false {}

    public function getClientList(int $start_fd = 0, int $find_count = 10): array|false {}

    /** @rust info::client_list */
    public function connection_list(int $start_fd = 0, int $find_count = 10): array|false {}

    public function getClientInfo(int $fd, int $reactor_id = -1, bool $ignoreError = false): array|false {}

    /** @rust info::client_info */
    public function connection_info(int $fd, int $reactor_id = -1, bool $ignoreError = false): array|false {}

    public function getWorkerId(): int|false {}

    public function getWorkerPid(int $worker_id = -1): int|false {}

    /** @rust info::worker_status */
    public function getWorkerStatus(int $worker_id = -1): int|false {}

    /** @rust info::manager_pid_or_zero */
    public function getManagerPid(): int {}

    /** @rust info::master_pid_or_zero */
    public function getMasterPid(): int {}

    public function getLastError(): int {}

    /** @rust super::routing::commands::add_command */
    public function addCommand(string $name, int $accepted_process_types, callable $callback): bool {}

    /** @rust super::routing::commands::command */
    public function command(string $name, int $process_id, int $process_type, mixed $data, bool $json_decode = true): mixed {}
}
