--TEST--
Coroutines that wait at a channel for ever are told of when the script has ended, a line for each side of each channel
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Channel;

Co::set(['enable_deadlock_check' => false]);
Co\run(function () {
    $full = new Channel(1);
    for ($i = 0; $i < 3; $i++) {
        go(function () use ($full) {
            $full->push(1);
            $full->push(2);
        });
    }
    go(fn () => (new Channel(1))->pop());
});
echo "goes on\n";
?>
--EXPECTF--
goes on
[%s]	WARNING	Channel::~Channel() (ERRNO 10003): channel is destroyed, 3 producers will be discarded
[%s]	WARNING	Channel::~Channel() (ERRNO 10003): channel is destroyed, 1 consumers will be discarded
