--TEST--
The settings of the check for deadlocks: not told at all, of how many coroutines, and how far
--INI--
apus.swoole_compat=1
--FILE--
<?php
$wait = fn () => Swoole\Coroutine::yield();
$program = function () use ($wait) {
    Swoole\Coroutine::create($wait);
    Swoole\Coroutine::create($wait);
};
Swoole\Coroutine::set(['enable_deadlock_check' => false]);
Swoole\Coroutine\run($program);
echo "nothing was said\n";
Swoole\Coroutine::set(['enable_deadlock_check' => true, 'deadlock_check_limit' => 1, 'deadlock_check_depth' => 1]);
Swoole\Coroutine\run($program);
Swoole\Coroutine::set(['deadlock_check_disable_trace' => true]);
Swoole\Coroutine\run($program);
?>
--EXPECTF--
nothing was said

 =================================================================
  [FATAL ERROR]: all coroutines (count: 2) are asleep - deadlock!
 =================================================================

  [Coroutine-%d]
 -----------------------------------------------------------------
#0 %s(2): Swoole\Coroutine::yield()

 =================================================================

 =================================================================
  [FATAL ERROR]: all coroutines (count: 2) are asleep - deadlock!
 =================================================================

 =================================================================
