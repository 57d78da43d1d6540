--TEST--
pack() and unpack(): scalars, arrays, references; what they refuse
--FILE--
<?php
use function Apus\{pack, unpack};

$values = [null, true, false, 0, 95, 96, -1, 127, 128, -128, -129, 32767, 32768, -32769, 2147483647, 2147483648,
    PHP_INT_MAX, PHP_INT_MIN,
    0.0, -0.0, 1.5, 0.1, 1e300, INF, -INF, NAN, '', 'a', "\0", 'ab', str_repeat('x', 31), str_repeat('x', 32),
    str_repeat('x', 255),
    str_repeat('x', 256), str_repeat('long ', 50000), [], [[]], [1, 2, 3], [1, 2, 3, 300], [1, -2, 3, 1 << 40],
    [0.5, 1.5, 0.1, NAN],
    range(0, 14), range(0, 15), range(1, 300), ['a' => 1, 'b' => ['a' => 'b', 'b' => 'a']], [5 => 1, -7 => 2, 'k' =>
        3, PHP_INT_MAX => 4],
    array_fill_keys(range('a', 'z'), 'again'), [1 => 'from one', 2 => 'two'], ['' => 'empty key', "\0*\0x" => 1], array_fill(0, 600, 'same text'),
    array_map(fn ($n) => "text number $n", range(1, 400)), array_map(fn ($n) => "t$n", range(1, 300)) + ['again' => 't1', 'more' => 't299']];
foreach ($values as $value) {
    $back = unpack(pack($value));
    if (serialize($back) !== serialize($value)) {
        echo "lost: ", substr(var_export($value, true), 0, 100), "\n";
    }
}
$holes = [1, 2, 3];
unset($holes[1]);
var_dump(unpack(pack($holes)) === $holes);
$grown = unpack(pack(['x' => 1, 5 => 2]));
$grown[] = 3;
$list = unpack(pack([1, 2, 3]));
$list[] = 4;
var_dump($grown === ['x' => 1, 5 => 2, 6 => 3], $list === [1, 2, 3, 4]);
echo "sizes: ", strlen(pack(7)), ' ', strlen(pack(range(1, 1000))), ' ', strlen(pack(array_fill(0, 100, ['identifier' => 1, 'something' => 'value']))),
    "\n";

echo "-- references\n";
$one = 1;
$both = unpack(pack([&$one, &$one, $one]));
$both[0] = 5;
echo json_encode($both), "\n";
$self = ['name' => 'self'];
$self['me'] = &$self;
$back = unpack(pack($self));
$back['me']['name'] = 'changed';
echo $back['me']['me']['name'], "\n";
function alone() { $x = 'alone'; return [&$x]; }
echo bin2hex(pack(alone())) === bin2hex(pack(['alone'])) ? "a reference with one user is a value\n" : "reference kept\n";

echo "-- refused\n";
$deep = [];
for ($i = 0; $i < 1023; $i++) {
    $deep = [$deep];
}
echo strlen(pack($deep)), ' ', serialize(unpack(pack($deep))) === serialize($deep) ? 'the same' : 'different', "\n";
$tries = [
    'too deep' => fn () => pack([$deep]),
    'resource' => fn () => pack(['in' => STDIN]),
    'closure' => fn () => pack(['in' => fn () => 1]),
    'generator' => fn () => pack((fn () => yield 1)()),
    'anonymous' => fn () => pack(new class {}),
    'ours' => fn () => pack(new Apus\Cache(1 << 20)),
    'foreign' => fn () => unpack('a:0:{}'),
    'empty' => fn () => unpack(''),
    'short' => fn () => unpack(substr(pack(['abc', 'def']), 0, -1)),
    'more' => fn () => unpack(pack(1) . 'x'),
    'a count that lies' => fn () => unpack("\xb1\xcd\xff\xff\xff\xff\x0f"),
    'bytes that lie' => fn () => unpack("\xb1\xca\xff\xff\xff\x7f"),
    'key twice' => fn () => unpack("\xb1\xb2\x01\x01\x01\x02"),
    'no such text' => fn () => unpack("\xb1\x80"),
    'no such object' => fn () => unpack("\xb1\xd9\x05"),
    'reference to a reference' => fn () => unpack("\xb1\xa1\xd8\xd8\x01"),
    'reference to itself' => fn () => unpack("\xb1\xa1\xd8\xd9\x00"),
    'reference alone' => fn () => unpack("\xb1\xd8\x01"),
    'tag' => fn () => unpack("\xb1\xff"),
    'option' => fn () => unpack(pack(1), ['classes' => true]),
    'option value' => fn () => unpack(pack(1), ['allowed_classes' => 1]),
];
foreach ($tries as $name => $try) {
    try {
        var_dump($try());
    } catch (Throwable $e) {
        echo "$name: ", $e::class, $e instanceof Apus\PackException ? " {$e->getCode()}" : '', ": {$e->getMessage()}\n";
    }
}
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
sizes: 2 2004 527
-- references
[5,5,1]
changed
a reference with one user is a value
-- refused
1025 the same
too deep: Apus\PackException 552: arrays and objects lie more than 1024 deep inside each other
resource: Apus\PackException 551: a resource cannot be packed: it means something in its own process alone
closure: Exception: Serialization of 'Closure' is not allowed
generator: Exception: Serialization of 'Generator' is not allowed
anonymous: Exception: Serialization of 'class@anonymous' is not allowed
ours: Exception: Serialization of 'Apus\Cache' is not allowed
foreign: Apus\PackException 554: these bytes were not made by Apus\pack(), or by another version of it
empty: Apus\PackException 554: these bytes were not made by Apus\pack(), or by another version of it
short: Apus\PackException 554: no packed value: it breaks off, at byte 7 of 9
more: Apus\PackException 554: no packed value: bytes follow the value, at byte 2 of 3
a count that lies: Apus\PackException 554: no packed value: a count of 4294967295 with 0 bytes left, at byte 7 of 7
bytes that lie: Apus\PackException 554: no packed value: a count of 268435455 with 0 bytes left, at byte 6 of 6
key twice: Apus\PackException 554: no packed value: an array has a key twice, at byte 5 of 6
no such text: Apus\PackException 554: no packed value: a string is mentioned before it came, at byte 2 of 2
no such object: Apus\PackException 554: no packed value: an object is mentioned before it came, at byte 3 of 3
reference to a reference: Apus\PackException 554: no packed value: a reference to a reference, at byte 5 of 5
reference to itself: Apus\PackException 554: no packed value: a reference to a reference, at byte 5 of 5
reference alone: Apus\PackException 554: no packed value: a reference that nothing holds, at byte 3 of 3
tag: Apus\PackException 554: no packed value: an unknown tag 0xff, at byte 2 of 2
option: ValueError: Apus\unpack(): Argument #2 ($options) can have the option "allowed_classes" only
option value: ValueError: Apus\unpack(): Argument #2 ($options) must have true, false or an array of class names as "allowed_classes"
