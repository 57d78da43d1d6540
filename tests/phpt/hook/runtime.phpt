--TEST--
Apus\Runtime chooses the kinds of calls that are hooked
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

use Apus\Runtime;

var_dump(Runtime::getHookFlags() === (Apus\HOOK_ALL & ~Apus\HOOK_FILE));
function together(callable $wait): string
{
    $order = '';
    run(function () use ($wait, &$order) {
        foreach (['a', 'b'] as $name) {
            go(function () use ($wait, $name, &$order) { $order .= $name; $wait(); $order .= strtoupper($name); });
        }
    });
    // Which of two lookups ends first is up to their threads.
    return $order[1] === 'b' ? 'together' : 'in turn';
}
$sleep = fn () => usleep(1_000);
$lookUp = fn () => gethostbyname('localhost');
echo together($sleep), ' ', together($lookUp), "\n";
var_dump(Runtime::enableCoroutine(Apus\HOOK_ALL & ~Apus\HOOK_SLEEP));
echo together($sleep), ' ', together($lookUp), "\n";
Runtime::setHookFlags(Apus\HOOK_SLEEP);
echo together($sleep), ' ', together($lookUp), "\n";
Runtime::enableCoroutine(false);
echo Runtime::getHookFlags(), ' ', together($sleep), ' ', together($lookUp), "\n";
Runtime::enableCoroutine(true);
echo Runtime::getHookFlags() === Apus\HOOK_ALL ? 'all' : 'some', ' ', together($sleep), ' ', together($lookUp), "\n";
Runtime::enableCoroutine();
Coroutine::set(['hook_flags' => Apus\HOOK_SLEEP]);
echo Runtime::getHookFlags() === Apus\HOOK_SLEEP ? 'set' : 'not set', "\n";
try {
    Runtime::enableCoroutine(-1);
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}
--EXPECT--
bool(true)
together together
bool(true)
in turn together
together in turn
0 in turn in turn
all together together
set
Apus\Runtime::enableCoroutine(): Argument #1 ($flags) must be a sum of Apus\HOOK_* constants, -1 given
