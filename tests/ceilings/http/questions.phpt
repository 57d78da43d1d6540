--TEST--
Ceiling: a question over a socket that stays takes a send, a receive and two waits, and registers nothing
--SKIPIF--
<?php trim((string) shell_exec('command -v strace')) || die('skip needs strace'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' questions 2>&1');
?>
--EXPECT--
ok
