--TEST--
A C stack that overflows says so before the process dies, also where PHP does not look at its limit
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') die('skip valgrind has its own word on it');
--FILE--
<?php
$code = <<<'PHP'
Apus\Coroutine::set(['stack_size' => '64K']);
Apus\Coroutine\run(function () {
    $deep = [];
    for ($i = 0; $i < 2000; $i++) {
        $deep = [$deep];
    }
    serialize($deep);
    echo "survived\n";
});
PHP;
$module = getenv('APUS_SO') ?: getenv('APUS_EXTENSION');
$child = proc_open([PHP_BINARY, '-n', '-d', "extension=$module", '-d', 'zend.max_allowed_stack_size=-1', '-r', $code], [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]);
$status = proc_get_status($child);
while ($status['running']) {
    usleep(1000);
    $status = proc_get_status($child);
}
var_dump($status['termsig']);
--EXPECT--
apus: the C stack of a coroutine is too small for what runs on it (deeply nested data, deep recursion in C code), the process ends: raise the setting stack_size
int(11)
