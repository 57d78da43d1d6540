--TEST--
Channel: a class that extends it and calls parent::, and one that forgets its constructor
--FILE--
<?php
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\{run, select};

class MyChan extends Channel
{
    public int $pushed = 0;
    protected bool $closed = false;

    public function __construct(public string $name, int $size = 1)
    {
        parent::__construct($size);
    }

    public function push(mixed $data, float $timeout = -1): bool
    {
        $this->pushed++;
        return parent::push([$this->name, $data], $timeout);
    }

    public function pop(float $timeout = -1): mixed
    {
        return parent::pop($timeout)[1] ?? null;
    }

    public function close(): bool
    {
        $this->closed = true;
        return parent::close();
    }

    public function isClosed(): bool
    {
        return $this->closed;
    }

    public function getCapacity(): int
    {
        return $this->capacity;
    }
}

class Forgetful extends Channel
{
    public function __construct()
    {
    }
}

run(function () {
    $c = new MyChan('m', 2);
    go(function () use ($c) {
        $c->push(1);
        $c->push(2);
        $c->push(3);
        $c->close();
    });
    echo json_encode([
        $c->pop(),
        $c->pop(),
        $c->pop(),
        $c->pop(),
        $c->errCode,
        $c->pushed,
        $c->isClosed(),
        $c->getCapacity(),
    ]), "\n";
    $c = new MyChan('raw');
    $c->push('x');
    echo json_encode(select([$c])), "\n";
    try {
        (new Forgetful)->push(1);
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
    try {
        select([new Forgetful]);
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
[1,2,3,null,-2,3,true,2]
[0,["raw","x"]]
Apus\Coroutine\Channel was not constructed: call parent::__construct() first
Apus\Coroutine\select(): Argument #1 ($cases) must not hold a channel whose constructor did not call parent::__construct()
