--TEST--
unpack(): arrays that claim more elements than there are bytes take no memory, however deep they lie inside each other
--FILE--
<?php
$zeros = str_repeat("\0", 3 << 20);
$tries = [
    'lists' => str_repeat("\xcd\x80\x80\x40", 200) . $zeros,
    'maps' => str_repeat("\xce\x80\x80\x20\x01", 200) . $zeros,
    'in an object' => str_repeat("\xcd\x80\x80\x40\xd4hstdClassaa", 200) . $zeros,
    'a list of lists that fits' => "\xa2\xa1\x05\xa3" . "\x01\x02\x03",
    'one byte less' => "\xa2\xa1\x05\xa3" . "\x01\x02",
    'numbers' => "\xcf\x80\x80\x40" . "\x01",
];
foreach ($tries as $name => $bytes) {
    try {
        $said = json_encode(Apus\unpack("\xb1$bytes"));
    } catch (Apus\PackException $e) {
        $said = preg_replace('/, at byte.*/', '', $e->getMessage());
    }
    echo "$name: $said\n";
}
echo memory_get_peak_usage() < 96 << 20 ? "bounded\n" : memory_get_peak_usage() . "\n";
?>
--EXPECT--
lists: no packed value: a count of 1048576 with 3146512 bytes left
maps: no packed value: a count of 524288 with 3146709 bytes left
in an object: no packed value: a count of 1048576 with 3148876 bytes left
a list of lists that fits: [[5],[1,2,3]]
one byte less: no packed value: a count of 3 with 2 bytes left
numbers: no packed value: a count of 1048576 with 1 bytes left
bounded
