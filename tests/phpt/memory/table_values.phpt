--TEST--
Table: what each type of column takes, converts and refuses; nothing is cut or dropped
--FILE--
<?php
use Apus\{Table, TableException};

$t = new Table(100);
$types = ['i' => Table::TYPE_INT, 'u8' => Table::TYPE_UINT8, 'i8' => Table::TYPE_INT8, 'u16' => Table::TYPE_UINT16, 'i16' =>
    Table::TYPE_INT16,
    'u32' => Table::TYPE_UINT32, 'i32' => Table::TYPE_INT32, 'u64' => Table::TYPE_UINT64, 'i64' => Table::TYPE_INT64];
foreach ($types as $name => $type) {
    $t->column($name, $type);
}
foreach ([1, 2, 4, 8, 11] as $size) {
    $t->column("int$size", Table::TYPE_INT, $size);
}
$t->column('f', Table::TYPE_FLOAT);
$t->column('s', Table::TYPE_STRING, 10);
$t->column('d', Table::TYPE_DICTIONARY, 10);
$t->column('d32', Table::TYPE_DICTIONARY32, 10);
$t->create();

function attempt(callable $try): void
{
    static $codes;
    $codes ??= array_flip((new ReflectionClass(TableException::class))->getConstants());
    try {
        var_dump($try());
    } catch (TableException $e) {
        echo $codes[$e->getCode()], ': ', $e->getMessage(), "\n";
    }
}

echo "-- bounds\n";
$bounds = ['u8' => [0, 255], 'i8' => [-128, 127], 'u16' => [0, 65535], 'i16' => [-32768, 32767], 'u32' => [0, 4294967295],
    'i32' => [-2147483648, 2147483647], 'u64' => [0, PHP_INT_MAX], 'i64' => [PHP_INT_MIN, PHP_INT_MAX], 'i' =>
        [PHP_INT_MIN, PHP_INT_MAX],
    'int1' => [-128, 127], 'int2' => [-32768, 32767], 'int4' => [-2147483648, 2147483647], 'int8' => [PHP_INT_MIN, PHP_INT_MAX],
    'int11' => [PHP_INT_MIN, PHP_INT_MAX]];
foreach ($bounds as $column => [$least, $greatest]) {
    foreach ([$least, $greatest] as $value) {
        $t->set('k', [$column => $value]);
        if ($t->get('k', $column) !== $value) {
            echo "$column does not hold $value\n";
        }
    }
    foreach ([$least - 1, $greatest + 1] as $value) {
        if (is_int($value)) {
            attempt(fn() => $t->set('k', [$column => $value]));
        }
    }
    if ($t->get('k', $column) !== $greatest) {
        echo "$column was changed by a value that does not fit\n";
    }
}

echo "-- steps beyond the bounds\n";
attempt(fn() => $t->incr('k', 'u8'));
attempt(fn() => $t->decr('k', 'u8', 256));
attempt(fn() => $t->incr('k', 'i64'));
attempt(fn() => $t->decr('fresh', 'u32'));
attempt(fn() => $t->exists('fresh'));
attempt(fn() => $t->decr('k', 'u8', 255));

echo "-- conversions\n";
foreach ([true, false, null, 7.0, '12', ' 13 ', '1e2', '-4'] as $value) {
    $t->set('c', ['i' => $value]);
    var_dump($t->get('c', 'i'));
}
foreach ([1, true, false, null, '1.5', '1e3', INF, -0.0] as $value) {
    $t->set('c', ['f' => $value]);
    var_dump($t->get('c', 'f'));
}
$t->set('c', ['f' => NAN]);
var_dump(is_nan($t->get('c', 'f')));
foreach ([1, -25, 2.5, true, false, null, 'é', '7 bytes', '8 bytes.', '0123456789'] as $value) {
    $t->set('c', ['s' => $value, 'd' => $value, 'd32' => $value]);
    var_dump($t->get('c', 's'), $t->get('c', 'd') === $t->get('c', 's'), $t->get('c', 'd32') === $t->get('c', 's'));
}

