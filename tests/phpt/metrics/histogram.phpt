--TEST--
Metrics\Histogram: buckets, counts, sums, what it refuses
--FILE--
<?php
use Apus\Metrics;
use Apus\Metrics\Histogram;

function refused(callable $do): void
{
    try {
        var_dump($do());
    } catch (Throwable $e) {
        echo $e::class, " {$e->getCode()}: {$e->getMessage()}\n";
    }
}
$time = new Histogram('query_seconds', 'How long queries took.', ['table'], [0.1, 1, 10]);
foreach ([0.05, 0.1, 0.1001, 1, 9, 11, 1000, -5] as $value) {
    $time->observe($value, 'users');
}
$time->observe(2, 'orders');
var_dump($time->count('users'), round($time->sum('users'), 4), $time->count('none'), $time->sum('none'));
(new Histogram('plain'))->observe(0.3);
echo Metrics\render();
refused(fn () => $time->observe(NAN, 'users'));
refused(fn () => $time->observe(1));
foreach ([[1, 1], [2, 1], [1, INF], ['x'], range(1, 65)] as $buckets) {
    refused(fn () => new Histogram('x', '', [], $buckets));
}
refused(fn () => new Histogram('x', '', ['le']));
refused(fn () => new Histogram('plain', '', [], [1]));
?>
--EXPECT--
int(8)
float(1016.2501)
int(0)
float(0)
# HELP query_seconds How long queries took.
# TYPE query_seconds histogram
query_seconds_bucket{table="orders",le="0.1"} 0
query_seconds_bucket{table="orders",le="1"} 0
query_seconds_bucket{table="orders",le="10"} 1
query_seconds_bucket{table="orders",le="+Inf"} 1
query_seconds_sum{table="orders"} 2
query_seconds_count{table="orders"} 1
query_seconds_bucket{table="users",le="0.1"} 3
query_seconds_bucket{table="users",le="1"} 5
query_seconds_bucket{table="users",le="10"} 6
query_seconds_bucket{table="users",le="+Inf"} 8
query_seconds_sum{table="users"} 1016.2501
query_seconds_count{table="users"} 8
# HELP plain 
# TYPE plain histogram
plain_bucket{le="0.005"} 0
plain_bucket{le="0.01"} 0
plain_bucket{le="0.025"} 0
plain_bucket{le="0.05"} 0
plain_bucket{le="0.1"} 0
plain_bucket{le="0.25"} 0
plain_bucket{le="0.5"} 1
plain_bucket{le="1"} 1
plain_bucket{le="2.5"} 1
plain_bucket{le="5"} 1
plain_bucket{le="10"} 1
plain_bucket{le="+Inf"} 1
plain_sum 0.3
plain_count 1
ValueError 0: Apus\Metrics\Histogram::observe(): Argument #1 ($value) must be a finite number, NaN given
Apus\Metrics\Exception 605: metric query_seconds has one label (table): 0 given
ValueError 0: Apus\Metrics\Histogram::__construct(): Argument #4 ($buckets) must hold finite numbers, ascending, 1.0 given
ValueError 0: Apus\Metrics\Histogram::__construct(): Argument #4 ($buckets) must hold finite numbers, ascending, 1.0 given
ValueError 0: Apus\Metrics\Histogram::__construct(): Argument #4 ($buckets) must hold finite numbers, ascending, inf given
TypeError 0: Apus\Metrics\Histogram::__construct(): Argument #4 ($buckets) must hold numbers
ValueError 0: Apus\Metrics\Histogram::__construct(): Argument #4 ($buckets) must hold at most 64 bounds, 65 given
ValueError 0: Apus\Metrics\Histogram::__construct(): Argument #3 ($labels) must hold other names than "le", which is the bound of a bucket, "le" given
Apus\Metrics\Exception 601: there is a metric plain already, with other buckets
