--TEST--
A class whose declaration waits for another is waited for; the pending exception of an autoloader is its own
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

$folder = sys_get_temp_dir() . '/apus-autoload-' . getmypid();
mkdir($folder);
foreach ([
    'Base' => 'class Base implements Iface {}',
    'Iface' => 'interface Iface {}',
    'Child' => 'class Child extends Base { use Part; }',
    'Part' => 'trait Part {}',
    'Direct' => 'class Direct extends Late {}',
    'Late' => 'class Late { }',
    'Missing' => '',
] as $name => $code) {
    file_put_contents("$folder/$name.php", "<?php $code");
}
spl_autoload_register(function (string $class) use ($folder) {
    Coroutine::sleep(0.001);
    if (is_file("$folder/$class.php")) {
        require_once "$folder/$class.php";
    }
});
function tell(Closure $do): string
{
    try {
        return (string) $do();
    } catch (Throwable $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}
// Somebody asks for Base at every moment of its loading.
run(function () use (&$said) {
    for ($i = 0; $i < 40; $i++) {
        go(function () use ($i, &$said) {
            Coroutine::sleep($i / 8000);
            $said[] = tell(fn () => get_class(new Base));
            $said[] = tell(fn () => get_class(new Child));
        });
    }
});
print_r(array_count_values($said));
// Without an autoloader of its own: included, and needed by others while it waits for what it extends.
$said = [];
run(function () use ($folder, &$said) {
    go(function () use ($folder) { require_once "$folder/Direct.php"; });
    go(function () use (&$said) { $said[0] = tell(fn () => get_class(new Direct)); });
    go(function () use (&$said) { $said[1] = class_exists('Missing') ? 'found' : 'missing'; });
    $said[2] = in_array('Direct', get_declared_classes()) ? 'declared' : 'not declared yet';
});
ksort($said);
echo implode(', ', $said), "\n";
echo class_exists('Direct', false) ? "declared\n" : "lost\n";
// A chain of exceptions is not that of another coroutine.
run(function () {
    go(function () {
        try {
            throw new Exception(
                get_debug_type(
                    new class {
                        function __construct() { try { throw new LogicException('inner'); } finally { class_exists('NoSuch1'); } }
                    },
                ),
            );
        } catch (LogicException $e) {
            echo $e->getMessage(), ' after ', get_debug_type($e->getPrevious()), "\n";
        }
    });
    go(function () {
        try {
            new NoSuch2;
        } catch (Error $e) {
            echo $e->getMessage(), ' after ', get_debug_type($e->getPrevious()), "\n";
        }
    });
});
array_map('unlink', glob("$folder/*"));
rmdir($folder);
?>
--EXPECT--
Array
(
    [Base] => 40
    [Child] => 40
)
Direct, missing, not declared yet
declared
inner after null
Class "NoSuch2" not found after null
