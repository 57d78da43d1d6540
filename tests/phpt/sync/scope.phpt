--TEST--
Scope: children end with it; the first failure cancels the others and comes out; deadlines; cancelled from outside; the object style
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, Channel, Scope, TimeoutException};
use function Apus\go;
use function Apus\Coroutine\{run, timeout};

$told = function (callable $f) {
    try {
        echo json_encode($f()), "\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
};
/** A child that waits long and tells how it ended. */
$long = fn(string $name) => function () use ($name) {
    try {
        Coroutine::sleep(30);
    } catch (Throwable $e) {
        echo "  $name: ", get_class($e), "\n";
        throw $e;
    }
};
$told(fn() => Scope::run(fn() => 1));
$told(fn() => new Scope);
run(function () use ($told, $long) {
    echo "all ends well:\n";
    $told(fn() => Scope::run(function (Scope $s) {
        for ($i = 3; $i > 0; $i--) {
            $s->spawn(function (int $i, string $text) { Coroutine::sleep($i / 500); echo "  $text $i\n"; }, $i, 'child');
        }
        echo "  ", $s->count(), " run\n";
        return ['result', $s->isCancelled()];
    }));
    $told(fn() => Scope::run(function (Scope $s) {
        // A child may spawn others, while the owner waits for the end.
        $s->spawn(function () use ($s) {
            Coroutine::sleep(0.001);
            $s->spawn(function () { Coroutine::sleep(0.001); echo "  grandchild\n"; });
        });
    }));

    echo "a child fails:\n";
    $told(fn() => Scope::run(function (Scope $s) use ($long) {
        $s->spawn($long('a'));
        $s->spawn(function () { Coroutine::sleep(0.001); throw new LogicException('boom'); });
        $s->spawn($long('b'));
        $long('body')();
    }));
    $told(fn() => Scope::run(function (Scope $s) use ($long) {
        $s->spawn($long('a'));
        $s->spawn(fn() => throw new LogicException('at once'));
        $long('body')();
    }));
    $told(fn() => Scope::run(function (Scope $s) use ($long) {
        $s->spawn(function () { Coroutine::sleep(0.001); throw new LogicException('while the owner joins'); });
        $s->spawn($long('a'));
    }));
    $told(function () {
        try {
            Scope::run(function (Scope $s) use (&$kept) {
                $kept = $s;
                $s->spawn(function () { try { Coroutine::sleep(30); } finally { throw new LogicException('second'); } });
                $s->spawn(fn() => throw new LogicException('first'));
            });
        } finally {
            echo '  also: ', $kept->failures()[0]->getMessage(), "\n";
        }
    });

    echo "the body fails:\n";
    $told(fn() => Scope::run(function (Scope $s) use ($long) {
        $s->spawn($long('a'));
        throw new RuntimeException('body');
    }));

    echo "a deadline:\n";
    $told(fn() => Scope::run(function (Scope $s) use ($long) { $s->spawn($long('a')); $long('body')(); }, 0.005));
    $told(fn() => Scope::run(function (Scope $s) use ($long) { $s->spawn($long('a')); }, 0.005));
    $told(fn() => Scope::run(function (Scope $s) use ($long) {
        $s->spawn($long('a'));
        try { Coroutine::sleep(30); } catch (TimeoutException) { return 'swallowed'; }
    }, 0.005));
    $told(fn() => timeout(0.005, fn() => Scope::run(fn(Scope $s) => $s->spawn($long('in timeout()')))));
    $told(fn() => Scope::run(fn(Scope $s) => $s->spawn(fn() => timeout(0.005, $long('its own'))), 30));

    echo "cancelled:\n";
    foreach ([true, false] as $throw) {
        $id = go(
            fn() => $told(fn() => Scope::run(function (Scope $s) use ($long) { $s->spawn($long('a')); return 'unseen'; })),
        );
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
    }
    $id = go(fn() => $told(fn() => Scope::run(function (Scope $s) use ($long) { $s->spawn($long('a')); $long('body')(); })));
    Coroutine::cancel($id, true);
    Coroutine::join([$id]);
    $told(fn() => Scope::run(function (Scope $s) use ($long) {
        $s->spawn($long('a'));
        $s->cancel();
        try {
            $s->spawn($long('too late'));
        } catch (Coroutine\Exception $e) {
            echo '  ', $e->getMessage(), "\n";
        }
        return 'cancelled by its owner';
    }));
    $told(fn() => Scope::run(function (Scope $s) {
        // One that is cancelled and goes on is waited for.
        $s->spawn(function () {
            try { Coroutine::sleep(30); } catch (CanceledException) { Coroutine::sleep(0.002); echo "  cleaned up\n"; }
        });
        $s->cancel();
    }));

    echo "nested:\n";
    $told(fn() => Scope::run(function (Scope $outer) use ($long) {
        $outer->spawn(fn() => Scope::run(function (Scope $inner) use ($long) {
            $inner->spawn($long('inner child'));
            $long('inner body')();
        }));
        Coroutine::sleep(0.001);
        throw new LogicException('outer');
    }));

    echo "the object style:\n";
    $s = new Scope;
    $s->spawn(function () { Coroutine::sleep(0.001); echo "  child\n"; });
    $told(fn() => $s->join());
    $s->spawn(fn() => throw new LogicException('kept for join()'));
    Coroutine::sleep(0.001);
    $told(fn() => $s->join());
    $s = new Scope(0.003);
    $s->spawn($long('a'));
    $told(fn() => $s->join());
    $s = new Scope;
    $s->spawn($long('left behind'));
    $s = null;
    Coroutine::sleep(0.001);
    $s = new Scope;
    $told(fn() => Apus\Coroutine\batch([fn() => $s->join()]));
    $told(fn() => Scope::run(fn(Scope $s) => $s->join()));
    var_dump(Coroutine::stats()['coroutine_num']);
});
?>
--EXPECT--
Apus\Coroutine\Exception: Coroutine\Scope::run() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Coroutine\Exception: Coroutine\Scope::__construct() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
all ends well:
  3 run
  child 1
  child 2
  child 3
["result",false]
  grandchild
null
a child fails:
  a: Apus\Coroutine\CanceledException
  b: Apus\Coroutine\CanceledException
  body: Apus\Coroutine\CanceledException
LogicException: boom
  a: Apus\Coroutine\CanceledException
  body: Apus\Coroutine\CanceledException
LogicException: at once
  a: Apus\Coroutine\CanceledException
LogicException: while the owner joins
  also: second
LogicException: first
the body fails:
  a: Apus\Coroutine\CanceledException
RuntimeException: body
a deadline:
  a: Apus\Coroutine\CanceledException
  body: Apus\Coroutine\TimeoutException
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
  a: Apus\Coroutine\CanceledException
Apus\Coroutine\TimeoutException: the scope's time was over before everything in it had ended
  a: Apus\Coroutine\CanceledException
Apus\Coroutine\TimeoutException: the scope's time was over before everything in it had ended
  in timeout(): Apus\Coroutine\CanceledException
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\Scope::run()
  its own: Apus\Coroutine\TimeoutException
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
cancelled:
  a: Apus\Coroutine\CanceledException
Apus\Coroutine\CanceledException: the coroutine was cancelled while it waited in Coroutine\Scope::run()
  a: Apus\Coroutine\CanceledException
null
  body: Apus\Coroutine\CanceledException
  a: Apus\Coroutine\CanceledException
Apus\Coroutine\CanceledException: the coroutine was cancelled while it waited in Coroutine::sleep()
  the scope is over or cancelled: it takes no more coroutines
  a: Apus\Coroutine\CanceledException
"cancelled by its owner"
  cleaned up
null
nested:
  inner body: Apus\Coroutine\CanceledException
  inner child: Apus\Coroutine\CanceledException
LogicException: outer
the object style:
  child
true
LogicException: kept for join()
  a: Apus\Coroutine\CanceledException
Apus\Coroutine\TimeoutException: the scope's time was over before everything in it had ended
  left behind: Apus\Coroutine\CanceledException
Apus\Coroutine\Exception: only the coroutine that made a scope with new can join() it; run() does so by itself
Apus\Coroutine\Exception: only the coroutine that made a scope with new can join() it; run() does so by itself
int(1)
