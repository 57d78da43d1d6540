--TEST--
Channel: values are held while it holds them, and their destructors run once, also when a push fails or the channel goes
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\run;

class Noisy
{
    public function __construct(private string $name)
    {
    }

    public function __destruct()
    {
        echo "~$this->name\n";
    }
}

class Pusher
{
    public function __construct(private Channel $c)
    {
    }

    public function __destruct()
    {
        $this->c->push('from a destructor', 0.001);
    }
}

run(function () {
    $c = new Channel(1);
    $c->push(new Noisy('popped'));
    echo "held\n";
    $c->pop();
    echo "after pop\n";

    $c->push('full');
    $c->push(new Noisy('timed out'), 0.001);
    echo "after the time-out\n";
    $id = go(function () use ($c) {
        $c->push(new Noisy('cancelled'));
        echo "after the cancel\n";
    });
    Coroutine::cancel($id);
    Coroutine::join([$id]);
    $id = go(function () use ($c) {
        $c->push(new Noisy('closed'));
        echo "after the close\n";
    });
    $c->close();
    Coroutine::join([$id]);

    $c = new Channel(2);
    $c->push(new Noisy('a'));
    $c->push(new Noisy('b'));
    $c = null;
    echo "gone with its values\n";

    $c = new Channel(1);
    $id = go(function () use ($c) {
        echo $c->pop(), "\n";
    });
    $p = new Pusher($c);
    $p = null;
    Coroutine::join([$id]);

    $c = new Channel(1);
    go(function () use ($c) {
        $c->push(new Noisy('handed to one that waits'));
    });
    $c = new Channel(1);
    $id = go(fn() => $c->pop());
    $c->push(new Noisy('not looked at'));
    echo "end\n";
});
?>
--EXPECT--
held
~popped
after pop
~timed out
after the time-out
~cancelled
after the cancel
~closed
after the close
~a
~b
gone with its values
from a destructor
~handed to one that waits
~not looked at
end
