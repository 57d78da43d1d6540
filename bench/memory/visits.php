<?php

declare(strict_types=1);

// Writes N visits as CSV (id,location,user,visited_at,mark), the same for the same N: php visits.php N FILE

[, $count, $file] = $argv + [1 => '', 2 => ''];
$count = (int) $count;
if ($count < 1 || $file === '') {
    fwrite(STDERR, "usage: php visits.php N FILE\n");
    exit(2);
}
// As in the travel service: eleven visits a user, as many locations as users.
$others = max(1, intdiv($count, 11));
mt_srand(2017);
$out = fopen("$file.part", 'w') ?: exit(1);
$lines = "id,location,user,visited_at,mark\n";
for ($id = 1; $id <= $count; $id++) {
    $lines .= $id . ',' . mt_rand(1, $others) . ',' . mt_rand(1, $others) . ',' . mt_rand(946684800, 1420070399) . ',' . mt_rand(0, 5) . "\n";
    if (strlen($lines) > 1 << 20) {
        fwrite($out, $lines);
        $lines = '';
    }
}
fwrite($out, $lines);
fclose($out);
rename("$file.part", $file);
