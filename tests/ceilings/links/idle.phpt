--TEST--
Ceiling: bytes an idle WebSocket
--SKIPIF--
<?php trim((string) shell_exec('command -v python3')) || die('skip needs python3'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' idle 2>&1');
?>
--EXPECT--
ok
