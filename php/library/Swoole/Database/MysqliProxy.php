<?php

declare(strict_types=1);

namespace Swoole\Database;

/** A mysqli connection that is made anew when it was lost. */
class MysqliProxy extends ObjectProxy
{
    /** What talks to the server. */
    public const IO_METHOD_REGEX = '/^(?:autocommit|begin_transaction|change_user|close|commit|execute_query|kill|multi_query|ping'
        . '|prepare|query|real_connect|real_query|reap_async_query|refresh|release_savepoint|rollback|savepoint|select_db'
        . '|send_query|set_charset|ssl_set)$/i';

    /** Cannot connect, gone away, lost during a query. */
    public const IO_ERRORS = [2002, 2006, 2013];

    /** How often a call is made, the first included. */
    private const ATTEMPTS = 3;

    /** @var \mysqli */
    protected $__object;

    protected string $charsetContext = '';

    protected array $setOptContext = [];

    protected array $changeUserContext = [];

    /** @var callable */
    protected $constructor;

    /** How often it was made anew. */
    protected int $round = 0;

    public function __construct(callable $constructor)
    {
        $this->constructor = $constructor;
        parent::__construct($constructor());
    }

    public function __call(string $name, array $arguments)
    {
        $result = self::attempt(
            fn (): mixed => @$this->__object->{$name}(...$arguments),
            preg_match(static::IO_METHOD_REGEX, $name) === 1,
            fn (): object => $this->__object,
            $this->reconnect(...),
        );
        if ($result instanceof \mysqli_stmt) {
            return new MysqliStatementProxy($result, $name === 'stmt_init' ? null : $arguments[0], $this);
        }
        return $result;
    }

    /**
     * Calls until it does not fail for a lost connection. mysqli tells errors by false or exceptions, as
     * mysqli_report() says.
     * @param callable(): mixed $call
     * @param bool $talks whether false is an error of the server
     * @param callable(): object $object what has errno and error
     * @param callable(): void $again makes the connection anew
     */
    public static function attempt(callable $call, bool $talks, callable $object, callable $again): mixed
    {
        for ($left = self::ATTEMPTS; ; $again()) {
            try {
                $result = $call();
                if ($result !== false || !$talks || $object()->errno === 0) {
                    return $result;
                }
                $failed = new MysqliException($object()->error, $object()->errno);
            } catch (\mysqli_sql_exception $e) {
                $failed = new MysqliException($e->getMessage(), $e->getCode(), $e);
            }
            if (--$left === 0 || !in_array($failed->getCode(), static::IO_ERRORS, true)) {
                throw $failed;
            }
        }
    }

    public function getRound(): int
    {
        return $this->round;
    }

    public function reconnect(): void
    {
        parent::__construct(($this->constructor)());
        $this->round++;
        if ($this->charsetContext !== '') {
            $this->__object->set_charset($this->charsetContext);
        }
        foreach ($this->setOptContext as $option => $value) {
            $this->__object->options($option, $value);
        }
        if ($this->changeUserContext !== []) {
            $this->__object->change_user(...$this->changeUserContext);
        }
    }

    public function options(int $option, mixed $value): bool
    {
        $this->setOptContext[$option] = $value;
        return $this->__object->options($option, $value);
    }

    public function set_opt(int $option, mixed $value): bool
    {
        return $this->options($option, $value);
    }

    public function set_charset(string $charset): bool
    {
        $this->charsetContext = $charset;
        return $this->__object->set_charset($charset);
    }

    public function change_user(string $user, string $password, ?string $database): bool
    {
        $this->changeUserContext = [$user, $password, $database];
        return $this->__object->change_user($user, $password, $database);
    }
}
