<?php
// Does at random what coroutines can do: spawn, wait in every way, cancel, throw, drop, nest, Fibers, buffers, collect.
// php random.php [SEED [STEPS]]; prints the seed, and exits with 1 when something does not add up.
use Apus\Coroutine;
use Apus\Coroutine\CanceledException;
use Apus\Coroutine\DeadlockException;
use Apus\Timer;
use function Apus\{go, defer};
use function Apus\Coroutine\{run, batch, parallel};

$seed = (int) ($argv[1] ?? getenv('SEED') ?: random_int(1, 1 << 30));
$steps = (int) ($argv[2] ?? 2000);
echo "seed $seed, $steps steps\n";
mt_srand($seed);

final class Expected extends Exception {}

final class World
{
    public static int $main = 0;
    public static int $budget = 0;
    public static int $begun = 0;
    public static int $over = 0;
    public static array $yielding = [];
    public static array $fibers = [];
    public static array $wrong = [];

    public static function check(bool $ok, string $what): void
    {
        if (!$ok) {
            self::$wrong[] = $what;
        }
    }
}

function chance(int $percent): bool { return mt_rand(1, 100) <= $percent; }
/** The id of any coroutine but the round's own, which is not to be cancelled. */
function anybody(): int {
    $ids = array_diff(iterator_to_array(Coroutine::list()), [World::$main]);
    return $ids ? $ids[array_rand($ids)] : 0;
}

function spawn(int $depth): int
{
    World::$begun++;
    return go(function () use ($depth) {
        defer(function () { World::$over++; });
        $me = Coroutine::getCid();
        $level = ob_get_level();
        Coroutine::getContext()['me'] = $me;
        try {
            for ($i = mt_rand(0, 6); $i > 0 && World::$budget-- > 0; $i--) {
                step($depth);
                World::check(Coroutine::getCid() === $me, "getCid() changed");
                World::check(Coroutine::getContext()['me'] === $me, "the context changed");
                World::check(ob_get_level() === $level, "the output level changed");
            }
        } catch (Expected | CanceledException) {
            while (ob_get_level() > $level) { ob_end_clean(); }
        } finally {
            unset(World::$yielding[$me]);
        }
    });
}

function pause(): void
{
    $me = Coroutine::getCid();
    World::$yielding[$me] = true;
    try {
        Coroutine::yield();
    } finally {
        unset(World::$yielding[$me]);
    }
}

function wait_some(): void
{
    match (mt_rand(0, 4)) {
        0 => Coroutine::sleep(0),
        1 => Coroutine::sleep(mt_rand(0, 3) / 1000),
        2 => pause(),
        3 => Coroutine::join([...array_diff([anybody(), anybody()], [Coroutine::getCid()])], mt_rand(0, 3) / 1000),
        4 => Coroutine::sleep(0.0001),
    };
}

function step(int $depth): void
{
    switch (mt_rand(0, 21)) {
        case 0: case 1: case 2: wait_some(); break;
        case 3: if ($depth < 8) { spawn($depth + 1); } break;
        case 4: if ($depth < 8) { $id = spawn($depth + 1); Coroutine::join([$id], mt_rand(1, 4) / 1000); } break;
        case 5: Coroutine::cancel(anybody(), chance(50)); break;
        case 6: if (World::$yielding && chance(80)) { Coroutine::resume(array_rand(World::$yielding)); } break;
        case 7: if (chance(30)) { throw new Expected("thrown"); } break;
        case 8: try {
            wait_some();
            throw new Expected("inside");
        } catch (Expected) { wait_some(); } finally { Coroutine::sleep(0); } break;
        case 9: in_fiber($depth); break;
        case 10: if (World::$fibers) {
            $f = array_splice(World::$fibers, array_rand(World::$fibers), 1)[0];
            if ($f->isSuspended()) { $f->resume(); }
        } break;
        case 11: if (chance(30)) { World::$fibers = []; } break;
        case 12: gc_collect_cycles(); break;
        case 13: buffered(); break;
        case 14: sorted(); break;
        case 15: Timer::after(mt_rand(1, 3), function () { wait_some_safely(); }); break;
        case 16: $id = Timer::tick(
            1,
            function (int $id) { if (chance(50)) { Timer::clear($id); } wait_some_safely(); },
        ); Timer::after(5, fn() => Timer::clear($id)); break;
        case 17: if ($depth < 6) {
            batch([fn() => wait_some_safely(), fn() => mt_rand()], chance(50) ? 0.002 : 1);
        } break;
        case 18: if ($depth < 6) { parallel(mt_rand(1, 3), fn() => wait_some_safely()); } break;
        case 19: $o = new stdClass; $o->self = $o; $o->context = Coroutine::getContext(); wait_some(); break;
        case 20: Coroutine::getBackTrace(anybody()); Coroutine::stats(); break;
        case 21: text(); break;
    }
}

