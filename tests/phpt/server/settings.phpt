--TEST--
Server: set() takes all settings or none, and says what is wrong
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

$server = new Apus\Http\Server('127.0.0.1', 0);
var_dump($server->set(['worker_num' => 2, 'package_max_length' => '16M', 'keepalive_timeout' => '10s', 'log_level' => 'error', 'reactor_num' => 4, 'open_http2_protocol' => false, 'dispatch_mode' => 2]));
attempt(fn () => $server->set(['worker_nun' => 2]));
attempt(fn () => $server->set(['worker_num' => 0]));
attempt(fn () => $server->set(['worker_num' => 'many']));
attempt(fn () => $server->set(['package_max_length' => '1X']));
attempt(fn () => $server->set(['keepalive_timeout' => -1]));
attempt(fn () => $server->set(['log_level' => 'loud']));
attempt(fn () => $server->set(['daemonize' => 'perhaps']));
attempt(fn () => $server->set(['open_fastcgi_protocol' => true]));
attempt(fn () => $server->set(['ssl_sni_certs' => ['a' => 'b']]));
attempt(fn () => $server->set(['task_worker_num' => 1025]));
attempt(fn () => $server->set(['stats_file' => '/x']));
attempt(fn () => $server->set(['pid_file' => new stdClass()]));
attempt(fn () => $server->set([1, 2]));
attempt(fn () => $server->set('worker_num'));
attempt(fn () => $server->set());
// All or nothing: the second is wrong, so the first is not taken.
attempt(fn () => $server->set(['pid_file' => '/no/such/folder/pid', 'worker_num' => 'x']));
?>
--EXPECT--
bool(true)
Apus\Server\Exception 102: unknown setting "worker_nun": did you mean "worker_num"?
Apus\Server\Exception 102: setting "worker_num" must be a whole number of processes from 1 to 1024, 0 given
Apus\Server\Exception 102: setting "worker_num" must be a whole number of processes from 1 to 1024, "many" given
Apus\Server\Exception 102: setting "package_max_length" must be a number of bytes from 0 to 16T ("512K", "8M" and "2G" work too), "1X" given
Apus\Server\Exception 102: setting "keepalive_timeout" must be a number of seconds from 0 to 86400 ("250ms", "10s", "5m" and "2h" work too), -1 given
Apus\Server\Exception 102: setting "log_level" must be one of "debug" (0), "trace" (1), "info" (2), "notice" (3), "warning" (4), "error" (5), "none" (6), "loud" given
Apus\Server\Exception 102: setting "daemonize" must be true or false, "perhaps" given
Apus\Server\Exception 102: setting "open_fastcgi_protocol" is not supported by this version of Apus: remove it or switch it off. Use open_length_check: type n, length at 4, body at 8.
Apus\Server\Exception 102: setting "ssl_sni_certs" must be an array of 'host' => ['ssl_cert_file' => path, 'ssl_key_file' => path], an array of 1 by name given
Apus\Server\Exception 102: setting "task_worker_num" must be a whole number of processes from 0 to 1024, 1025 given
Apus\Server\Exception 102: setting "stats_file" is not supported by this version of Apus: remove it or switch it off. Use Server::stats() or `apus status --json`.
Apus\Server\Exception 102: setting "pid_file" cannot be an object or a resource
Apus\Server\Exception 102: settings are given as 'name' => value, but a numeric key was found
TypeError: Apus\Server::set(): Argument #1 ($settings) must be of type array, string given
ArgumentCountError: Apus\Server::set() expects exactly 1 argument, 0 given
Apus\Server\Exception 102: setting "worker_num" must be a whole number of processes from 1 to 1024, "x" given
