--TEST--
Metrics\Counter: adding, labels, one value over processes, what it refuses
--EXTENSIONS--
pcntl
--FILE--
<?php
use Apus\Metrics;
use Apus\Metrics\Counter;

function refused(callable $do): void
{
    try {
        var_dump($do());
    } catch (Throwable $e) {
        echo $e::class, " {$e->getCode()}: {$e->getMessage()}\n";
    }
}
$orders = new Counter('orders_total', 'Orders taken.');
$orders->add();
$orders->add(2.5);
var_dump($orders->get());

$paid = new Counter('paid', "What was paid,\nin \"cents\".", ['country', 'method']);
$paid->add(100, 'DE', 'card');
$paid->add(50, 'DE', "cash\n");
$paid->add(1, 'DE', 'card');
var_dump($paid->get('DE', 'card'), $paid->get('FR', 'card'));

echo "-- the same again\n";
$again = new Counter('orders', 'Orders taken.');
$again->add(10);
var_dump($orders->get());
unset($again, $orders);
echo Metrics\render();

echo "-- processes\n";
$shared = new Counter('shared', '', ['child']);
$children = [];
for ($child = 0; $child < 3; $child++) {
    $children[] = $pid = pcntl_fork();
    if ($pid === 0) {
        for ($i = 0; $i < 10000; $i++) {
            $shared->add(1, 'all');
            $shared->add(0.5, $child);
        }
        Apus\Process::kill(getmypid(), 9);
    }
}
foreach ($children as $pid) {
    pcntl_waitpid($pid, $status);
}
var_dump($shared->get('all'), $shared->get('0'), $shared->get('2'));

echo "-- bounds\n";
$bounded = new Counter('bounded', '', ['path'], 2);
foreach (['/a', '/b', '/c', '/d', '/a', "\xff", str_repeat('x', 200)] as $path) {
    $bounded->add(1, $path);
}
var_dump($bounded->get('/a'), $bounded->get('other'), $bounded->get('/c'));
$long = new Counter('long', '', ['text']);
$long->add(1, str_repeat('x', 200));
$long->add(1, "\xff");
echo strstr(Metrics\render(), '# HELP bounded');

echo "-- refused\n";
$labels = new Counter('with_labels', '', ['a', 'b']);
refused(fn () => $labels->add());
refused(fn () => $labels->add(1, 'x'));
refused(fn () => $labels->get('x', 'y', 'z'));
refused(fn () => $labels->add(1, a: 'x', b: 'y'));
refused(fn () => $bounded->add(1));
refused(fn () => $labels->add(-1, 'x', 'y'));
refused(fn () => $labels->add(NAN, 'x', 'y'));
refused(fn () => $labels->add(INF, 'x', 'y'));
refused(fn () => $labels->add(1, 'x', []));
foreach (['', '1a', 'a-b', "a\n", 'é', 'apus_x', 'a_count', 'a_total_total', str_repeat('a', 201)] as $name) {
    refused(fn () => new Counter($name));
}
foreach ([['1a'], ['a', 'a'], ['__a'], [1], range('a', 'i')] as $names) {
    refused(fn () => new Counter('x', '', $names));
}
refused(fn () => new Counter('x', series: 0));
refused(fn () => new Counter('x', series: 10001));
refused(fn () => new Counter('paid', 'Other.', ['country', 'method']));
refused(fn () => new Counter('paid', '', ['method', 'country']));
refused(fn () => new Counter('orders', 'Orders taken.', [], 5));
refused(fn () => new Metrics\Gauge('orders'));
refused(fn () => clone $labels);
refused(function () {
    for ($i = 0; ; $i++) {
        new Counter("many_$i");
    }
});
?>
--EXPECTF--
float(3.5)
float(101)
float(0)
-- the same again
float(13.5)
# HELP orders_total Orders taken.
# TYPE orders_total counter
orders_total 13.5
# HELP paid_total What was paid,\nin "cents".
# TYPE paid_total counter
paid_total{country="DE",method="card"} 101
paid_total{country="DE",method="cash\n"} 50
-- processes
float(30000)
float(5000)
float(5000)
-- bounds
%s warning: metric bounded has 2 series, which is its $series: labels that are new are counted as "other" (%scounter.php(%d))
float(2)
float(4)
float(0)
# HELP bounded_total 
# TYPE bounded_total counter
bounded_total{path="/a"} 2
bounded_total{path="/b"} 1
bounded_total{path="other"} 4
# HELP long_total 
# TYPE long_total counter
long_total{text="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"} 1
long_total{text="�"} 1
-- refused
Apus\Metrics\Exception 605: metric with_labels has 2 labels (a, b): 0 given
Apus\Metrics\Exception 605: metric with_labels has 2 labels (a, b): 1 given
Apus\Metrics\Exception 605: metric with_labels has 2 labels (a, b): 3 given
Apus\Metrics\Exception 605: metric with_labels has 2 labels (a, b): 0 given
Apus\Metrics\Exception 605: metric bounded has one label (path): 0 given
ValueError 0: Apus\Metrics\Counter::add(): Argument #1 ($by) must be a finite number, 0 or more, -1.0 given
ValueError 0: Apus\Metrics\Counter::add(): Argument #1 ($by) must be a finite number, 0 or more, NaN given
ValueError 0: Apus\Metrics\Counter::add(): Argument #1 ($by) must be a finite number, 0 or more, inf given
TypeError 0: Apus\Metrics\Counter::add(): Argument #3 must be of type string, array given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must be up to 200 letters, digits and underscores, no digit first, "" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must be up to 200 letters, digits and underscores, no digit first, "1a" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must be up to 200 letters, digits and underscores, no digit first, "a-b" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must be up to 200 letters, digits and underscores, no digit first, "a\n" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must be up to 200 letters, digits and underscores, no digit first, "é" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must not begin with "apus_", which the server's own do
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must not end in "_count", which says what another kind of sample is
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must not end in "_total", which says what another kind of sample is
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #1 ($name) must be up to 200 letters, digits and underscores, no digit first, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #3 ($labels) must hold letters, digits and underscores, no digit first, "1a" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #3 ($labels) must hold each name once, "a" given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #3 ($labels) must hold names that do not begin with two underscores, which Prometheus' own do, "__a" given
TypeError 0: Apus\Metrics\Counter::__construct(): Argument #3 ($labels) must hold names of labels, which are strings
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #3 ($labels) must hold at most 8 names, 9 given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #4 ($series) must be from 1 to 10000, 0 given
ValueError 0: Apus\Metrics\Counter::__construct(): Argument #4 ($series) must be from 1 to 10000, 10001 given
Apus\Metrics\Exception 601: there is a metric paid already, with another help
Apus\Metrics\Exception 601: there is a metric paid already, with other labels
Apus\Metrics\Exception 601: there is a metric orders already, with another number of series
Apus\Metrics\Exception 601: there is a metric orders already, of another kind
Error 0: Trying to clone an uncloneable object of class Apus\Metrics\Counter
Apus\Metrics\Exception 603: 1000 metrics are made, which is the most: no room for many_994
