--TEST--
Functions of media types and of the log; Swoole\Process::exec() from anywhere
--INI--
apus.swoole_compat=1
--FILE--
<?php
var_dump(swoole_mime_type_get('a/b.PNG'), swoole_get_mime_type('x.txt'));
var_dump(swoole_mime_type_get('x.apus-none'), swoole_mime_type_exists('x.apus-none'));
var_dump(swoole_mime_type_add('png', 'x/y'), swoole_mime_type_add('apus-none', 'application/x-apus'));
var_dump(swoole_mime_type_get('f.APUS-none'));
swoole_mime_type_set('png', 'image/other');
var_dump(swoole_mime_type_get('b.png'), swoole_mime_type_delete('png'), swoole_mime_type_exists('b.png'));
var_dump(swoole_mime_type_delete('png'), swoole_mime_type_get('b.png'));

// To the log.
swoole_error_log(SWOOLE_LOG_WARNING, 'a warning');
swoole_error_log(SWOOLE_LOG_NONE, 'not logged');
swoole_error_log_ex(SWOOLE_LOG_ERROR, SWOOLE_ERROR_FOR_TEST, 'an error');
swoole_ignore_error(SWOOLE_ERROR_FOR_TEST);
swoole_error_log_ex(SWOOLE_LOG_ERROR, SWOOLE_ERROR_FOR_TEST, 'not logged');
var_dump(swoole_get_local_mac() !== null, swoole_get_local_ip(AF_INET6) !== null);

$process = new Swoole\Process(function () {
}, true);
$process->exec('/usr/bin/printf', ["becomes another program\n"]);
?>
--EXPECTF--
string(9) "image/png"
string(10) "text/plain"
string(24) "application/octet-stream"
bool(false)
bool(false)
bool(true)
string(18) "application/x-apus"
string(11) "image/other"
bool(true)
bool(false)
bool(false)
string(24) "application/octet-stream"
[%d-%d-%d %d:%d:%d #%d.0]	WARNING	a warning
[%s]	ERROR	(ERRNO 511): an error
bool(true)
bool(true)
becomes another program
