<?php

declare(strict_types=1);

namespace Swoole\Database;

/** A statement that is prepared anew, with all that was bound to it, when its connection was lost. */
class PDOStatementProxy extends ObjectProxy
{
    /** @var \PDOStatement */
    protected $__object;

    protected array $setAttributeContext = [];

    protected array $setFetchModeContext = [];

    protected array $bindParamContext = [];

    protected array $bindColumnContext = [];

    protected array $bindValueContext = [];

    /** @var int */
    protected $parentRound;

    public function __construct(\PDOStatement $object, protected PDOProxy $parent)
    {
        parent::__construct($object);
        $this->parentRound = $parent->getRound();
    }

    public function __call(string $name, array $arguments)
    {
        try {
            return $this->__object->{$name}(...$arguments);
        } catch (\PDOException $e) {
            if ($this->parent->inTransaction() || !DetectsLostConnections::causedByLostConnection($e)) {
                throw $e;
            }
        }
        $this->prepareAgain();
        return $this->__object->{$name}(...$arguments);
    }

    public function setAttribute(int $attribute, mixed $value): bool
    {
        $this->setAttributeContext[$attribute] = $value;
        return $this->__object->setAttribute($attribute, $value);
    }

    public function setFetchMode(int $mode, mixed ...$params): bool
    {
        $this->setFetchModeContext = [$mode, ...$params];
        return $this->__object->setFetchMode($mode, ...$params);
    }

    public function bindParam(
        $parameter,
        &$variable,
        $data_type = \PDO::PARAM_STR,
        $length = 0,
        $driver_options = null,
    ): bool {
        $this->bindParamContext[$parameter] = [&$variable, $data_type, $length, $driver_options];
        return $this->__object->bindParam($parameter, $variable, $data_type, $length, $driver_options);
    }

    public function bindColumn($column, &$param, $type = null, $maxlen = null, $driverdata = null): bool
    {
        $more = self::given([$type, $maxlen, $driverdata]);
        $this->bindColumnContext[$column] = [&$param, $more];
        return $this->__object->bindColumn($column, $param, ...$more);
    }

    public function bindValue($parameter, $value, $data_type = \PDO::PARAM_STR): bool
    {
        $this->bindValueContext[$parameter] = [$value, $data_type];
        return $this->__object->bindValue($parameter, $value, $data_type);
    }

    /** Arguments up to the first that was left out: PDO's own have types and defaults that null is not of. */
    private static function given(array $arguments): array
    {
        $left = array_search(null, $arguments, true);
        return $left === false ? $arguments : array_slice($arguments, 0, $left);
    }

    private function prepareAgain(): void
    {
        if ($this->parent->getRound() === $this->parentRound) {
            $this->parent->reconnect();
        }
        $this->parentRound = $this->parent->getRound();
        $statement = $this->parent->__getObject()->prepare($this->__object->queryString);
        $this->__object = $statement;
        foreach ($this->setAttributeContext as $attribute => $value) {
            $statement->setAttribute($attribute, $value);
        }
        if ($this->setFetchModeContext !== []) {
            $statement->setFetchMode(...$this->setFetchModeContext);
        }
        foreach ($this->bindParamContext as $parameter => [&$variable, $type, $length, $options]) {
            $statement->bindParam($parameter, $variable, $type, $length, $options);
        }
        foreach ($this->bindColumnContext as $column => [&$variable, $more]) {
            $statement->bindColumn($column, $variable, ...$more);
        }
        foreach ($this->bindValueContext as $parameter => [$value, $type]) {
            $statement->bindValue($parameter, $value, $type);
        }
    }
}
