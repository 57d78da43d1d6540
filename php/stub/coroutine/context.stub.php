<?php

namespace Apus\Coroutine;

/**
 * Values that belong to one coroutine and go when it ends: read and written as an array or as properties.
 * Apus\Coroutine::getContext() gives it.
 */
class Context extends \ArrayObject
{
}
