--TEST--
unpack(): classes that are unknown, not allowed, changed or refuse; methods that throw
--FILE--
<?php
use function Apus\{pack, unpack};

function attempt(string $what, callable $do): void
{
    try {
        echo "$what: ";
        var_dump($do());
    } catch (Throwable $e) {
        echo $e::class, $e instanceof Apus\PackException ? " {$e->getCode()}" : '', ": {$e->getMessage()}\n";
    }
}
/** What pack() would have given, had the class another name of the same length. */
function renamed(object $object, string $name): string
{
    return str_replace($object::class, $name, pack($object));
}
class A1 { public $a = 1; public $self; }
class B1 { public int $a = 1; public $self; }
abstract class C1 { }
interface D1 { }
enum E1 { case One; case Two; }
final class F1 { public function __construct(private int $a = 5) {} public function a() { return $this->a; } }
class G1 {
    public $a;
    public function __unserialize(array $data): void { throw new LogicException('not today'); }
    public function __destruct() { echo "G1 destroyed\n"; }
}
class H1 {
    public $a;
    public function __wakeup() { throw new LogicException('tired'); }
    public function __destruct() { echo "H1 destroyed\n"; }
}
class I1 { public $a; public function __wakeup() { echo "I1 woken\n"; } public function __destruct() { echo "I1 destroyed\n"; } }
class T1 { public $a = 'text'; }

$object = new A1;
$object->self = $object;
$packed = pack([$object, 'A1']);
$back = unpack($packed, ['allowed_classes' => false]);
var_dump($back[0]::class, $back[0] === unpack($packed, ['allowed_classes' => ['b1']])[0], $back[1]);
var_dump(unpack($packed, ['allowed_classes' => ['X', 'a1']])[0] instanceof A1);
$again = unpack(pack($back));
var_dump($again[0] instanceof A1, $again[0]->self === $again[0]);
var_dump(unpack(renamed(new A1, 'ZZ')));
spl_autoload_register(function ($name) {
    echo "[loading $name]\n";
    if ($name === 'Q1') { eval('class Q1 { public $a; public $self; }'); }
    if ($name === 'Q2') { throw new Exception('no Q2'); }
});
attempt('autoload', fn () => unpack(renamed(new A1, 'Q1'))::class);
attempt('autoload throws', fn () => unpack(renamed(new A1, 'Q2')));
attempt('a name that is none', fn () => unpack(renamed(new A1, 'q/'))::class);
echo "-- does not fit\n";
$text = new T1;
attempt('type', fn () => unpack(renamed($text, 'B1')));
attempt('abstract', fn () => unpack(renamed($text, 'C1')));
attempt('interface', fn () => unpack(renamed($text, 'D1')));
attempt('enumeration', fn () => unpack(renamed($text, 'E1')));
attempt('case', fn () => unpack(str_replace('One', 'Six', pack(E1::One))));
attempt('case of a class', fn () => unpack(renamed(E1::One, 'A1')));
attempt('case not allowed', fn () => unpack(pack(E1::One), ['allowed_classes' => ['A1']]));
attempt('visibility has changed', fn () => unpack("\xb1\xd4bF1aa\x07\xd5")->a());
attempt('closure', fn () => unpack(str_replace("bA1", "gClosure", pack(new A1))));
attempt('no unserialize()', fn () => unpack("\xb1\xd6bA1a1"));
echo "-- throws\n";
attempt('__unserialize', fn () => unpack(renamed($text, 'G1')));
attempt('__wakeup', fn () => unpack("\xb1\xa2" . substr(renamed($text, 'H1'), 1) . "\xd4bI1\xd5"));
attempt('breaks off', fn () => unpack(substr(renamed($text, 'I1'), 0, -1)));
attempt('whole', fn () => (bool) unpack("\xb1\xd4bI1\xd5"));
class Throws { public $k = 1; public function __serialize(): array { throw new LogicException('no'); } }
class Wrong { public function __serialize() { return 5; } }
class Sleepy { public $k = 1; public function __sleep() { return ['k', 'none']; } }
class Sleepless { public function __sleep() { return 'k'; } }
attempt('__serialize throws', fn () => pack(['a', [new Throws]]));
attempt('__serialize is wrong', fn () => pack(new Wrong));
attempt('__sleep names none', fn () => strlen(pack(new Sleepy)));
attempt('__sleep is wrong', fn () => unpack(pack([new Sleepless, 5])));
?>
--EXPECTF--
string(22) "__PHP_Incomplete_Class"
bool(false)
string(2) "A1"
bool(true)
bool(true)
bool(true)
object(__PHP_Incomplete_Class)#6 (3) {
  ["__PHP_Incomplete_Class_Name"]=>
  string(2) "ZZ"
  ["a"]=>
  int(1)
  ["self"]=>
  NULL
}
autoload: [loading Q1]
string(2) "Q1"
autoload throws: [loading Q2]
Exception: no Q2
a name that is none: string(22) "__PHP_Incomplete_Class"
-- does not fit
type: TypeError: Cannot assign string to property B1::$a of type int
abstract: Error: Cannot instantiate abstract class C1
interface: Error: Cannot instantiate interface D1
enumeration: Exception: Unserialization of 'E1' is not allowed
case: Apus\PackException 555: there is no case E1::Six
case of a class: Apus\PackException 555: there is no case A1::One
case not allowed: Apus\PackException 555: E1::One is of a class that is not allowed
visibility has changed: int(7)
closure: Exception: Unserialization of 'Closure' is not allowed
no unserialize(): Apus\PackException 555: A1 has no unserialize() for what its serialize() wrote
-- throws
__unserialize: LogicException: not today
__wakeup: LogicException: tired
breaks off: Apus\PackException 554: no packed value: it breaks off, at byte 12 of 12
whole: I1 woken
I1 destroyed
bool(true)
__serialize throws: LogicException: no
__serialize is wrong: TypeError: Wrong::__serialize() must return an array
__sleep names none: 
Warning: Apus\pack(): "none" returned as member variable from __sleep() but does not exist in %s on line %d
int(13)
__sleep is wrong: 
Warning: Apus\pack(): Sleepless::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d
array(2) {
  [0]=>
  NULL
  [1]=>
  int(5)
}
