--TEST--
Ceiling: memory of an idle kept connection
--SKIPIF--
<?php $tool = ['syscalls' => 'strace', 'syscalls_pipelined' => 'strace', 'allocations' => 'cc', 'flat_memory' => 'wrk']['idle_connections'] ?? 'python3'; trim((string) shell_exec("command -v $tool")) || die("skip needs $tool"); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' idle_connections 2>&1');
?>
--EXPECT--
ok
