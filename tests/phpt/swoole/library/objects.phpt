--TEST--
The PHP library: texts and arrays as objects
--EXTENSIONS--
mbstring
--INI--
apus.swoole_compat=1
--FILE--
<?php
$text = swoole_string('  Hello, world  ');
var_dump($text->length(), (string) $text->trim(), (string) $text->trim()->lower()->replace('o', '0', $count), $count);
$text = _string('a=1;b=2');
var_dump($text->split(';')->map(fn ($part) => strtoupper($part))->toArray());
var_dump($text->pos('b'), $text->rpos('='), $text->ipos('B'), $text->indexOf('x'), $text->char(2), $text->char(99));
var_dump($text->startsWith('a='), $text->endsWith('=2'), $text->endsWith('=1'), $text->contains(';'));
var_dump($text->equals('a=1;b=2'), $text->equals(_string('a=1;b=2'), true), _string('1')->equals(1), _string('1')->equals(1, true));
var_dump(
    (string) $text->append('!'),
    (string) $text,
    $text->chunk(3)->count(),
    (string) $text->substr(-3)->reverse()->repeat(2),
);
$wide = _mbstring("\u{e4}\u{f6}\u{fc}");
var_dump(
    $wide->length(),
    strlen((string) $wide),
    $wide->pos("\u{fc}"),
    (string) $wide->substr(1, 1),
    $wide->chunk(2)->count(),
);

$list = _array(['b' => 2, 'a' => 'x', 'c' => [1, 2]]);
var_dump(get_class($list->get('a')), get_class($list->get('c')), $list->get('b'), $list->getOr('none', 7));
var_dump($list->firstKey(), $list->lastKey(), $list->first(), $list->last()->sum(), $list['none'], isset($list['b']));
$list[] = 'appended';
$list->set('d', null)->delete('a');
var_dump(
    $list->exists('d'),
    isset($list['d']),
    count($list),
    $list->contains(2),
    $list->search(2),
    $list->search('2', false),
);
foreach ($list as $key => $value) {
    echo $key, ' ';
}
$numbers = swoole_array_list(3, 1, 2, 3, 1);
echo "\n", $numbers->join(','), ' ', $numbers->unique()->sort()->join(','), ' ', $numbers->lastIndexOf(3), "\n";
echo $numbers->remove(1, true, true)->values()->join(','), ' ', $numbers->insert(1, 9)->join(','), ' ',
    $numbers->slice(1, 2)->join(','), "\n";
var_dump(
    $numbers->push(5),
    $numbers->pop(),
    $numbers->pushFront(0),
    $numbers->popFront(),
    $numbers->reduce(fn ($a, $b) => $a + $b, 0),
);
var_dump(
    $numbers->filter(fn ($n) => $n > 2)->keys()->toArray(),
    unserialize(serialize($numbers)) == $numbers,
    swoole_array([])->first(),
);
var_dump(swoole_array_default_value(['a' => null], 'a', 1), swoole_array_default_value([], 'a', 1));
swoole_library_set_options(['x' => 1]);
swoole_library_set_option('y', 2);
var_dump(swoole_library_get_options(), swoole_library_get_option('z'));
$proxy = new Swoole\ObjectProxy(new ArrayObject([1, 2]));
var_dump(
    $proxy->count(),
    $proxy->__getObject()->getArrayCopy(),
    Swoole\Http\Status::getReasonPhrase(404),
    Swoole\Http\Status::getReasonPhrase(999),
);
?>
--EXPECT--
int(16)
string(12) "Hello, world"
string(12) "hell0, w0rld"
int(2)
array(2) {
  [0]=>
  string(3) "A=1"
  [1]=>
  string(3) "B=2"
}
int(4)
int(5)
int(4)
bool(false)
string(1) "1"
string(0) ""
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
string(8) "a=1;b=2!"
string(8) "a=1;b=2!"
int(3)
string(6) "!2=!2="
int(3)
int(6)
int(2)
string(2) "ö"
int(2)
string(19) "Swoole\StringObject"
string(18) "Swoole\ArrayObject"
int(2)
int(7)
string(1) "b"
string(1) "c"
int(2)
int(3)
NULL
bool(true)
bool(true)
bool(false)
int(4)
bool(true)
string(1) "b"
string(1) "b"
b c 0 d 
3,1,2,3,1 1,2,3 3
3,2,3 3,9,2,3 9,2
int(5)
int(5)
int(5)
int(0)
int(17)
array(3) {
  [0]=>
  int(0)
  [1]=>
  int(1)
  [2]=>
  int(3)
}
bool(true)
NULL
NULL
int(1)
array(2) {
  ["x"]=>
  int(1)
  ["y"]=>
  int(2)
}
NULL
int(2)
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}
string(9) "Not Found"
string(7) "Unknown"
