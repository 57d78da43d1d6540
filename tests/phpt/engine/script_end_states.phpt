--TEST--
The script ends while coroutines are suspended in Fibers, generators, callbacks, buffers: all are unwound, no crash
--FILE--
<?php
use Apus\Coroutine;
use function Apus\{go, defer};
use function Apus\Coroutine\run;

class Noisy { function __construct(public string $n) {} function __destruct() { echo "gone: $this->n\n"; } }
go(function () {
    $noisy = new Noisy("in a fiber");
    $f = new Fiber(function () use ($noisy) { Fiber::suspend(1); });
    $f->start();
    Coroutine::sleep(10);
});
go(function () { (new Fiber(function () { $n = new Noisy("sleeping in a fiber"); Coroutine::sleep(10); }))->start(); });
go(function () {
    $g = (function () { $n = new Noisy("in a generator"); try { yield 1; Coroutine::sleep(10); } finally { echo "generator finally\n"; } })();
    foreach ($g as $_);
});
go(function () { array_map(function () { $n = new Noisy("in array_map"); Coroutine::sleep(10); }, [1, 2, 3]); });
go(function () { ob_start(); echo "buffered\n"; $n = new Noisy("with a buffer"); Coroutine::sleep(10); });
go(function () { defer(fn() => print("deferred\n")); Coroutine::getContext()->n = new Noisy("in the context"); Coroutine::yield(); });
go(function () { preg_replace_callback('/./', function () { Coroutine::sleep(10); return ''; }, 'ab'); });
go(function () { @array_map(fn() => Coroutine::sleep(10), [1]); echo "not reached\n"; });
go(function () { Coroutine::sleep(0.001); throw new LogicException("ends all"); });
?>
--EXPECTF--
gone: in a fiber
gone: sleeping in a fiber
generator finally
gone: in a generator
gone: in array_map
buffered
gone: with a buffer
deferred
gone: in the context

Fatal error: Uncaught LogicException: ends all in %s:%d
Stack trace:
%A
