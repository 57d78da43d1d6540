<?php

namespace Apus\Coroutine;

/**
 * Values that belong to one coroutine and are freed when it ends: read and written as an array or as properties.
 * Apus\Coroutine::getContext() returns it.
 */
class Context extends \ArrayObject
{
}
