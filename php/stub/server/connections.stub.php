<?php

namespace Apus\Server;

/** The session ids of a server's connections, including those of other workers. Empty outside workers. */
final class Connections implements \IteratorAggregate, \Countable
{
    // @rust typed

    /**
     * The ids, ascending.
     * Does not wait.
     */
    public function getIterator(): \ArrayIterator {}

    /**
     * How many there are.
     * Does not wait.
     */
    public function count(): int {}
}
