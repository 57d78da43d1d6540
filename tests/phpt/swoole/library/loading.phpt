--TEST--
The PHP library: its classes are compiled when they are looked for, before any other autoloader is asked
--INI--
apus.swoole_compat=1
opcache.enable_cli=1
--FILE--
<?php
spl_autoload_register(function (string $class): void {
    echo "asked for {$class}\n";
});
var_dump(class_exists('Swoole\Constant', false));
echo Swoole\Constant::OPTION_WORKER_NUM, ' ', Swoole\Constant::EVENT_WORKER_START, "\n";
var_dump(class_exists('Swoole\NoSuchClass'), class_exists('SWOOLE\http\STATUS'));
// A parent that is there already, one that is not yet, and a name of Co.
var_dump(is_subclass_of(Swoole\Database\ObjectProxy::class, Swoole\ObjectProxy::class));
var_dump(new Co\FastCGI\Client\Exception('x') instanceof Swoole\Coroutine\FastCGI\Client\Exception);
var_dump(get_class(new Co\FastCGI\Client\Exception("x")));
// Many coroutines at once, from inside an autoloader, and for a class whose declaration needs it.
Apus\Coroutine\run(function (): void {
    for ($at = 0; $at < 3; $at++) {
        Apus\go(fn () => printf("%s\n", new Swoole\MultibyteStringObject("\u{e4}{$at}")));
    }
    eval('class Mine extends Swoole\ArrayObject {}');
    echo (new Mine([1, 2]))->join('+'), "\n";
});
try {
    swoole_array()->get('none');
} catch (Swoole\Exception\ArrayKeyNotExists $e) {
    printf("%s in %s\n", $e->getMessage(), $e->getFile());
}
// A function of the library is a function like any other.
echo (new ReflectionFunction('Swoole\Coroutine\map'))->getFileName(), "\n";
if (pcntl_fork() === 0) {
    echo swoole_string('in a child')->upper(), "\n";
    exit;
}
pcntl_wait($status);
?>
--EXPECT--
bool(false)
worker_num workerStart
asked for Swoole\NoSuchClass
bool(false)
bool(true)
bool(true)
bool(true)
string(41) "Swoole\Coroutine\FastCGI\Client\Exception"
ä0
ä1
ä2
1+2
none in @swoole/library/core/ArrayObject.php
@swoole/library/functions/coroutine.php
IN A CHILD
