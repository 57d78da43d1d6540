--TEST--
yield() waits for resume(), which runs the other at once and returns when it waits again
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $id = go(function () {
        echo "one\n";
        var_dump(Coroutine::yield());
        echo "two\n";
        var_dump(Coroutine::suspend());
        echo "three\n";
        Coroutine::sleep(0.001);
        echo "four\n";
    });
    echo "first\n";
    var_dump(Coroutine::resume($id));
    echo "second\n";
    var_dump(Coroutine::resume($id));
    echo "it sleeps: ";
    var_dump(Coroutine::resume($id));
    echo "myself: ";
    var_dump(Coroutine::resume(Coroutine::getCid()));
    echo "nobody: ";
    var_dump(Coroutine::resume(12345));
    Coroutine::join([$id]);
    var_dump(Coroutine::resume($id));
});

// A ring: each resumes the next one, nested.
run(function () {
    $ids = [];
    foreach (range(0, 4) as $n) {
        $ids[] = go(function () use ($n, &$ids) {
            Coroutine::yield();
            echo "in $n\n";
            if (isset($ids[$n + 1])) {
                Coroutine::resume($ids[$n + 1]);
            }
            echo "out $n\n";
        });
    }
    Coroutine::resume($ids[0]);
});
?>
--EXPECT--
one
first
bool(true)
two
bool(true)
second
bool(true)
three
bool(true)
it sleeps: bool(false)
myself: bool(false)
nobody: bool(false)
four
bool(false)
in 0
in 1
in 2
in 3
in 4
out 4
out 3
out 2
out 1
out 0
