--TEST--
Coroutine: resume() where PHP cannot switch is not lost: the loop delivers it
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

final class Waker
{
    public ?self $self = null;

    public function __construct(private readonly int $id, private readonly int $times = 1)
    {
    }

    public function __destruct()
    {
        for ($i = 0; $i < $this->times; $i++) {
            $GLOBALS['said'][] = 'resume ' . var_export(Coroutine::resume($this->id), true);
        }
    }
}

/** What was said, in any order: from PHP 8.4 on destructors can switch, and the coroutine runs first. */
function said(string $what): void
{
    $said = $GLOBALS['said'] ?? [];
    sort($said);
    echo "$what: ", implode(', ', $said), "\n";
    $GLOBALS['said'] = [];
}

$sleeper = fn(int $times): int => go(function () use ($times): void {
    for ($i = 1; $i <= $times; $i++) {
        $GLOBALS['said'][] = "yield $i " . var_export(Coroutine::yield(), true);
    }
});
run(function () use ($sleeper): void {
    $id = $sleeper(1);
    new Waker($id);
    Coroutine::sleep(0.001);
    said('released');
    var_dump(Coroutine::exists($id));

    $id = $sleeper(1);
    $waker = new Waker($id);
    $waker->self = $waker;
    unset($waker);
    gc_collect_cycles();
    Coroutine::sleep(0.001);
    said('collected');
    var_dump(Coroutine::exists($id));

    $id = $sleeper(2);
    $waker = new Waker($id);
    $waker->self = $waker;
    unset($waker);
    gc_collect_cycles();
    Coroutine::sleep(0.001);
    var_dump(Coroutine::resume($id), Coroutine::resume($id));
    said('collected, then resumed here');
});
?>
--EXPECT--
released: resume true, yield 1 true
bool(false)
collected: resume true, yield 1 true
bool(false)
bool(true)
bool(false)
collected, then resumed here: resume true, yield 1 true, yield 2 true
