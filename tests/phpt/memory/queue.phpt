--TEST--
Queue: values, limits, errCode, closing
--FILE--
<?php
use Apus\Queue;

class Point
{
    public function __construct(public int $x, public ?Point $next = null)
    {
    }
}

$queue = new Queue(1 << 16);
$values = [
    'text',
    '',
    str_repeat("\0\xff", 5000),
    42,
    -1.5,
    null,
    false,
    true,
    [1, 'a' => [2]],
    new Point(1, new Point(2)),
    PHP_INT_MIN,
];
foreach ($values as $value) {
    var_dump($queue->push($value)) ;
}
echo count($queue), ' ', json_encode($queue->isEmpty()), "\n";
foreach ($values as $value) {
    $popped = $queue->pop();
    echo json_encode([$popped == $value, gettype($popped), $queue->errCode]), "\n";
}
echo json_encode([
    $queue->tryPop(),
    $queue->errCode === Apus\CHANNEL_TIMEOUT,
    $queue->pop(0.001),
    $queue->errCode,
    $queue->isEmpty(),
]), "\n";

echo "full:\n";
$small = new Queue(4000, 3000);
$n = 0;
while ($small->tryPush("message $n")) {
    $n++;
}
var_dump(
    $small->errCode === Apus\CHANNEL_TIMEOUT,
    $small->push("message $n", 0.001),
    $small->errCode === Apus\CHANNEL_TIMEOUT,
    count($small) === $n,
    $n > 100,
);
$stats = $small->stats();
echo implode(' ', array_keys($stats)), ' ',
    json_encode([$stats['count'] === $n, $stats['bytes'] <= $stats['capacity'], $stats['longest'], $stats['pushed'] === $n, $stats['popped']]), "\n";
for ($i = 0; $i < $n; $i++) {
    $small->pop() === "message $i" || print("order\n");
}
var_dump($small->push(str_repeat('x', 2900)), strlen($small->pop()));

echo "errors:\n";
$wrongs = [
    fn() => $small->push(str_repeat('x', 3000)), fn() => new Queue(0), fn() => new Queue(63), fn() =>
        new Queue(64, 65), fn() => new Queue(100, -1),
    fn() => new Queue(PHP_INT_MAX), fn() => $small->push(fopen('php://memory', 'r')), fn() => $small->push(fn() => 1), fn() =>
        clone $small,
];
foreach ($wrongs as $wrong) {
    try {
        $wrong();
    } catch (Throwable $error) {
        echo get_class($error), ' ', $error->getCode(), ': ', $error->getMessage(), "\n";
    }
}
var_dump(count($small));

echo "closed:\n";
$queue->push('last');
$queue->close();
$queue->close();
echo json_encode([
    $queue->isClosed(),
    $queue->push(1),
    $queue->errCode === Apus\CHANNEL_CLOSED,
    $queue->pop(),
    $queue->errCode,
    $queue->pop(),
    $queue->errCode === Apus\CHANNEL_CLOSED,
]), "\n";
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
11 false
[true,"string",0]
[true,"string",0]
[true,"string",0]
[true,"integer",0]
[true,"double",0]
[true,"NULL",0]
[true,"boolean",0]
[true,"boolean",0]
[true,"array",0]
[true,"object",0]
[true,"integer",0]
[false,true,false,-1,true]
full:
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
count bytes capacity longest pushed popped [true,true,3000,true,0]
bool(true)
int(2900)
errors:
Apus\QueueException 571: the value takes 30%d bytes when packed, and the queue takes at most 3000 for one value: give new Apus\Queue() a greater $longest
ValueError 0: Apus\Queue::__construct(): Argument #1 ($bytes) must be from 64 to 1099511627776 bytes, 0 given
ValueError 0: Apus\Queue::__construct(): Argument #1 ($bytes) must be from 64 to 1099511627776 bytes, 63 given
ValueError 0: Apus\Queue::__construct(): Argument #2 ($longest) must be from 1 to 64 bytes, or 0 for a quarter of $bytes, 65 given
ValueError 0: Apus\Queue::__construct(): Argument #2 ($longest) must be from 1 to 100 bytes, or 0 for a quarter of $bytes, -1 given
ValueError 0: Apus\Queue::__construct(): Argument #1 ($bytes) must be from 64 to 1099511627776 bytes, %d given
Apus\PackException %d: %s
%s: %s
Error 0: Trying to clone an uncloneable object of class Apus\Queue
int(0)
closed:
[true,false,true,"last",0,false,true]
