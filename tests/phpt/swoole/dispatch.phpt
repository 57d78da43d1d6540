--TEST--
dispatch_mode and dispatch_func: which worker handles what clients of streams and datagrams send
--INI--
apus.swoole_compat=1
--FILE--
<?php
const WORKERS = 3;
define('HOLD', new Swoole\Atomic);

/** Runs a server whose workers answer lines with their ids, and a program beside its clients. */
function serve(array $settings, Closure $clients, int $type = SWOOLE_SOCK_TCP, ?Closure $prepare = null): void
{
    $server = new Swoole\Server('127.0.0.1', 0, SWOOLE_PROCESS, $type);
    $server->set($settings + [
        'worker_num' => WORKERS, 'open_eof_split' => true, 'package_eof' => "\n", 'log_level' => SWOOLE_LOG_NONE,
    ]);
    $ready = new Swoole\Atomic;
    $server->on('workerstart', fn () => $ready->add());
    $server->on('receive', function ($server, $fd, $reactor, $line) {
        $line = rtrim($line);
        if (str_starts_with($line, 'bind ')) {
            $server->bind($fd, (int) substr($line, 5));
        } elseif ($line === 'file') {
            return $server->sendfile($fd, __FILE__, 0, 6);
        } elseif ($line === 'long') {
            HOLD->wait(20);
            HOLD->wakeup();
        }
        $server->send($fd, "{$server->worker_id}:" . strlen($line) . "\n");
    });
    $server->on('packet', function ($server, $data, $client) {
        $server->sendto($client['address'], $client['port'], "{$server->worker_id}:$data");
    });
    $server->on('start', function ($server) use ($clients, $ready) {
        go(function () use ($server, $clients, $ready) {
            while ($ready->get() < WORKERS) {
                Co::sleep(0.002);
            }
            $clients(function () use ($server) {
                $client = new Swoole\Coroutine\Client($server->type);
                $client->set(['open_eof_split' => $server->type === SWOOLE_SOCK_TCP, 'package_eof' => "\n"]);
                $client->connect('127.0.0.1', $server->port, 5);
                return $client;
            });
            $server->shutdown();
        });
    });
    $server->start();
}

/** The workers that answered the lines, in order. */
function ask($client, string ...$lines): array
{
    foreach ($lines as $line) {
        $client->send("$line\n");
    }
    return array_map(fn () => (int) $client->recv(5), $lines);
}

serve(['dispatch_mode' => 1], function ($connect) {
    $client = $connect();
    $workers = ask($client, ...array_fill(0, 30, 'x'));
    echo 'in turn: ', json_encode(array_count_values($workers) == [10, 10, 10]), "\n";
    // What is long takes more than one record, and its turn.
    $client->send($long = str_repeat('y', 1_500_000) . "\n");
    echo 'long: ', explode(':', trim($client->recv(20)))[1], "\n";
    $client->send("file\nfile\n");
    echo 'file: ', json_encode([$client->recv(5), $client->recv(5)]), "\n";
});

serve(['dispatch_mode' => 2], function ($connect) {
    echo 'of the connection: ', count(array_unique(ask($connect(), ...array_fill(0, 10, 'x')))), "\n";
});

serve(['dispatch_mode' => 3], function ($connect) {
    $client = $connect();
    $client->send("long\nlong\n");
    $quick = ask($client, 'x');
    HOLD->wakeup();
    $slow = [(int) $client->recv(20), (int) $client->recv(20)];
    // Two workers have something in hand, so the third one has what is quick.
    echo 'idle: ', count(array_unique([...$slow, ...$quick])), "\n";
});

serve(['dispatch_mode' => 4], function ($connect) {
    $workers = array_merge(...array_map(fn () => ask($connect(), 'x', 'x'), range(1, 10)));
    echo 'by address: ', json_encode(array_unique($workers) === [ip2long('127.0.0.1') % WORKERS]), "\n";
});

serve(['dispatch_mode' => 5], function ($connect) {
    foreach ([7, 11, 3] as $user) {
        $client = $connect();
        ask($client, "bind $user");
        echo "user $user: ", json_encode(array_unique(ask($client, 'x', 'x', 'x')) === [$user % WORKERS]), "\n";
    }
});

$by_line = function ($server, $fd, $type, $data) {
    return match (rtrim($data)) {
        'drop' => SWOOLE_DISPATCH_RESULT_DISCARD_PACKET,
        'close' => SWOOLE_DISPATCH_RESULT_CLOSE_CONNECTION,
        'fall' => SWOOLE_DISPATCH_RESULT_USERFUNC_FALLBACK,
        'wrong' => 99,
        default => $type === 0 && $fd > 0 ? (int) $data : 99,
    };
};
serve(['dispatch_func' => $by_line, 'dispatch_mode' => 4], function ($connect) {
    $client = $connect();
    // Workers answer beside each other: one line after the other.
    echo 'func: ', json_encode(array_merge(...array_map(fn ($to) => ask($client, $to), ['2', '0', '1', '1', '2', '0']))), "\n";
    $client->send("drop\nwrong\n");
    echo 'fall back: ', json_encode(ask($client, 'fall') === [ip2long('127.0.0.1') % WORKERS]), "\n";
    $client->send("close\n");
    var_dump($client->recv(5));
});

serve(['dispatch_func' => fn ($server, $fd, $type, $data) => $type === 1 ? (int) $data : 0], function ($connect) {
    $client = $connect();
    $answers = [];
    foreach ([1, 2, 0, 2] as $worker) {
        $client->send((string) $worker);
        $answers[] = $client->recv(5);
    }
    echo 'packets: ', json_encode($answers), "\n";
}, SWOOLE_SOCK_UDP);
?>
--EXPECT--
in turn: true
long: 1500000
file: ["<?php\n","<?php\n"]
of the connection: 1
idle: 3
by address: true
user 7: true
user 11: true
user 3: true
func: [2,0,1,1,2,0]
fall back: true
string(0) ""
packets: ["1:1","2:2","0:0","2:2"]
