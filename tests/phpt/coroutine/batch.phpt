--TEST--
batch() gives results under their keys; exceptions; timeout; late results and late exceptions
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\{run, batch};

class Job { public function __invoke() { return "invoked"; } static function make() { return "static"; } }
run(function () {
    var_dump(batch([
        'slow' => function () { Coroutine::sleep(0.003); return 1; },
        7 => fn() => [2],
        'phpversion',
        'o' => new Job,
        's' => 'Job::make',
        'null' => fn() => null,
    ])['s']);
    echo json_encode(
        batch(['a' => function () { Coroutine::sleep(0.002); return 'A'; }, -3 => fn() => 'B', 'c' => fn() => 'C']),
    ), "\n";
    var_dump(batch([]));
    echo "timeout: ",
        json_encode(
            batch(['fast' => fn() => 1, 'slow' => function () { Coroutine::sleep(0.1); echo "late\n"; return 2; }], 0.02),
        ), "\n";
    Coroutine::sleep(0.2);
    try {
        batch([
            function () { Coroutine::sleep(0.001); echo "all end first\n"; },
            fn() => throw new DomainException("task"),
            fn() => throw new LogicException("second"),
        ]);
    } catch (DomainException $e) {
        echo get_class($e), ": ", $e->getMessage(), "\n";
    }
    foreach ([[1], ['no_such_function'], [fn() => 1, null]] as $bad) {
        try {
            batch($bad);
        } catch (TypeError $e) {
            echo $e->getMessage(), "\n";
        }
    }
    // A batch in a batch.
    echo json_encode(batch([fn() => batch([fn() => Coroutine::sleep(0.001), fn() => 2]), fn() => 3])), "\n";
});
try {
    batch([fn() => print("not called outside\n")]);
} catch (Coroutine\Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
string(6) "static"
{"a":"A","-3":"B","c":"C"}
array(0) {
}
timeout: {"fast":1,"slow":null}
late
all end first
DomainException: task
Apus\Coroutine\batch(): Argument #1 ($tasks) must hold callables only, no array or string given
Apus\Coroutine\batch(): Argument #1 ($tasks) must hold callables only, function "no_such_function" not found or invalid function name
Apus\Coroutine\batch(): Argument #1 ($tasks) must hold callables only, no array or string given
[[true,2],3]
Coroutine\batch() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
