--TEST--
Swoole\Coroutine::getContext(): properties and the array are apart, and properties end first
--INI--
apus.swoole_compat=1
--FILE--
<?php
class Kept
{
    public function __construct(private string $name)
    {
    }

    public function __destruct()
    {
        echo "{$this->name} ends\n";
    }
}
go(function () {
    $context = Swoole\Coroutine::getContext();
    $context['one'] = new Kept('array');
    $context->two = new Kept('property');
    var_dump(isset($context['two']), isset($context->one), count($context));
});
Apus\go(function () {
    $context = Apus\Coroutine::getContext();
    $context->both = 1;
    var_dump($context['both']);
});
?>
--EXPECT--
bool(false)
bool(false)
int(1)
property ends
array ends
int(1)
