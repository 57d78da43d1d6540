--TEST--
pack() and unpack(): objects as serialize() and unserialize() treat them
--INI--
error_reporting=E_ALL & ~E_DEPRECATED
--FILE--
<?php
use function Apus\{pack, unpack};

/** Compares with what PHP's own serializer does. */
function same(string $what, mixed $value): mixed
{
    $packed = pack($value);
    $back = unpack($packed);
    [$ours, $theirs] = [serialize($back), serialize(unserialize(serialize($value)))];
    echo "$what: ", $ours === $theirs ? 'as unserialize()' : "\n  ours   $ours\n  theirs $theirs", strlen($packed) < strlen($theirs) ? '' : ', longer', "\n";
    return $back;
}

class Node
{
    public $public = 1;
    protected $protected = [2];
    private $private = 'three';
    public ?Node $next = null;
    public int $unset;
}
class Child extends Node
{
    private $private = 'of the child';
    public readonly string $once;
    public function __construct() { $this->once = 'readonly'; }
}
enum Suit: string { case Hearts = 'h'; case Spades = 's'; const Trump = self::Spades; }
enum Plain { case One; }

$node = new Node;
$node->next = new Node;
$node->next->next = $node;
$back = same('a circle', $node);
var_dump($back->next->next === $back);
$shared = new stdClass;
$back = same('one object twice', [$shared, 'again' => $shared, 'other' => new stdClass]);
var_dump($back[0] === $back['again'], $back[0] === $back['other']);
same('private, protected, readonly, uninitialised, inherited', [new Child, new Child]);
$cases = same('enumerations', [Suit::Hearts, Suit::Hearts, Suit::Trump, Plain::One]);
var_dump($cases === [Suit::Hearts, Suit::Hearts, Suit::Spades, Plain::One]);
#[AllowDynamicProperties] class Loose { public $declared = 1; }
$loose = new Loose;
$loose->dynamic = 'd';
$loose->{'5'} = 'five';
same('dynamic properties', $loose);
same('stdClass', (object) ['a' => 1, '0' => 'zero', 'nested' => (object) ['x' => []]]);
$referring = new Loose;
$referring->declared = &$referring->dynamic;
$referring->dynamic = 'both';
$back = same('references between properties', $referring);
$back->declared = 'changed';
echo $back->dynamic, "\n";
class Typed { public int $number = 1; public ?array $list = null; }
$typed = new Typed;
$alias = [&$typed->number, $typed];
$back = same('a reference to a typed property', $alias);
try {
    $back[0] = 'text';
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
$list = [1];
$inside = new Typed;
$list['object'] = $inside;
$inside->list = &$list;
$back = unpack(pack([&$list]));
var_dump($back[0]['object']->list['object'] === $back[0]['object']);
same('of PHP itself', [new DateTimeImmutable('2020-02-03 04:05:06', new DateTimeZone('Europe/Berlin')), new DateInterval('P1DT2H'), new ArrayObject(['a' => 1]),
    new SplObjectStorage, new SplFixedArray(3), new SplDoublyLinkedList, new ArrayIterator([1])]);
same('an exception', new RuntimeException('message', 7, new LogicException('before')));

echo "-- methods\n";
class Both
{
    public static array $log = [];
    public function __construct(public string $name, public mixed $other = null) {}
    public function __serialize(): array { return ['n' => $this->name, 'o' => $this->other, 7 => 'seven']; }
    public function __unserialize(array $data): void
    {
        self::$log[] = $data['n'] . (isset($data['o']->name) ? ' sees ' . $data['o']->name : '');
        $this->name = $data['n'];
        $this->other = $data['o'];
    }
}
$a = new Both('a');
$a->other = new Both('b', $a);
$back = unpack(pack($a));
var_dump($back->other->other === $back);
echo implode(', ', Both::$log), "\n";
class Sleeps
{
    public $kept = 1;
    protected $prot = 2;
    private $priv = 3;
    public $lost = 4;
    public $woken = false;
    public function __sleep() { return ['kept', 'prot', 'priv']; }
    public function __wakeup(): void { $this->woken = true; }
}
$sleeper = new Sleeps;
$sleeper->lost = 'changed';
$back = same('__sleep and __wakeup', $sleeper);
var_dump($back->lost, $back->woken);
class Old implements Serializable
{
    public $data;
    public function __construct($data = null) { $this->data = $data; }
    public function serialize() { return $this->data === null ? null : json_encode($this->data); }
    public function unserialize($text) { $this->data = json_decode($text, true); }
}
$old = new Old(['k' => [1, 2]]);
$back = same('Serializable', [$old, $old]);
var_dump($back[0] === $back[1], $back[0]->data);
$nothing = new Old;
$referred = &$nothing;
var_dump(unpack(pack([$nothing, 2, $nothing, [&$referred, &$referred]])) === [null, 2, null, [null, null]]);
class Temporary {
    public function __serialize(): array { return ['t' => new stdClass]; }
    public function __unserialize(array $d): void { $this->t = $d['t']; }
    public $t;
}
$back = unpack(pack([new Temporary, new Temporary, new Temporary]));
var_dump($back[0]->t === $back[1]->t, $back[1]->t === $back[2]->t);

echo "-- changed while it is packed\n";
class Changes
{
    public static $array;
    public static $object;
    public function __serialize(): array
    {
        self::$array[] = 'grown';
        unset(self::$array[0], self::$object->a, self::$object->b);
        self::$object->c = str_repeat('new', 100);
        self::$object->b = null;
        return ['x' => 1];
    }
    public function __unserialize(array $d): void {}
}
#[AllowDynamicProperties] class Holder { public $a; public $b; public $c; }
Changes::$object = new Holder;
Changes::$object->a = [new Changes, 'after'];
Changes::$object->b = ['b'];
Changes::$array = [[str_repeat('first', 3), Changes::$object], 'second', 'third'];
$packed = pack(Changes::$array);
$back = unpack($packed);
var_dump($back[1], $back[0][1]->a[1], Changes::$array[3] ?? Changes::$array);
?>
--EXPECT--
a circle: as unserialize()
bool(true)
one object twice: as unserialize()
bool(true)
bool(false)
private, protected, readonly, uninitialised, inherited: as unserialize()
enumerations: as unserialize()
bool(true)
dynamic properties: as unserialize()
stdClass: as unserialize()
references between properties: as unserialize()
changed
a reference to a typed property: as unserialize()
Cannot assign string to reference held by property Typed::$number of type int
bool(true)
of PHP itself: as unserialize()
an exception: as unserialize()
-- methods
bool(true)
b, a sees b
__sleep and __wakeup: as unserialize()
int(4)
bool(true)
Serializable: as unserialize()
bool(true)
array(1) {
  ["k"]=>
  array(2) {
    [0]=>
    int(1)
    [1]=>
    int(2)
  }
}
bool(true)
bool(false)
bool(false)
-- changed while it is packed
string(6) "second"
string(5) "after"
string(5) "grown"
