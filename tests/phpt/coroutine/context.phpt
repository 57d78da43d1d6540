--TEST--
getContext() belongs to one coroutine, works as array and as properties, by id, and goes with it
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

class Noisy { function __construct(public string $n) {} function __destruct() { echo "gone: $this->n\n"; } }

run(function () {
    $context = Coroutine::getContext();
    echo get_class($context), " ", get_parent_class($context), "\n";
    $context['a'] = 1;
    $context->b = 2;
    var_dump(Coroutine::getContext()->a, Coroutine::getContext()['b'], count($context));
    $id = go(function () {
        var_dump(isset(Coroutine::getContext()['a']));
        Coroutine::getContext()['noisy'] = new Noisy("other");
        Coroutine::sleep(0.001);
        var_dump(Coroutine::getContext()->given);
    });
    Coroutine::getContext($id)['given'] = "by its parent";
    var_dump(Coroutine::getContext($id)['noisy']->n, Coroutine::getContext(Coroutine::getPcid($id))->a);
    Coroutine::join([$id]);
    var_dump(Coroutine::getContext($id), Coroutine::getContext() === $context);
});
var_dump(Coroutine::getContext(), Coroutine::getContext(77));
?>
--EXPECT--
Apus\Coroutine\Context ArrayObject
int(1)
int(2)
int(2)
bool(false)
string(5) "other"
int(1)
string(13) "by its parent"
gone: other
NULL
bool(true)
NULL
NULL
