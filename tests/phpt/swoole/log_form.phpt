--TEST--
Swoole\Server: the form of the log's lines, of an exception that nobody catches, of a reload and of a worker that is killed
--INI--
apus.swoole_compat=1
display_errors=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1]);
$server->on('request', function () {
    throw new LogicException('not caught');
});
$server->on('managerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->get('/');
        echo "$client->statusCode '$client->body'\n";
        Swoole\Process::kill($server->getWorkerPid(0), SIGKILL);
    });
});
$server->on('workererror', fn (Swoole\Server $server) => $server->reload());
$server->on('afterreload', fn (Swoole\Server $server) => $server->shutdown());
var_dump($server->start());
?>
--EXPECTF--

Fatal error: Uncaught LogicException: not caught in %slog_form.php:5
Stack trace:
#0 [internal function]: {closure%S}(Object(Swoole\Http\Request), Object(Swoole\Http\Response))
#1 {main}
  thrown in %slog_form.php on line 5
[%d-%d-%d %d:%d:%d *%d.0]	ERROR	php_swoole_server_rshutdown() (ERRNO 503): Fatal error: Uncaught LogicException: not caught in %slog_form.php:5
Stack trace:
#0 [internal function]: {closure%S}(Object(Swoole\Http\Request), Object(Swoole\Http\Response))
#1 {main}
  thrown in %slog_form.php on line 5
500 ''
[%d-%d-%d %d:%d:%d #%d.0]	WARNING	Worker::report_error(): worker(pid=%d, id=0) abnormal exit, status=0, signal=9
[%d-%d-%d %d:%d:%d #%d.0]	INFO	Server is reloading all workers now
bool(true)
