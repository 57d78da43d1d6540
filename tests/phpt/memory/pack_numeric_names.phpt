--TEST--
unpack(): a name that is a number becomes an integer key, and may be mentioned again as a string
--FILE--
<?php
// 17 digits, which nothing but the array would keep; 12, whose place among the names that are kept another takes.
$long = "\xb1\xb2\x71" . '12345678901234567' . "\x01\x62ab\x80";
var_dump(Apus\unpack($long));
$others = '';
for ($n = 0; $n < 1000; $n++) {
    $others .= "\x66" . sprintf('na%04d', $n) . "\x01";
}
$short = "\xb1\xce\xea\x07\x62" . '12' . "\x01" . $others . "\x62zz\x80";
try {
    $value = Apus\unpack($short);
    var_dump(count($value), $value[12], $value['zz']);
} catch (Apus\PackException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
array(2) {
  [12345678901234567]=>
  int(1)
  ["ab"]=>
  string(17) "12345678901234567"
}
int(1002)
int(1)
string(2) "12"
