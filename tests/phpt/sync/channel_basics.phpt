--TEST--
Channel: order, bounds, counts and errCode, inside and outside coroutines
--FILE--
<?php
use Apus\Coroutine\Channel;
use Apus\Coroutine\Exception as Misuse;
use function Apus\go;
use function Apus\Coroutine\run;

$codes = [Apus\CHANNEL_OK, Apus\CHANNEL_TIMEOUT, Apus\CHANNEL_CLOSED, Apus\CHANNEL_CANCELED];
echo json_encode($codes), "\n";

$c = new Channel(3);
echo json_encode([$c->capacity, $c->errCode, $c->isEmpty(), $c->isFull(), $c->length()]), "\n";
foreach ([1, 'two', null] as $value) {
    var_dump($c->push($value));
}
echo json_encode([$c->isEmpty(), $c->isFull(), $c->length(), $c->stats()]), "\n";
foreach ([fn() => $c->push(4), fn() => $c->push(4, 0.01)] as $push) {
    try {
        $push();
    } catch (Misuse $e) {
        echo $e->getCode() === Misuse::NOT_IN_COROUTINE ? '' : 'wrong code: ', $e->getMessage(), "\n";
    }
}
var_dump($c->pop(), $c->pop(), $c->pop(), $c->errCode);
try {
    $c->pop();
} catch (Misuse $e) {
    echo $e->getMessage(), "\n";
}
echo json_encode((new Channel(-5))->capacity), json_encode((new Channel)->capacity), "\n";
try {
    $c->__construct(2);
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
try {
    clone $c;
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}

run(function () {
    $c = new Channel(2);
    go(function () use ($c) {
        foreach (range(1, 5) as $i) {
            $c->push($i);
            echo "pushed $i\n";
        }
        $c->close();
    });
    echo json_encode($c->stats()), "\n";
    while (($value = $c->pop()) !== false) {
        echo "popped $value\n";
    }
    var_dump($c->errCode === Apus\CHANNEL_CLOSED, $c->push(1), $c->errCode === Apus\CHANNEL_CLOSED);
});
?>
--EXPECT--
[0,-1,-2,-3]
[3,0,true,false,0]
bool(true)
bool(true)
bool(true)
[false,true,3,{"consumer_num":0,"producer_num":0,"queue_num":3}]
Coroutine\Channel::push() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Coroutine\Channel::push() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
int(1)
string(3) "two"
NULL
int(0)
Coroutine\Channel::pop() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
11
Apus\Coroutine\Channel is already constructed
Trying to clone an uncloneable object of class Apus\Coroutine\Channel
pushed 1
pushed 2
{"consumer_num":0,"producer_num":1,"queue_num":2}
pushed 3
popped 1
pushed 4
popped 2
pushed 5
popped 3
popped 4
popped 5
bool(true)
bool(false)
bool(true)
