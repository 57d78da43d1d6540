<?php

namespace Swoole\Coroutine;

/**
 * The same as Apus\Coroutine\Context, of which it is one.
 * @rust second Apus\Coroutine\Context
 * @rust short Co\Context
 */
class Context extends \Apus\Coroutine\Context
{
}
