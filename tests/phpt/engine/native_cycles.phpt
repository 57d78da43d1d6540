--TEST--
Cycles through what native objects hold are collected
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;

class Owner
{
    public $part;
    public $more;
}
$makers = [
    'a closure in a channel' => function (Owner $owner) { $owner->part = new Channel(10); $owner->part->push(fn () => $owner); },
    'several values in a channel' => function (Owner $owner) {
        $owner->part = new class(10) extends Channel { public $extra; };
        $owner->part->push($owner);
        $owner->part->push([$owner, [$owner]]);
        $owner->part->push('text');
        $owner->part->extra = $owner;
    },
    'two channels in each other' => function (Owner $owner) {
        $owner->part = new Channel(1);
        $owner->more = new Channel(1);
        $owner->part->push([$owner->more, $owner]);
        $owner->more->push($owner->part);
    },
    'a job of a scheduler' => function (Owner $owner) {
        $owner->part = new Coroutine\Scheduler;
        $owner->part->add(fn () => 1, $owner);
        $owner->part->add([$owner, 'x']);
    },
    'an idle connection' => function (Owner $owner) {
        $owner->part = new Apus\ConnectionPool(
            function () use ($owner) { $conn = new stdClass; $conn->owner = $owner; return $conn; },
            1,
        );
        $owner->part->put($owner->part->get());
    },
    'a function of a process' => function (Owner $owner) { $owner->part = new Apus\Process(fn () => $owner); },
    'a callback of a process pool' => function (Owner $owner) { $owner->part = new Apus\Process\Pool(1); $owner->part->on('workerStart', fn () => $owner); },
    'a handler of a server' => function (Owner $owner) {
        $owner->part = new Coroutine\Server('127.0.0.1', 0);
        $owner->part->handle(fn () => $owner);
    },
    'a route of a server' => function (Owner $owner) {
        $owner->part = new Coroutine\Http\Server('127.0.0.1', 0);
        $owner->part->handle('/', fn () => $owner);
    },
];
run(function () use ($makers) {
    foreach ($makers as $what => $make) {
        $references = [];
        for ($i = 0; $i < 3; $i++) {
            $owner = new class extends Owner { function x() {} };
            $make($owner);
            $references[] = WeakReference::create($owner);
        }
        $part = $owner->part;
        gc_collect_cycles();
        $alive = count(array_filter($references, fn ($reference) => $reference->get() !== null));
        unset($owner);
        // Whoever is held by its part is not garbage while the part is in use.
        gc_collect_cycles();
        $held = $references[2]->get() !== null;
        unset($part);
        gc_collect_cycles();
        $left = count(array_filter($references, fn ($reference) => $reference->get() !== null));
        echo $what, ': ', $alive, ' alive, ', $held ? 'held, ' : 'lost, ', $left, " left\n";
    }
    // What is in use is still whole.
    $channel = new Channel(3);
    $value = new Owner;
    $value->part = $channel;
    $channel->push($value);
    $channel->push([1, 2, $value]);
    unset($value);
    for ($i = 0; $i < 3; $i++) {
        gc_collect_cycles();
    }
    echo get_class($channel->pop()), ' ', count($channel->pop()), "\n";
});
?>
--EXPECT--
a closure in a channel: 1 alive, held, 0 left
several values in a channel: 1 alive, held, 0 left
two channels in each other: 1 alive, held, 0 left
a job of a scheduler: 1 alive, held, 0 left
an idle connection: 1 alive, held, 0 left
a function of a process: 1 alive, held, 0 left
a callback of a process pool: 1 alive, held, 0 left
a handler of a server: 1 alive, held, 0 left
a route of a server: 1 alive, held, 0 left
Owner 3
