--TEST--
C code that waits for another coroutine's autoloader in the middle of its work, with no PHP code in between, keeps what it is doing to itself
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

spl_autoload_register(function (string $class) {
    Coroutine::sleep(0.02);
    eval("class $class { public \$a; }");
});
run(function () {
    go(function () { echo get_class(unserialize('O:3:"Foo":0:{}')), "\n"; });
    go(function () {
        $all = unserialize('a:3:{i:0;O:3:"Foo":1:{s:1:"a";i:5;}i:1;R:2;i:2;i:7;}');
        echo get_class($all[0]), ' ', $all[0] === $all[1] ? 'same' : 'other', " $all[2]\n";
    });
    go(function () {
        // Back references count from the beginning of one text.
        echo json_encode(unserialize('a:3:{i:0;a:1:{i:0;s:1:"x";}i:1;R:2;i:2;R:3;}')), "\n";
        echo serialize([$list = [1], $list]), "\n";
    });
});
?>
--EXPECT--
[["x"],["x"],"x"]
a:2:{i:0;a:1:{i:0;i:1;}i:1;a:1:{i:0;i:1;}}
Foo
Foo same 7
