<?php

declare(strict_types=1);

namespace Swoole\Database;

/** A statement that is prepared anew, with all that was bound to it, when its connection was lost. */
class MysqliStatementProxy extends ObjectProxy
{
    public const IO_METHOD_REGEX = '/^(?:close|execute|fetch|prepare)$/i';

    /** @var \mysqli_stmt */
    protected $__object;

    protected array $attrSetContext = [];

    protected array $bindParamContext = [];

    protected array $bindResultContext = [];

    protected int $parentRound;

    public function __construct(\mysqli_stmt $object, protected ?string $queryString, protected MysqliProxy $parent)
    {
        parent::__construct($object);
        $this->parentRound = $parent->getRound();
    }

    public function __call(string $name, array $arguments)
    {
        $result = MysqliProxy::attempt(
            fn (): mixed => @$this->__object->{$name}(...$arguments),
            preg_match(static::IO_METHOD_REGEX, $name) === 1,
            fn (): object => $this->__object,
            $this->prepareAgain(...),
        );
        if (strcasecmp($name, 'prepare') === 0) {
            $this->queryString = $arguments[0];
        }
        return $result;
    }

    public function attr_set(int $attr, int $mode): bool
    {
        $this->attrSetContext[$attr] = $mode;
        return $this->__object->attr_set($attr, $mode);
    }

    public function bind_param(string $types, mixed &...$arguments): bool
    {
        $this->bindParamContext = [$types, $arguments];
        return $this->__object->bind_param($types, ...$arguments);
    }

    public function bind_result(mixed &...$arguments): bool
    {
        $this->bindResultContext = $arguments;
        return $this->__object->bind_result(...$arguments);
    }

    private function prepareAgain(): void
    {
        if ($this->parent->getRound() === $this->parentRound) {
            $this->parent->reconnect();
        }
        $this->parentRound = $this->parent->getRound();
        $mysqli = $this->parent->__getObject();
        $statement = $this->queryString !== null ? @$mysqli->prepare($this->queryString) : $mysqli->stmt_init();
        if ($statement === false) {
            throw new MysqliException($mysqli->error, $mysqli->errno);
        }
        $this->__object = $statement;
        if ($this->bindParamContext !== []) {
            $statement->bind_param($this->bindParamContext[0], ...$this->bindParamContext[1]);
        }
        if ($this->bindResultContext !== []) {
            $statement->bind_result(...$this->bindResultContext);
        }
        foreach ($this->attrSetContext as $attribute => $value) {
            $statement->attr_set($attribute, $value);
        }
    }
}
