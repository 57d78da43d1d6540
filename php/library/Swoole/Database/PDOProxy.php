<?php

declare(strict_types=1);

namespace Swoole\Database;

/** A PDO connection that is made anew when it was lost outside a transaction. */
class PDOProxy extends ObjectProxy
{
    /** @var \PDO */
    protected $__object;

    /** Attributes to set on a new connection. */
    protected array $setAttributeContext = [];

    /** @var callable */
    protected $constructor;

    /** How often it was made anew. */
    protected int $round = 0;

    protected int $inTransaction = 0;

    public function __construct(callable $constructor)
    {
        $this->constructor = $constructor;
        $this->connect();
    }

    public function __call(string $name, array $arguments)
    {
        try {
            $result = $this->__object->{$name}(...$arguments);
        } catch (\PDOException $e) {
            if ($this->__object->inTransaction() || !DetectsLostConnections::causedByLostConnection($e)) {
                throw $e;
            }
            $this->reconnect();
            $result = $this->__object->{$name}(...$arguments);
        }
        switch (strtolower($name)) {
            case 'begintransaction':
                $this->inTransaction++;
                break;
            case 'commit':
            case 'rollback':
                $this->inTransaction = max(0, $this->inTransaction - 1);
                break;
            case 'prepare':
            case 'query':
                return new PDOStatementProxy($result, $this);
        }
        return $result;
    }

    public function getRound(): int
    {
        return $this->round;
    }

    public function reconnect(): void
    {
        $this->connect();
        $this->round++;
        foreach ($this->setAttributeContext as $attribute => $value) {
            $this->__object->setAttribute($attribute, $value);
        }
    }

    public function setAttribute(int $attribute, mixed $value): bool
    {
        $this->setAttributeContext[$attribute] = $value;
        return $this->__object->setAttribute($attribute, $value);
    }

    public function inTransaction(): bool
    {
        return $this->inTransaction > 0;
    }

    public function reset(): void
    {
        $this->inTransaction = 0;
    }

    private function connect(): void
    {
        parent::__construct(($this->constructor)());
        // A lost connection shows itself by an exception only.
        $this->__object->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_EXCEPTION);
    }
}
