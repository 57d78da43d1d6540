--TEST--
Server: what a worker knows of itself, of the server and of its connections
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\Http\{Request, Response, Server};

$server = null;
serving(
    function (Request $request, Response $response) use (&$server): void {
        $fd = $request->fd;
        $info = $server->getClientInfo($fd);
        ob_start();
        var_dump([
            'worker_id' => $server->worker_id,
            'same' => [
                $server->worker_pid === getmypid(),
                $server->getWorkerPid() === getmypid(),
                $server->getWorkerId() === 0,
                $server->getMasterPid() === $server->master_pid,
                $server->manager_pid === $server->master_pid,
                $server->master_pid !== getmypid(),
            ],
            'settings' => [$server->setting['worker_num'], $server->setting['package_max_length'], $server->setting['max_request'], $server->setting['keepalive_timeout']],
            'exist' => [
                $server->exist($fd),
                $server->exists($fd),
                $server->exist($fd + 4096),
                $server->exist(0),
                $server->exist(-1),
            ],
            'connections' => [count($server->connections), iterator_to_array($server->connections) === [$fd]],
            'list' => [
                $server->getClientList() === [$fd],
                $server->getClientList($fd),
                $server->getClientList(0, 1) === [$fd],
            ],
            'info' => array_keys($info),
            'info values' => [$info['remote_ip'], $info['remote_port'] === $request->server['remote_port'], $info['server_port'] === $request->server['server_port'], $info['worker_id']],
            'info nobody' => $server->getClientInfo(-5),
            'other worker' => $server->getWorkerPid(7),
            'stop nobody' => $server->stop(99),
        ]);
        attempt(fn () => $server->getClientList(0, 0));
        attempt(fn () => $server->set(['worker_num' => 2]));
        attempt(fn () => $server->on('close', 'strlen'));
        attempt(fn () => $server->start());
        attempt(fn () => $server->listen('127.0.0.1', 0, Apus\SOCK_TCP));
        $stats = $server->stats();
        echo implode(' ', array_keys($stats)), "\n";
        var_dump(
            $stats['connection_num'],
            $stats['worker_num'],
            $stats['request_count'],
            $stats['concurrency'],
            count($stats['workers']),
            $stats['workers'][0]['pid'] === getmypid(),
            $stats['coroutine_num'] >= 0,
            $stats['memory_bytes'] >= 0,
        );
        $response->end(ob_get_clean());
    },
    fn (Client $client) => print($client->get('/')),
    prepare: function (Server $given) use (&$server): void {
        $server = $given;
    },
);
?>
--EXPECT--
array(11) {
  ["worker_id"]=>
  int(0)
  ["same"]=>
  array(6) {
    [0]=>
    bool(true)
    [1]=>
    bool(true)
    [2]=>
    bool(true)
    [3]=>
    bool(true)
    [4]=>
    bool(true)
    [5]=>
    bool(true)
  }
  ["settings"]=>
  array(4) {
    [0]=>
    int(1)
    [1]=>
    int(8388608)
    [2]=>
    int(0)
    [3]=>
    float(75)
  }
  ["exist"]=>
  array(5) {
    [0]=>
    bool(true)
    [1]=>
    bool(true)
    [2]=>
    bool(false)
    [3]=>
    bool(false)
    [4]=>
    bool(false)
  }
  ["connections"]=>
  array(2) {
    [0]=>
    int(1)
    [1]=>
    bool(true)
  }
  ["list"]=>
  array(3) {
    [0]=>
    bool(true)
    [1]=>
    bool(false)
    [2]=>
    bool(true)
  }
  ["info"]=>
  array(11) {
    [0]=>
    string(9) "remote_ip"
    [1]=>
    string(11) "remote_port"
    [2]=>
    string(11) "server_port"
    [3]=>
    string(11) "socket_type"
    [4]=>
    string(9) "worker_id"
    [5]=>
    string(10) "reactor_id"
    [6]=>
    string(12) "connect_time"
    [7]=>
    string(9) "last_time"
    [8]=>
    string(14) "last_recv_time"
    [9]=>
    string(13) "request_count"
    [10]=>
    string(11) "close_errno"
  }
  ["info values"]=>
  array(4) {
    [0]=>
    string(9) "127.0.0.1"
    [1]=>
    bool(true)
    [2]=>
    bool(true)
    [3]=>
    int(0)
  }
  ["info nobody"]=>
  bool(false)
  ["other worker"]=>
  bool(false)
  ["stop nobody"]=>
  bool(false)
}
ValueError: Apus\Server::getClientList(): Argument #2 ($count) must be between 1 and 10000, 0 given
Apus\Server\Exception 104: set() must be called before start()
Apus\Server\Exception 104: on() must be called before start()
Apus\Server\Exception 104: start() was called already, and this server runs
Apus\Server\Exception 104: listen() must be called before start()
start_time connection_num accept_count close_count worker_num idle_worker_num serving_worker_num worker_crash_count request_count response_count error_count concurrency task_worker_num task_idle_worker_num tasking_num task_queue_num task_queue_bytes task_delayed_num task_count task_error_count user_process_num total_recv_bytes total_send_bytes coroutine_num memory_bytes rss_bytes loop_blocked_count latency_p50_us latency_p99_us worker_request_count worker_response_count worker_concurrency coroutine_peak_num workers
int(1)
int(1)
int(0)
int(1)
int(1)
bool(true)
bool(true)
bool(true)
