<?php

namespace Swoole\Coroutine;

/**
 * The same as Apus\Coroutine\Context, of which it is one, but that what getContext() gives keeps properties apart from
 * the array.
 * @rust dynamic
 * @rust second Apus\Coroutine\Context
 * @rust short Co\Context
 */
class Context extends \Apus\Coroutine\Context
{
}
