--TEST--
HOOK_FILE opens and reads at once what is in memory; a read gives as much as the file has; what is not in memory is read all the same
--FILE--
<?php
use Apus\{Coroutine, Runtime};
use Apus\Coroutine\System;
use function Apus\{Coroutine\run, go};

$file = __DIR__ . '/files_cached.tmp';
run(function () use ($file) {
    Runtime::enableCoroutine(Apus\HOOK_ALL | Apus\HOOK_FILE);
    $switches = fn() => Coroutine::stats()['switch_num'];
    $text = random_bytes(300_000);
    file_put_contents($file, $text);
    $before = $switches();
    for ($i = 0; $i < 100; $i++) {
        $right = ($right ?? 0) + (file_get_contents($file) === $text) + (System::readFile($file) === $text);
    }
    $waits = $switches() - $before;
    // Not every file system can tell what is in memory.
    $tells = in_array(trim(shell_exec('stat -f -c %T ' . escapeshellarg(__DIR__))), ['ext2/ext3', 'xfs', 'btrfs'], true);
    echo $right, ' of 200, ', $tells ? $waits : 0, " waits\n";

    $f = fopen($file, 'r+');
    var_dump(stream_get_meta_data($f)['blocked']);
    echo strlen(fread($f, 100_000)), ' ', ftell($f), ' ', strlen(stream_get_contents($f)), ' ', strlen(fread($f, 10)), "\n";
    var_dump(feof($f));
    fseek($f, -2, SEEK_END);
    fwrite($f, 'the end');
    fseek($f, -7, SEEK_CUR);
    var_dump(fgets($f), fgets($f));
    fclose($f);

    // Written, and dropped from memory as far as the file system does that.
    $large = str_repeat($text, 40);
    file_put_contents($file, $large);
    fsync(fopen($file, 'r+'));
    exec('dd iflag=nocache count=0 status=none if=' . escapeshellarg($file));
    $f = fopen($file, 'r');
    stream_set_read_buffer($f, 0);
    var_dump(fread($f, 20_000_000) === $large, md5_file($file) === md5($large), file_get_contents($file) === $large);
    exec('dd iflag=nocache count=0 status=none if=' . escapeshellarg($file));
    // Each of the pieces of a long read lets others run; who would read from the same file meanwhile is told so.
    $shared = fopen($file, 'r');
    stream_set_read_buffer($shared, 0);
    $right = 0;
    $readers = [];
    foreach ([$shared, fopen($file, 'r')] as $f) {
        $readers[] = go(function () use ($f, $large, &$right) {
            $right += (fread($f, 20_000_000) . stream_get_contents($f)) === $large ? 1 : 0;
        });
    }
    try {
        fread($shared, 1);
    } catch (Apus\Coroutine\ConflictException) {
        echo "somebody reads\n";
    }
    Coroutine::join($readers);
    echo "$right of 2\n";
    var_dump(System::readFile($file) === $large, file_get_contents('/proc/self/status') !== '');
    foreach (['none', 'none/below', '../hook'] as $name) {
        var_dump(@file_get_contents(__DIR__ . "/$name"));
        echo strrchr(error_get_last()['message'], ':'), "\n";
    }
    ftruncate($f = fopen($file, 'r+'), 3 << 30);
    fclose($f);
    $f = fopen($file, 'r');
    var_dump(fseek($f, -1, SEEK_END), bin2hex(fread($f, 10)));
    var_dump(System::readFile(__DIR__ . '/none'), Apus\errno() === 2);
});
?>
--CLEAN--
<?php unlink(__DIR__ . '/files_cached.tmp'); ?>
--EXPECT--
200 of 200, 0 waits
bool(true)
100000 100000 200000 0
bool(true)
string(7) "the end"
bool(false)
bool(true)
bool(true)
bool(true)
somebody reads
2 of 2
bool(true)
bool(true)
bool(false)
: No such file or directory
bool(false)
: No such file or directory
string(0) ""
: Read of 12288 bytes failed with errno=21 Is a directory
int(0)
string(2) "00"
bool(false)
bool(true)
