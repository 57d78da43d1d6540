<?php

/**
 * The server of everything.py: requests, uploads, WebSockets, tasks, a table, a queue and queries, each answered so
 * that the client can tell whether the answer is its own.
 */

declare(strict_types=1);

use Apus\Coroutine;
use Apus\Database\PDOConfig;
use Apus\Database\PDOPool;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Queue;
use Apus\Table;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

$server = new Server('127.0.0.1', 0);
$server->set(json_decode(getenv('SOAK_SETTINGS'), true));
$counts = new Table(1_000);
$counts->column('count', Table::TYPE_INT);
$counts->create();
$messages = new Queue(8 << 20);
$pool = null;

$server->on('workerstart', function () use (&$pool): void {
    $config = (new PDOConfig())->withHost('127.0.0.1')->withPort((int) getenv('APUS_TEST_MARIADB_PORT'))
        ->withDbname('test')->withUsername('tester')->withPassword('s3cret')
        ->withOptions([PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => false]);
    $pool = new PDOPool($config, 4);
});
$server->on('task', static fn ($server, $id, $from, $data) => strrev($data));
$server->on('open', static function ($server, $request): void {
    $server->subscribe($request->fd, $request->get['room']);
    $server->push($request->fd, 'joined');
});
$server->on('message', static function ($server, Frame $frame): void {
    [$room, $text] = explode(' ', $frame->data, 2);
    $server->publish($room, $text);
});
$server->on('request', static function (Request $request, Response $response) use ($server, $counts, $messages, &$pool): void {
    $value = $request->get['value'] ?? '';
    $answer = match ($request->server['path_info']) {
        '/echo' => sha1($value),
        '/upload' => md5($request->rawContent()),
        '/task' => $server->taskwait($value, 60.0),
        '/count' => $counts->incr($value, 'count'),
        '/counted' => $counts->get($value, 'count'),
        '/push' => $messages->push($request->rawContent(), 60.0),
        '/pop' => $messages->tryPop(),
        '/query' => $pool->use(static function (object $pdo) use ($value): array {
            $query = $pdo->prepare('SELECT SHA1(CONCAT(\'row-\', ?)) AS hash, ? AS mark');
            $query->execute([$value, $value]);

            return $query->fetch(PDO::FETCH_ASSOC);
        }, 60.0),
        '/slow' => null,
    };
    if ($answer === null) {
        for ($piece = 0; $piece < 10; $piece++) {
            $response->write(str_repeat(chr(97 + $piece), 100_000));
            Coroutine::sleep(0.01);
        }
        $response->end();

        return;
    }
    $response->header('Content-Type', 'application/json');
    $response->end(json_encode($answer));
});
$server->start();
