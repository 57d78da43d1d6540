<?php

namespace Apus\Coroutine;

// @rust typed

/**
 * Does the first of several channel operations that becomes possible, and no other. If several are possible at once,
 * each is equally likely to be chosen.
 * @param array $cases a Channel to pop from it; [Channel, $value] to push the value; under any keys
 * @param float $timeout seconds; negative for no limit; 0 does not wait: null when no case is possible now
 * @return array|null [key of the case, what pop() or push() would return]; null when the time-out expired, or the
 * coroutine was cancelled. For a closed channel the value is false, and the channel's $errCode is Apus\CHANNEL_CLOSED
 * @throws \ValueError for no case at all
 * @throws \TypeError for a case that is not a channel
 * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
 * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
 * Waits unless a case is possible, or $timeout is 0.
 * @rust select::select
 */
function select(array $cases, float $timeout = -1): ?array {}

/**
 * Calls $callback() in the running coroutine. When the time is over, the function that it waits in throws a
 * TimeoutException; code that does not wait is not interrupted. Deadlines may be nested: each ends what waits inside
 * it. Coroutines that $callback starts are not ended: see Scope::run() for that.
 * @param float $seconds seconds; negative for no limit
 * @return mixed what $callback returned
 * @throws \Apus\Coroutine\TimeoutException when the time-out expired and $callback does not catch it
 * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
 * Waits as $callback does.
 * @rust deadline::timeout
 */
function timeout(float $seconds, callable $callback): mixed {}

namespace Apus;

/**
 * Coroutine\Channel::$errCode and Queue::$errCode: the last operation succeeded.
 * @rust codes::OK
 */
const CHANNEL_OK = 0;

/**
 * Coroutine\Channel::$errCode and Queue::$errCode: the time-out expired; tryPush(), tryPop(): full, or empty.
 * @rust codes::TIMEOUT
 */
const CHANNEL_TIMEOUT = -1;

/**
 * Coroutine\Channel::$errCode and Queue::$errCode: the channel is closed.
 * @rust codes::CLOSED
 */
const CHANNEL_CLOSED = -2;

/**
 * Coroutine\Channel::$errCode and Queue::$errCode: the coroutine was cancelled.
 * @rust codes::CANCELED
 */
const CHANNEL_CANCELED = -3;
