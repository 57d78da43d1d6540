--TEST--
Metrics\Gauge: setting, adding, what it refuses
--FILE--
<?php
use Apus\Metrics;
use Apus\Metrics\Gauge;

function refused(callable $do): void
{
    try {
        var_dump($do());
    } catch (Throwable $e) {
        echo $e::class, " {$e->getCode()}: {$e->getMessage()}\n";
    }
}
$heat = new Gauge('heat_celsius', 'How warm it is.', ['room']);
$heat->set(21.5, 'hall');
$heat->add(1, 'hall');
$heat->sub(3, 'hall');
$heat->sub(0.25, 'cellar');
var_dump($heat->get('hall'), $heat->get('cellar'), $heat->get('attic'));
$jobs = new Gauge('jobs');
$jobs->add();
$jobs->add();
$jobs->sub();
var_dump($jobs->get());
echo Metrics\render();
refused(fn () => $heat->set(INF, 'hall'));
refused(fn () => $heat->add(NAN, 'hall'));
refused(fn () => $heat->sub(-INF, 'hall'));
refused(fn () => $heat->set(1));
refused(fn () => $jobs->get('x'));
foreach (['a_total', 'a_created', 'a_bucket', 'a_count', 'a_sum', 'a_info'] as $name) {
    refused(fn () => new Gauge($name));
}
?>
--EXPECT--
float(19.5)
float(-0.25)
float(0)
float(1)
# HELP heat_celsius How warm it is.
# TYPE heat_celsius gauge
heat_celsius{room="cellar"} -0.25
heat_celsius{room="hall"} 19.5
# HELP jobs 
# TYPE jobs gauge
jobs 1
ValueError 0: Apus\Metrics\Gauge::set(): Argument #1 ($value) must be a finite number, inf given
ValueError 0: Apus\Metrics\Gauge::add(): Argument #1 ($by) must be a finite number, NaN given
ValueError 0: Apus\Metrics\Gauge::sub(): Argument #1 ($by) must be a finite number, -inf given
Apus\Metrics\Exception 605: metric heat_celsius has one label (room): 0 given
Apus\Metrics\Exception 605: metric jobs has no label: 1 given
ValueError 0: Apus\Metrics\Gauge::__construct(): Argument #1 ($name) must not end in "_total", which says what another kind of sample is
ValueError 0: Apus\Metrics\Gauge::__construct(): Argument #1 ($name) must not end in "_created", which says what another kind of sample is
ValueError 0: Apus\Metrics\Gauge::__construct(): Argument #1 ($name) must not end in "_bucket", which says what another kind of sample is
ValueError 0: Apus\Metrics\Gauge::__construct(): Argument #1 ($name) must not end in "_count", which says what another kind of sample is
ValueError 0: Apus\Metrics\Gauge::__construct(): Argument #1 ($name) must not end in "_sum", which says what another kind of sample is
ValueError 0: Apus\Metrics\Gauge::__construct(): Argument #1 ($name) must not end in "_info", which says what another kind of sample is
