--TEST--
HOOK_FILE leaves emptying and syncing to threads; compiling and highlighting stay whole
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

Apus\Runtime::enableCoroutine(Apus\HOOK_ALL);
$folder = sys_get_temp_dir() . '/apus-files-' . getmypid();
mkdir($folder);
$switches = 0;
run(function () use ($folder, &$switches) {
    $before = Coroutine::stats()['switch_num'];
    for ($i = 0; $i < 20; $i++) {
        go(function () use ($folder, $i) {
            $text = str_repeat("line $i\n", 50_000);
            $ok = file_put_contents("$folder/$i", $text) === strlen($text);
            $ok = $ok && file_get_contents("$folder/$i") === $text;
            for ($times = 0; $times < 3; $times++) {
                // What was written is waited for before the file is emptied.
                $ok = $ok && file_put_contents("$folder/$i", $text) === strlen($text);
                $ok = $ok && fsync(fopen("$folder/$i", 'r+'));
            }
            $f = fopen("$folder/$i", 'r+');
            fseek($f, 7);
            $ok = $ok && fgets($f) === "line $i\n" || $i > 9;
            fseek($f, 0, SEEK_END);
            $ok = $ok && fwrite($f, 'end') === 3 && fflush($f) && fsync($f);
            rewind($f);
            $ok = $ok && str_ends_with(stream_get_contents($f), 'end');
            file_put_contents("$folder/$i.php", "<?php\nclass C$i { const N = $i; }\nreturn $i;\n");
            $ok = $ok && (require "$folder/$i.php") === $i && constant("C$i::N") === $i && highlight_file("$folder/$i.php", true) !== '';
            if (!$ok) {
                echo "$i is wrong\n";
            }
        });
    }
    $switches = -$before;
});
run(function () use (&$switches) { $switches += Coroutine::stats()['switch_num']; });
echo $switches > 100 ? "they took turns\n" : "only $switches switches\n";
run(function () use ($folder) {
    var_dump(@file_get_contents("$folder/none"), error_get_last()['message'] === "file_get_contents($folder/none): Failed to open stream: No such file or directory");
    var_dump(@file_put_contents('/dev/full', 'x'));
});
array_map('unlink', glob("$folder/*"));
rmdir($folder);
--EXPECT--
they took turns
bool(false)
bool(true)
bool(false)
