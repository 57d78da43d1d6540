<?php

namespace Swoole;

/**
 * A call that cannot go on, because the program is wrong.
 * @rust static ERROR
 */
class Error extends \Error
{
}

/**
 * exit() was called in a coroutine: what it was given, and where. Not caught, it ends the script.
 * @rust static EXIT_EXCEPTION
 * @rust plain
 */
class ExitException extends \Swoole\Exception
{
    private $flags = 0;

    private $status = 0;

    /** SWOOLE_EXIT_IN_COROUTINE, SWOOLE_EXIT_IN_SERVER or both. */
    public function getFlags(): int {}

    /** What exit() was given; null for nothing. */
    public function getStatus(): mixed {}
}

namespace Swoole\Timer;

/**
 * The ids of timers.
 * @rust static TIMER_ITERATOR
 */
final class Iterator extends \ArrayIterator
{
}

namespace Swoole\Coroutine;

/**
 * The ids of coroutines.
 * @rust static COROUTINE_ITERATOR
 * @rust short Co\Iterator
 */
final class Iterator extends \ArrayIterator
{
}

namespace Swoole\Client;

/**
 * An object of Client that cannot be made.
 * @rust static CLIENT_EXCEPTION
 */
class Exception extends \Swoole\Exception
{
}

namespace Swoole\Coroutine\Socket;

/**
 * An object of Coroutine\Socket that cannot be made.
 * @rust static SOCKET_EXCEPTION
 * @rust short Co\Socket\Exception
 */
class Exception extends \Swoole\Exception
{
}

namespace Swoole\Coroutine\Http\Client;

/**
 * An object of Coroutine\Http\Client that cannot be made.
 * @rust static HTTP_CLIENT_EXCEPTION
 * @rust short Co\Http\Client\Exception
 */
class Exception extends \Swoole\Exception
{
}

namespace Swoole\Coroutine\Http2\Client;

/**
 * An object of Coroutine\Http2\Client that cannot be made.
 * @rust static HTTP2_CLIENT_EXCEPTION
 * @rust short Co\Http2\Client\Exception
 */
class Exception extends \Swoole\Exception
{
}
