--TEST--
A fatal error inside what PHP marks against recursion leaves no mark behind: json_encode(), var_export(), comparisons, __get()
--FILE--
<?php
$code = <<<'PHP'
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;
ini_set('memory_limit', '16M');
class Shared implements JsonSerializable
{
    public static ?Closure $fatal = null;
    public $list = [[1], [2]];
    private static function meet($result) { self::$fatal !== null && (self::$fatal)(); return $result; }
    function jsonSerialize(): array { return self::meet(['encoded']); }
    function __get($name) { return self::meet("got $name"); }
    function __debugInfo() { return self::meet(['debug' => 1]); }
    function __serialize(): array { return self::meet(['serialized']); }
}
class Text { function __toString() { (Shared::$fatal ?? fn () => 0)(); return 'x'; } }
$shared = new Shared;
$deep = ['a' => ['b' => $shared]];
$tree = (object) ['in' => (object) ['text' => new Text]];
$same = (object) ['in' => (object) ['text' => 'x']];
$use = %s;
Shared::$fatal = function () {
    Shared::$fatal = null;
    %s
};
register_shutdown_function(function () use ($use) { ob_start(); $use(); $all = ob_get_clean(); echo "\nthen: ", preg_replace('/\s+/', ' ', $all), "\n"; });
run(function () use ($use) { go(function () use ($use) { $use(); }); usleep(1000); });
echo "NOT REACHED\n";
PHP;
$uses = [
    'json_encode() of an object' => 'function () use ($shared) { echo json_encode($shared) ?: json_last_error_msg(); }',
    'json_encode() of arrays' => 'function () use (&$deep) { echo json_encode($deep) ?: json_last_error_msg(); }',
    'var_dump()' => 'function () use ($shared) { var_dump($shared); }',
    '__get()' => 'function () use ($shared) { echo $shared->missing; }',
    'comparison' => 'function () use ($tree, $same) { var_dump($tree == $same); }',
    'serialize()' => 'function () use (&$deep) { echo serialize([$deep, $deep]); }',
];
$fatals = ['raised' => 'trigger_error("raised", E_USER_ERROR);', 'after a wait, at the memory limit' => 'usleep(100); str_repeat("x", 1 << 25);'];
$file = tempnam(sys_get_temp_dir(), 'apus');
foreach ($uses as $name => $use) {
    foreach ($fatals as $how => $fatal) {
        file_put_contents($file, '<?php ' . sprintf($code, $use, $fatal));
        $out = shell_exec(
            escapeshellarg(PHP_BINARY) . ' -n -d error_reporting=' . (E_ALL & ~E_DEPRECATED) . ' -d display_errors=0 -d log_errors=0 -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' '
                . escapeshellarg($file) . ' 2>&1; echo "status $?"',
        );
        echo "$name, $how: ", preg_replace(['/^.*\n(?=then)/s', '/\s+/'], ['', ' '], trim($out)), "\n";
    }
}
unlink($file);
?>
--EXPECT--
json_encode() of an object, raised: then: ["encoded"] status 255
json_encode() of an object, after a wait, at the memory limit: then: ["encoded"] status 255
json_encode() of arrays, raised: then: {"a":{"b":["encoded"]}} status 255
json_encode() of arrays, after a wait, at the memory limit: then: {"a":{"b":["encoded"]}} status 255
var_dump(), raised: then: object(Shared)#1 (1) { ["debug"]=> int(1) } status 255
var_dump(), after a wait, at the memory limit: then: object(Shared)#1 (1) { ["debug"]=> int(1) } status 255
__get(), raised: then: got missing status 255
__get(), after a wait, at the memory limit: then: got missing status 255
comparison, raised: then: bool(true) status 255
comparison, after a wait, at the memory limit: then: bool(true) status 255
serialize(), raised: then: a:2:{i:0;a:1:{s:1:"a";a:1:{s:1:"b";O:6:"Shared":1:{i:0;s:10:"serialized";}}}i:1;a:1:{s:1:"a";a:1:{s:1:"b";r:4;}}} status 255
serialize(), after a wait, at the memory limit: then: a:2:{i:0;a:1:{s:1:"a";a:1:{s:1:"b";O:6:"Shared":1:{i:0;s:10:"serialized";}}}i:1;a:1:{s:1:"a";a:1:{s:1:"b";r:4;}}} status 255