echo "-- refused\n";
foreach (['i' => [
    1.5,
    'abc',
    '1x',
    '',
    NAN,
    1e30,
    '9223372036854775808',
    [],
    new stdClass,
    STDIN,
], 'f' => ['abc', '', []], 's' => [[], new ArrayObject, STDIN],
    'd' => [[1]]] as $column => $values) {
    foreach ($values as $value) {
        attempt(fn() => $t->set('c', [$column => $value]));
    }
}
attempt(fn() => $t->set('c', ['s' => '0123456789a']));
attempt(fn() => $t->set('c', ['d' => '0123456789a']));
attempt(fn() => $t->incr('c', 's'));
attempt(fn() => $t->incr('c', 'd'));
attempt(fn() => $t->incr('c', 'i', 0.5));
attempt(fn() => $t->incr('c', 'i', 2.0));
attempt(fn() => $t->cmpset('c', 'i', 'many', 1));
// All or nothing.
attempt(fn() => $t->set('c', ['i' => 99, 's' => str_repeat('x', 50)]));
attempt(fn() => $t->get('c', 'i'));
attempt(fn() => $t->set('none', ['s' => str_repeat('x', 50)]));
attempt(fn() => $t->exists('none'));
try {
    $t->incr('c', 'i', []);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
$ref = 5;
$row = ['i' => &$ref];
var_dump($t->set('c', $row), $t->get('c', 'i'));
?>
--EXPECT--
-- bounds
RANGE: column "u8" holds 0 to 255; -1 does not fit
RANGE: column "u8" holds 0 to 255; 256 does not fit
RANGE: column "i8" holds -128 to 127; -129 does not fit
RANGE: column "i8" holds -128 to 127; 128 does not fit
RANGE: column "u16" holds 0 to 65535; -1 does not fit
RANGE: column "u16" holds 0 to 65535; 65536 does not fit
RANGE: column "i16" holds -32768 to 32767; -32769 does not fit
RANGE: column "i16" holds -32768 to 32767; 32768 does not fit
RANGE: column "u32" holds 0 to 4294967295; -1 does not fit
RANGE: column "u32" holds 0 to 4294967295; 4294967296 does not fit
RANGE: column "i32" holds -2147483648 to 2147483647; -2147483649 does not fit
RANGE: column "i32" holds -2147483648 to 2147483647; 2147483648 does not fit
RANGE: column "u64" holds 0 to 9223372036854775807; -1 does not fit
RANGE: column "int1" holds -128 to 127; -129 does not fit
RANGE: column "int1" holds -128 to 127; 128 does not fit
RANGE: column "int2" holds -32768 to 32767; -32769 does not fit
RANGE: column "int2" holds -32768 to 32767; 32768 does not fit
RANGE: column "int4" holds -2147483648 to 2147483647; -2147483649 does not fit
RANGE: column "int4" holds -2147483648 to 2147483647; 2147483648 does not fit
-- steps beyond the bounds
RANGE: column "u8" holds 0 to 255; 256 does not fit
RANGE: column "u8" holds 0 to 255; -1 does not fit
RANGE: column "i64" holds -9223372036854775808 to 9223372036854775807; 9223372036854775808 does not fit
RANGE: column "u32" holds 0 to 4294967295; -1 does not fit
bool(false)
int(0)
-- conversions
int(1)
int(0)
int(0)
int(7)
int(12)
int(13)
int(100)
int(-4)
float(1)
float(1)
float(0)
float(0)
float(1.5)
float(1000)
float(INF)
float(-0)
bool(true)
string(1) "1"
bool(true)
bool(true)
string(3) "-25"
bool(true)
bool(true)
string(3) "2.5"
bool(true)
bool(true)
string(1) "1"
bool(true)
bool(true)
string(0) ""
bool(true)
bool(true)
string(0) ""
bool(true)
bool(true)
string(2) "é"
bool(true)
bool(true)
string(7) "7 bytes"
bool(true)
bool(true)
string(8) "8 bytes."
bool(true)
bool(true)
string(10) "0123456789"
bool(true)
bool(true)
-- refused
TYPE: column "i" holds integers, not 1.5: convert it with (int)
TYPE: column "i" holds integers, not "abc": convert it with (int)
TYPE: column "i" holds integers, not "1x": convert it with (int)
TYPE: column "i" holds integers, not "": convert it with (int)
TYPE: column "i" holds integers, not NaN: convert it with (int)
RANGE: column "i": 1e30 is beyond the integers that PHP has
RANGE: column "i": "9223372036854775808" is beyond the integers that PHP has
TYPE: column "i" holds integers, not an array: convert it with (int)
TYPE: column "i" holds integers, not an object: convert it with (int)
TYPE: column "i" holds integers, not a resource: convert it with (int)
TYPE: column "f" holds floats, not "abc": convert it with (float)
TYPE: column "f" holds floats, not "": convert it with (float)
TYPE: column "f" holds floats, not an array: convert it with (float)
TYPE: column "s" holds strings, not an array: convert it with (string), or json_encode()
TYPE: column "s" holds strings, not an object: convert it with (string), or json_encode()
TYPE: column "s" holds strings, not a resource: convert it with (string), or json_encode()
TYPE: column "d" holds strings, not an array: convert it with (string), or json_encode()
TOO_LONG: column "s" takes 10 bytes, the text has 11: make the column longer, or shorten the text
TOO_LONG: column "d" takes 10 bytes, the text has 11: make the column longer, or shorten the text
TYPE: column "s" holds texts, not an integer to add
TYPE: column "d" holds texts, not an integer to add
TYPE: column "i" holds integers: 0.5 cannot be added to one
int(-2)
TYPE: column "i" holds integers, not "many": convert it with (int)
TOO_LONG: column "s" takes 10 bytes, the text has 50: make the column longer, or shorten the text
int(-2)
TOO_LONG: column "s" takes 10 bytes, the text has 50: make the column longer, or shorten the text
bool(false)
Apus\Table::incr(): Argument #3 ($incrby) must be of type int|float, array given
bool(true)
int(5)