function wait_some_safely(): void
{
    try { Coroutine::sleep(mt_rand(0, 2) / 1000); } catch (CanceledException) {}
}

function in_fiber(int $depth): void
{
    $fiber = new Fiber(function () use ($depth) {
        try {
            wait_some();
            if (chance(50)) { Fiber::suspend(); }
            if (chance(30) && $depth < 8) { spawn($depth + 1); }
            wait_some();
        } catch (CanceledException | Expected) {
        }
    });
    $fiber->start();
    if (!$fiber->isTerminated() && chance(70)) {
        World::$fibers[] = $fiber;
    }
}

function buffered(): void
{
    $mark = "mark " . mt_rand();
    ob_start();
    try {
        echo $mark;
        wait_some();
        World::check(ob_get_contents() === $mark, "a buffer was changed");
    } finally {
        ob_end_clean();
    }
}

function sorted(): void
{
    $list = [3, 1, 2];
    usort($list, function ($a, $b) { if (chance(30)) { Coroutine::sleep(0); } return $a <=> $b; });
    World::check($list === [1, 2, 3] || Coroutine::isCanceled(), "a sort went wrong");
}

function text(): void
{
    $n = mt_rand();
    $text = preg_replace_callback('/\d+/', function ($m) { Coroutine::sleep(0); return $m[0] . "!"; }, "a $n b");
    World::check($text === "a $n! b", "a replacement went wrong");
}

/** Ends what nobody will ever resume. */
function resolve_deadlocks(): void
{
    foreach (array_keys(World::$yielding) as $id) {
        Coroutine::cancel($id, chance(50));
    }
}

set_error_handler(function (int $level, string $message) { throw new ErrorException($message, 0, $level); });
for ($round = 0; World::$over === World::$begun && $steps > 0 && !World::$wrong; $round++) {
    World::$budget = min($steps, 500);
    $steps -= 500;
    $ends_badly = chance(20);
    try {
        run(function () use ($ends_badly) {
            World::$main = Coroutine::getCid();
            $keeper = Timer::tick(20, resolve_deadlocks(...));
            while (World::$budget > 0) {
                spawn(0);
                if (chance(30)) { Coroutine::sleep(0.001); }
            }
            if ($ends_badly) { throw new DomainException("ends the round"); }
            while (Coroutine::stats()['coroutine_num'] > 1) { Coroutine::sleep(0.005); }
            Timer::clear($keeper);
        });
        World::check(!$ends_badly, "the exception was lost");
    } catch (DomainException) {
        World::check($ends_badly, "an exception came from nowhere");
    }
    World::$fibers = [];
    World::check(Coroutine::stats()['coroutine_num'] === 0, "coroutines are left: " . Coroutine::stats()['coroutine_num']);
    World::check(Timer::stats()['num'] === 0, "timers are left");
    World::check(World::$begun === World::$over, World::$begun . " begun, " . World::$over . " over");
}
foreach (array_unique(World::$wrong) as $what) {
    echo "WRONG: $what\n";
}
echo World::$begun, " coroutines in $round rounds, ", Coroutine::stats()['stack_num'], " stacks\n";
echo World::$wrong ? "failed\n" : "ok\n";
exit(World::$wrong ? 1 : 0);
