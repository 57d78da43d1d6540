<?php

declare(strict_types=1);

// Starts the server on a free port, asks it, stops it. Run with: php tests/run.php

$apus = getenv('APUS') ?: 'apus';
[$readyRead, $readyWrite] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, STREAM_IPPROTO_IP);

// Descriptor 3 of the server is our end: it writes one line there when all its workers serve.
$environment = ['PORT' => '0', 'HOST' => '127.0.0.1', 'APUS_READY_FD' => '3'] + getenv();
$server = proc_open(
    [$apus, 'run', dirname(__DIR__) . '/server.php'],
    [0 => ['file', '/dev/null', 'r'], 1 => STDOUT, 2 => STDERR, 3 => $readyWrite],
    $pipes,
    null,
    $environment,
);
if ($server === false) {
    fwrite(STDERR, "cannot start $apus\n");
    exit(1);
}
fclose($readyWrite);
stream_set_timeout($readyRead, 30);
$ready = json_decode((string) fgets($readyRead), true);
$failed = 0;

$check = static function (string $what, bool $holds) use (&$failed): void {
    echo $holds ? 'ok      ' : 'FAILED  ', $what, "\n";
    $failed += $holds ? 0 : 1;
};

/** @return array{int, string} */
$get = static function (string $path) use ($ready): array {
    $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 10]]);
    $body = file_get_contents("http://{$ready['listen'][0]}$path", false, $context);
    preg_match('~^HTTP/\S+ (\d+)~', $http_response_header[0] ?? '', $match);
    return [(int) ($match[1] ?? 0), (string) $body];
};

$check('the server serves', is_array($ready));
if (is_array($ready)) {
    $check('/ greets', $get('/') === [200, "Hello from {{name}}\n"]);
    $check('/health is JSON', $get('/health') === [200, '{"status":"ok"}']);
    $check('any other path is not found', $get('/nowhere')[0] === 404);
}

proc_terminate($server);
proc_close($server);
exit($failed === 0 ? 0 : 1);
