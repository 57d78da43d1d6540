<?php

namespace Swoole;

/**
 * Base of what is thrown under these names: an object that cannot be made, a call that cannot go on.
 * @rust second Apus\Exception
 */
class Exception extends \Exception
{
}

namespace Swoole\Coroutine;

/**
 * The same as Apus\Coroutine\CanceledException, of which it is one.
 * @rust second Apus\Coroutine\CanceledException
 * @rust short Co\CanceledException
 */
final class CanceledException extends \Apus\Coroutine\CanceledException
{
}

/**
 * The same as Apus\Coroutine\TimeoutException, of which it is one.
 * @rust second Apus\Coroutine\TimeoutException
 * @rust short Co\TimeoutException
 */
final class TimeoutException extends \Apus\Coroutine\TimeoutException
{
}
