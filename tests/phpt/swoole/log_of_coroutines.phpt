--TEST--
Swoole\Coroutine::set(): log_file and log_level hold for lines of the log outside of servers
--INI--
apus.swoole_compat=1
--FILE--
<?php
$log = tempnam(sys_get_temp_dir(), 'apus');
Co::set(['log_file' => $log, 'log_level' => SWOOLE_LOG_WARNING]);
swoole_error_log(SWOOLE_LOG_NOTICE, 'not grave enough');
swoole_error_log(SWOOLE_LOG_WARNING, 'grave');
Co::set(['log_level' => SWOOLE_LOG_NONE]);
swoole_error_log(SWOOLE_LOG_ERROR, 'nothing any more');
echo preg_replace('/^\[.*?\]/m', '[]', file_get_contents($log));
unlink($log);
?>
--EXPECT--
[]	WARNING	grave
