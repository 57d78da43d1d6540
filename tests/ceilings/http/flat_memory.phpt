--TEST--
Ceiling: memory stays flat over 1,000,000 requests
--SKIPIF--
<?php $tool = ['syscalls' => 'strace', 'syscalls_pipelined' => 'strace', 'allocations' => 'cc', 'flat_memory' => 'wrk']['flat_memory'] ?? 'python3'; trim((string) shell_exec("command -v $tool")) || die("skip needs $tool"); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' flat_memory 2>&1');
?>
--EXPECT--
ok
