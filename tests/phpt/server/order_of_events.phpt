--TEST--
Server: the order of events from start() to its return, with a reload in between
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\Http\{Request, Response, Server};

$notes = tempnam(sys_get_temp_dir(), 'apus-notes');
$note = fn (string $line) => file_put_contents($notes, "$line\n", FILE_APPEND | LOCK_EX);
$server = null;
serving(
    function (Request $request, Response $response) use (&$server, $note): void {
        if ($request->server['request_uri'] === '/reload') {
            $note('reload() ' . var_export($server->reload(), true));
            $response->end((string) getmypid());
            return;
        }
        $response->end((string) getmypid());
    },
    function (Client $client) use ($notes): void {
        $old = $client->get('/reload');
        do {
            $new = $client->get('/');
        } while ($new === $old);
        echo "replaced\n";
        // A reload that the server's end overtakes is not reported: the old worker has to be gone.
        while (!str_contains(file_get_contents($notes), 'afterreload')) {
            usleep(1000);
        }
    },
    prepare: function (Server $given) use (&$server, $note): void {
        $server = $given;
        foreach (['start', 'managerstart', 'beforereload', 'afterreload', 'beforeshutdown', 'managerstop', 'shutdown'] as $event) {
            $server->on(
                $event,
                fn (Server $server) => $note('master ' . $event . (getmypid() === $server->master_pid ? '' : ' elsewhere')),
            );
        }
        foreach (['workerstart', 'workerstop', 'workerexit'] as $event) {
            $server->on(
                $event,
                fn (Server $server, int $id) => $note("worker $id $event" . (getmypid() === $server->worker_pid ? '' : ' elsewhere')),
            );
        }
        $server->on('workererror', fn (...$args) => $note('workererror'));
    },
);
$lines = file($notes, FILE_IGNORE_NEW_LINES);
unlink($notes);
echo 'master: ', implode(' ', preg_replace('/^master /', '', preg_grep('/^master/', $lines))), "\n";
$counts = array_count_values(preg_grep('/^worker/', $lines));
ksort($counts);
echo json_encode($counts), "\n";
echo implode("\n", preg_grep('/^(master|worker)/', $lines, PREG_GREP_INVERT)), "\n";
?>
--EXPECT--
replaced
master: start managerstart beforereload afterreload beforeshutdown managerstop shutdown
{"worker 0 workerexit":2,"worker 0 workerstart":2,"worker 0 workerstop":2}
reload() true
