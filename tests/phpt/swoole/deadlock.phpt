--TEST--
A deadlock is told of as there, and the script goes on
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

function waits(Coroutine\Channel $channel): void
{
    $channel->pop();
}
Coroutine\run(function () {
    go(fn () => waits(new Coroutine\Channel()));
    Coroutine::yield();
});
echo "goes on\n";
?>
--EXPECTF--

 =================================================================
  [FATAL ERROR]: all coroutines (count: 2) are asleep - deadlock!
 =================================================================

  [Coroutine-2]
 -----------------------------------------------------------------
#0 %s(6): Swoole\Coroutine\Channel->pop()
#1 %s(9): waits()
#2 [internal function]: {closure%S}()

  [Coroutine-1]
 -----------------------------------------------------------------
#0 %s(10): Swoole\Coroutine::yield()
#1 [internal function]: {closure%S}()

 =================================================================
goes on
[%s]	WARNING	Channel::~Channel() (ERRNO 10003): channel is destroyed, 1 consumers will be discarded
