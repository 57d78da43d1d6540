--TEST--
Coroutine: resume() in a destructor, one that the collector calls too, enters the coroutine at once
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

/** What was said. */
function said(string $what): void
{
    echo "$what: ", implode(', ', $GLOBALS['said'] ?? []), "\n";
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
released: yield 1 true, resume true
bool(false)
collected: yield 1 true, resume true
bool(false)
bool(true)
bool(false)
collected, then resumed here: yield 1 true, resume true, yield 2 true
