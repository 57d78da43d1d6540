<?php

declare(strict_types=1);

// Scripts that know nothing of Apus, and files beside them, under `apus serve`.
// usage: apus run pages.php SCRATCH APUS

use Apus\Coroutine;
use Apus\Coroutine\Http\Client;

[, $scratch, $apus] = $argv;

const CONNECTIONS = 16;

/** The port of a socket that nobody listens on any more. */
function free_port(): int
{
    $socket = stream_socket_server('tcp://127.0.0.1:0');
    $name = stream_socket_get_name($socket, false);
    fclose($socket);

    return (int) substr($name, strrpos($name, ':') + 1);
}

function is_answered(int $port): bool
{
    return @stream_socket_client("tcp://127.0.0.1:$port", $code, $text, 1) !== false;
}

function pages(int $port, array $calls, int $rounds): void
{
    Coroutine\parallel(CONNECTIONS, function () use ($port, $calls, $rounds): void {
        $client = new Client('127.0.0.1', $port);
        $client->set(['timeout' => 30]);
        $client->setHeaders(['User-Agent' => 'Mozilla/5.0', 'Accept-Encoding' => 'gzip', 'Cookie' => 'seen=7']);
        for ($round = 0; $round < $rounds; $round++) {
            foreach ($calls as $path => $body) {
                $body === null ? $client->get($path) : $client->post($path, $body);
                if ($client->statusCode !== 200) {
                    throw new RuntimeException("$path was answered $client->statusCode $client->errMsg");
                }
            }
        }
    });
}

$root = "$scratch/public";
mkdir($root);
$files = [
    'index.php' => '<?php header("Content-Type: text/html"); echo "page of ", $_SERVER["REQUEST_URI"];',
    'form.php' => '<?php setcookie("seen", "8"); foreach ($_POST + $_GET as $name => $text) { echo $name; flush(); }',
    'large.php' => '<?php for ($line = 0; $line < 2000; $line++) { echo "<p>Line $line of a large page.</p>\n"; }',
    'page.css' => str_repeat("p { color: #123456; }\n", 500),
];
foreach ($files as $name => $text) {
    file_put_contents("$root/$name", $text);
}

$port = free_port();
$log = ['file', "$scratch/log", 'w'];
$command = [$apus, 'serve', '--port', (string) $port, '--workers', '4', $root];
$serving = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes);
try {
    for ($began = microtime(true); !is_answered($port); usleep(20_000)) {
        if (!proc_get_status($serving)['running'] || microtime(true) > $began + 30) {
            throw new RuntimeException("apus serve did not begin:\n" . file_get_contents("$scratch/log"));
        }
    }
    Coroutine\run(function () use ($port): void {
        pages($port, ['/' => null], 500);
        pages($port, ['/index.php?a=1' => null, '/form.php?b=2' => ['name' => 'Ann', 'text' => 'äöü']], 50);
        pages($port, ['/page.css' => null], 50);
        pages($port, ['/large.php' => null], 20);
    });
} finally {
    proc_terminate($serving);
    while (proc_get_status($serving)['running']) {
        usleep(10_000);
    }
}
