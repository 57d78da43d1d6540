--TEST--
Under the names of Swoole a warning begins with its function, obeys swoole.display_errors, and says what it says there
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Socket;
use Swoole\Table;

$told = function (Closure $call): void {
    try {
        var_dump($call());
    } catch (Throwable $thrown) {
        echo get_class($thrown), ': ', $thrown->getMessage(), "\n";
    }
};

echo "-- objects\n";
class Empty_ extends Chan
{
    public $own = 1;

    public $other = 2;

    public function __construct()
    {
    }
}
$told(fn () => (new Empty_())->isEmpty());
$told(fn () => (new Table(8))->__construct(8));
$told(fn () => new Swoole\Coroutine());
$told(fn () => new Swoole\Timer());
$told(function () {
    $lock = new Swoole\Lock();
    unset($lock->errCode);
});
$told(function () {
    $channel = new Empty_();
    unset($channel->own, $channel->other);
    unset($channel->capacity);
});
$told(function () {
    $lock = new Apus\Lock();
    unset($lock->errCode);
    return isset($lock->errCode);
});

echo "-- tables\n";
$table = new Table(8);
$told(fn () => $table->get('a'));
$told(fn () => $table->stats());
$table->column('id', Table::TYPE_INT);
$table->create();
$table->set('a', ['id' => 1]);
$told(fn () => [$table->get('a', 'no'), $table->getdel('a', 'no'), $table->exists('a')]);
$told(fn () => $table->incr('a', 'no'));
ini_set('swoole.display_errors', 'Off');
$told(fn () => $table->incr('a', 'no'));
ini_set('swoole.display_errors', 'On');

echo "-- sockets and clients\n";
Co\run(function () use ($told) {
    $pair = new Socket(AF_INET, SOCK_STREAM);
    $told(fn () => $pair->writeVector(['a', 1]));
    $told(fn () => $pair->readVector([1, 'a']));
    $told(fn () => $pair->readVector([1, 0]));
    $told(fn () => [$pair->connect('127.0.0.1', 1), $pair->errMsg === socket_text($pair->errCode)]);
    $told(fn () => Co::readFile(''));
    $told(fn () => new Co\Http\Client('127.0.0.1', 65536));
    $told(fn () => new Co\Http2\Client('127.0.0.1', -1));
    $told(fn () => (new Co\Http\Client('127.0.0.1'))->set(['write_func' => 'there_is_none']));
});

function socket_text(int $number): string
{
    return swoole_strerror($number);
}

// What functions of PHP refuse is the program's own affair.
Co\run(fn () => array_chunk([1], 0));
?>
--EXPECTF--
-- objects
Error: Swoole\Coroutine\Channel: must call constructor first
Error: Constructor of Swoole\Table can only be called once
Error: The object of Swoole\Coroutine can not be created for security reasons
Error: The object of Swoole\Timer can not be created for security reasons
Error: Property errCode of class Swoole\Lock cannot be unset
Error: Property capacity of class Empty_ cannot be unset
bool(false)
-- tables
Error: table is not created or has been destroyed
bool(false)
array(3) {
  [0]=>
  bool(false)
  [1]=>
  bool(false)
  [2]=>
  bool(true)
}

Warning: Swoole\Table::incr(): column[no] does not exist in %s on line %d
bool(false)
bool(false)
-- sockets and clients
Swoole\Coroutine\Socket\Exception: Item #[1] must be of type string, int given
Swoole\Coroutine\Socket\Exception: Item #[1] must be of type int, string given
Swoole\Coroutine\Socket\Exception: Item #[1] must be greater than 0
array(2) {
  [0]=>
  bool(false)
  [1]=>
  bool(true)
}
ValueError: Filename cannot be empty
Swoole\Coroutine\Http\Client\Exception: The port is invalid
Swoole\Coroutine\Http2\Client\Exception: The port is invalid

Warning: Swoole\Coroutine\Http\Client::set(): function 'there_is_none' is not callable in %s on line %d
bool(false)

Fatal error: Uncaught ValueError: array_chunk(): Argument #2 ($length) must be greater than 0 in %s:%d
Stack trace:
#0 %s(%d): array_chunk(Array, 0)
#1 [internal function]: {closure%S}()
#2 {main}
  thrown in %s on line %d
