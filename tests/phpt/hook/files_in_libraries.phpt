--TEST--
HOOK_FILE: libraries that hold a mutex or share a file are left out; what coroutines write to one file keeps its order
--EXTENSIONS--
pdo
pdo_sqlite
phar
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

Apus\Runtime::enableCoroutine(Apus\HOOK_ALL);
$folder = sys_get_temp_dir() . '/apus-libraries-' . getmypid();
mkdir($folder);

// SQLite holds its mutexes while it reads, writes, syncs and locks.
run(function () use ($folder) {
    for ($i = 0; $i < 8; $i++) {
        go(function () use ($folder, $i) {
            $db = new PDO("sqlite:$folder/" . $i % 3);
            $db->setAttribute(PDO::ATTR_TIMEOUT, 20);
            $db->exec('create table if not exists t (a int, b text)');
            for ($k = 0; $k < 5; $k++) {
                $db->exec('begin immediate');
                $db->prepare('insert into t values (?, ?)')->execute([$i, str_repeat("x$i", 100)]);
                Coroutine::sleep(0.001);
                $db->exec('commit');
            }
        });
    }
});
$rows = 0;
for ($i = 0; $i < 3; $i++) {
    $db = new PDO("sqlite:$folder/$i");
    $rows += $db->query('select count(*) from t')->fetchColumn();
    echo $db->query('pragma integrity_check')->fetchColumn(), ' ';
}
echo "$rows rows\n";

// All streams into a Phar share one file and its position.
$archive = new PharData("$folder/archive.tar");
for ($k = 0; $k < 5; $k++) {
    $archive["f$k"] = str_repeat("f$k", 5000);
}
unset($archive);
$wrong = 0;
run(function () use ($folder, &$wrong) {
    for ($i = 0; $i < 20; $i++) {
        go(function () use ($folder, $i, &$wrong) {
            $k = $i % 5;
            $wrong += file_get_contents("phar://$folder/archive.tar/f$k") !== str_repeat("f$k", 5000);
            $f = fopen("phar://$folder/archive.tar/f$k", 'r');
            for ($text = ''; !feof($f); $text .= fread($f, 1000));
            $wrong += $text !== str_repeat("f$k", 5000);
        });
    }
});
echo "$wrong wrong\n";

// One stream, many writers, as a log has them.
$log = fopen("$folder/log", 'a');
run(function () use ($log) {
    for ($i = 0; $i < 20; $i++) {
        go(function () use ($log, $i) {
            for ($k = 0; $k < 10; $k++) {
                fwrite($log, "m$i-$k\n");
                if ($k % 3 === 0) {
                    Coroutine::sleep(0.0005);
                }
            }
        });
    }
});
$next = array_fill(0, 20, 0);
$misplaced = 0;
foreach (file("$folder/log") as $line) {
    sscanf($line, 'm%d-%d', $i, $k);
    $misplaced += $next[$i]++ !== $k;
}
echo array_sum($next), " records, $misplaced misplaced\n";
array_map('unlink', glob("$folder/*"));
rmdir($folder);
?>
--EXPECT--
ok ok ok 40 rows
0 wrong
200 records, 0 misplaced
