--TEST--
Ceiling: system calls an echo
--SKIPIF--
<?php trim((string) shell_exec('command -v strace')) || die('skip needs strace'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' syscalls 2>&1');
?>
--EXPECT--
ok
