--TEST--
Classes under the names of Swoole: own declarations, the same implementation, the conventions there
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Atomic;
use Swoole\Coroutine\Channel;

// The objects of both names work in the same places.
Apus\Coroutine\run(function () {
    $channel = new Channel(2);
    var_dump(
        $channel->capacity,
        $channel->push('a'),
        $channel->length(),
        $channel->pop(),
        $channel->pop(0.001),
        $channel->errCode,
    );
    $other = new Apus\Coroutine\Channel(1);
    Apus\go(fn () => $channel->push('selected'));
    var_dump(Apus\Coroutine\Channel::class !== Channel::class, $other instanceof Channel);
    var_dump(Apus\Coroutine\select(['one' => $channel, 'two' => $other], 1.0));
    class Mine extends Channel
    {
    }
    $mine = new Mine();
    $mine->push(1);
    var_dump($mine->pop(), $mine->errCode);
});

// Outside of coroutines there is an error there that nothing catches, and an exception in our own name.
$channel = new Channel();
try {
    (new Apus\Coroutine\Channel())->pop();
} catch (Apus\Coroutine\Exception $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
// Wrong arguments are PHP's to refuse.
try {
    $channel->push();
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}

$atomic = new Atomic(5);
var_dump($atomic->add(2), (new Atomic\Long(PHP_INT_MAX))->get());
$lock = new Swoole\Lock(Swoole\Lock::MUTEX);
var_dump($lock->lock(), $lock->lock(LOCK_EX | LOCK_NB), $lock->errCode, $lock->unlock());
echo new ReflectionMethod(Channel::class, 'pop');
var_dump((new ReflectionClass(Swoole\Lock::class))->hasMethod('recovered'), ini_get('apus.swoole_compat'));
var_dump(str_contains(Apus\stubs(swoole: true), 'namespace Swoole\Coroutine;'), str_contains(Apus\stubs(), 'namespace Swoole'));
?>
--EXPECTF--
int(2)
bool(true)
int(1)
string(1) "a"
bool(false)
int(-1)
bool(true)
bool(false)
array(2) {
  [0]=>
  string(3) "one"
  [1]=>
  string(8) "selected"
}
int(1)
int(0)
Apus\Coroutine\Exception: Coroutine\Channel::pop() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Swoole\Coroutine\Channel::push() expects at least 1 argument, 0 given
int(7)
int(9223372036854775807)
bool(true)
bool(false)
int(16)
bool(true)
Method [ <internal:swoole> public method pop ] {

  - Parameters [1] {
    Parameter #0 [ <optional> float $timeout = -1 ]
  }
  - Return [ mixed ]
}
bool(false)
string(1) "1"
bool(true)
bool(false)
