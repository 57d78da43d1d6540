--TEST--
getBackTrace() of the running one, of a waiting one, of one that waits inside a user's Fiber, limits and options
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function deep(int $n) { $n ? deep($n - 1) : Coroutine::sleep(0.001); }
function show(array|false $trace) {
    if ($trace === false) { echo "false\n"; return; }
    foreach ($trace as $i => $f) {
        echo "#$i ", $f['class'] ?? '', $f['type'] ?? '', $f['function'], isset($f['line']) ? " line {$f['line']}" : "",
            isset($f['args']) ? " " . count($f['args']) . " args" : "", "\n";
    }
}
function inFiber() { $f = new Fiber(function () { deep(0); }); $f->start(); }
function self_() { show(Coroutine::getBackTrace()); }
run(function () {
    $id = go('deep', 2);
    show(Coroutine::getBackTrace($id));
    echo "limit 2, no args\n";
    show(Coroutine::getBackTrace($id, DEBUG_BACKTRACE_IGNORE_ARGS, 2));
    Coroutine::join([$id]);
    echo "in a Fiber\n";
    $id = go('inFiber');
    show(Coroutine::getBackTrace($id));
    echo "self\n";
    self_();
    echo "a parent that is in go()\n";
    $me = Coroutine::getCid();
    go(fn() => show(Coroutine::getBackTrace($me)));
    echo "a parent that is in a Fiber, in go()\n";
    (new Fiber(fn() => go(fn() => show(Coroutine::getBackTrace($me)))))->start();
    var_dump(Coroutine::getBackTrace(4711));
});
var_dump(Coroutine::getBackTrace());
?>
--EXPECTF--
#0 Apus\Coroutine::sleep line 6 1 args
#1 deep line 6 1 args
#2 deep line 6 1 args
#3 deep 1 args
limit 2, no args
#0 Apus\Coroutine::sleep line 6
#1 deep line 6
in a Fiber
#0 Apus\Coroutine::sleep line 6 1 args
#1 deep line 14 1 args
#2 {closure%S} 0 args
#3 Fiber->start line 14 0 args
#4 inFiber 0 args
self
#0 self_ line %d 0 args
#1 {closure%S} 0 args
a parent that is in go()
#0 Apus\go line %d 1 args
#1 {closure%S} 0 args
a parent that is in a Fiber, in go()
#0 Apus\go line %d 1 args
#1 {closure%S} 0 args
#2 Fiber->start line %d 0 args
#3 {closure%S} 0 args
bool(false)
bool(false)
