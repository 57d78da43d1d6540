--TEST--
Scope: what a child throws in a scope that nobody joins is not lost; exit() in a scope ends the script
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Scope;
use function Apus\Coroutine\run;

try {
    run(function () {
        $s = new Scope;
        $s->spawn(fn() => throw new LogicException('nobody joined'));
        unset($s);
        Coroutine::sleep(0.001);
        echo "not reached\n";
    });
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
register_shutdown_function(function () {
    echo "shutdown\n";
});
run(function () {
    Scope::run(function (Scope $s) {
        $s->spawn(function () {
            try {
                Coroutine::sleep(30);
            } finally {
                echo "unwound\n";
            }
        });
        exit("bye\n");
    });
});
?>
--EXPECT--
nobody joined
bye
unwound
shutdown
