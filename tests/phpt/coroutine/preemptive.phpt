--TEST--
enable_preemptive_scheduler: a coroutine that computes lets others run, and is not interrupted in what C code calls
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

$defaults = array_intersect_key(Coroutine::getOptions(), ['enable_preemptive_scheduler' => 0, 'preemptive_slice' => 0]);
var_dump($defaults === ['enable_preemptive_scheduler' => false, 'preemptive_slice' => 10]);
Coroutine::set(['enable_preemptive_scheduler' => true, 'preemptive_slice' => 2]);
try {
    Coroutine::set(['preemptive_slice' => 0]);
} catch (ValueError $error) {
    echo $error->getMessage(), "\n";
}

final class Other
{
    public static bool $ran = false;
}

/** Computes for several slices; whether another coroutine has run meanwhile. */
function busy(): bool
{
    for ($end = hrtime(true) + 15_000_000; hrtime(true) < $end && !Other::$ran;);
    return Other::$ran;
}

class Destroyed
{
    public static bool $seen;

    public function __destruct()
    {
        self::$seen = busy();
    }
}

class Text
{
    public static bool $seen;

    public function __toString(): string
    {
        self::$seen = busy();
        return 'text';
    }
}

class Each implements IteratorAggregate
{
    public static bool $seen;

    public function getIterator(): Iterator
    {
        self::$seen = busy();
        return new ArrayIterator([1, 2]);
    }
}

final class Noted
{
    public static bool $seen;
}

spl_autoload_register(function (string $name): void {
    Noted::$seen = busy();
    eval("class $name {}");
});

$places = [
    'usort()' => function () {
        $numbers = [3, 1, 2];
        $seen = false;
        usort($numbers, function ($a, $b) use (&$seen) {
            $seen = busy() || $seen;
            return $a <=> $b;
        });
        return [$seen, implode(',', $numbers)];
    },
    'array_map()' => function () {
        $seen = array_map(busy(...), [[]]);
        return [$seen[0], count($seen)];
    },
    'preg_replace_callback()' => function () {
        $seen = false;
        $text = preg_replace_callback('/b/', function ($match) use (&$seen) {
            $seen = busy();
            return strtoupper($match[0]);
        }, 'abc');
        return [$seen, $text];
    },
    'a destructor' => function () {
        $object = new Destroyed();
        $object = null;
        return [Destroyed::$seen, 'null'];
    },
    'a destructor of a local variable' => function () {
        (function () {
            $object = new Destroyed();
        })();
        return [Destroyed::$seen, 'out of scope'];
    },
    'a conversion' => fn() => [(string) new Text() === '', Text::$seen],
    'an iterator' => function () {
        foreach (new Each() as $number);
        return [Each::$seen, $number];
    },
    'a generator' => function () {
        foreach ((function () { yield busy(); })() as $seen);
        return [$seen, 'ended'];
    },
    'an autoloader' => fn() => [new Loaded() instanceof Destroyed, Noted::$seen],
    'an autoloader while the compiler links a class' => function () {
        eval('class Child extends ToLoad {}');
        return [Noted::$seen, get_parent_class('Child')];
    },
    'an output handler' => function () {
        $seen = null;
        ob_start(function (string $text) use (&$seen) {
            $seen = busy();
            return strtoupper($text);
        });
        echo "shown\n";
        ob_end_flush();
        return [$seen, 'flushed'];
    },
    'a handler of errors' => function () {
        $seen = null;
        set_error_handler(function () use (&$seen) {
            $seen = busy();
            return true;
        });
        echo $undefined;
        restore_error_handler();
        return [$seen, 'handled'];
    },
];

/** Runs `place` beside a coroutine that is ready to run; it may run when `place` is over. */
function beside(string $name, Closure $place): void
{
    Other::$ran = false;
    run(function () use ($name, $place) {
        go(function () {
            Coroutine::sleep(0);
            Other::$ran = true;
        });
        echo $name, ': ', json_encode($place()), "\n";
        while (!Other::$ran);
    });
}

foreach ($places as $name => $place) {
    beside($name, $place);
}

// The last reference goes when the coroutine's own function has returned.
Other::$ran = false;
run(function () {
    go(function () {
        $object = new Destroyed();
        go(function () {
            Coroutine::sleep(0);
            Other::$ran = true;
        });
    });
});
echo 'the end of a coroutine: ', json_encode(Destroyed::$seen), "\n";

// A buffer that is left open is flushed when it has returned.
Other::$ran = false;
$seen = null;
run(function () use (&$seen) {
    go(function () use (&$seen) {
        ob_start(function (string $text) use (&$seen) {
            $seen = busy();
            return $text;
        });
        go(function () {
            Coroutine::sleep(0);
            Other::$ran = true;
        });
    });
});
echo 'a buffer that is left open: ', json_encode($seen), "\n";

// Wherever the VM alone has called the code it is interrupted, and goes on right.
class Deep
{
    public function __construct(private int $depth)
    {
    }

    public function wait(): int
    {
        if ($this->depth > 0) {
            return 1 + (new self($this->depth - 1))->wait();
        }
        for ($sum = 0, $i = 0; !Other::$ran; $i++) {
            $sum += $i & 1;
        }
        return $sum >= 0 ? 0 : -1000;
    }
}
beside('calls within calls', fn() => (new Deep(50))->wait());
beside('evaluated code', fn() => eval('while (!Other::$ran); return "evaluated";'));
beside('an exception', function () {
    try {
        while (!Other::$ran);
        throw new LogicException('thrown');
    } catch (LogicException $error) {
        return $error->getMessage();
    } finally {
        echo 'finally, ';
    }
});

// Two that compute share the time, and each counts right.
run(function () {
    $sums = [];
    foreach ([1, 2] as $which) {
        go(function () use ($which, &$sums) {
            for ($sum = 0, $i = 0; $i < 300_000; $i++) {
                $sum += $i % 7;
            }
            $sums[$which] = $sum;
        });
    }
    while (count($sums) < 2);
    ksort($sums);
    echo json_encode($sums), "\n";
});

Coroutine::set(['enable_preemptive_scheduler' => false]);
Other::$ran = false;
run(function () {
    go(function () {
        Coroutine::sleep(0);
        Other::$ran = true;
    });
    echo 'off: ', json_encode(busy()), "\n";
});
?>
--EXPECT--
bool(true)
setting "preemptive_slice" must be a whole number of milliseconds from 1 to 10000, 0 given
usort(): [false,"1,2,3"]
array_map(): [false,1]
preg_replace_callback(): [false,"aBc"]
a destructor: [false,"null"]
a destructor of a local variable: [false,"out of scope"]
a conversion: [false,false]
an iterator: [false,2]
a generator: [false,"ended"]
an autoloader: [false,false]
an autoloader while the compiler links a class: [false,"ToLoad"]
an output handler: SHOWN
[false,"flushed"]
a handler of errors: [false,"handled"]
the end of a coroutine: false
a buffer that is left open: false
calls within calls: 50
evaluated code: "evaluated"
an exception: finally, "thrown"
{"1":899997,"2":899997}
off: false
