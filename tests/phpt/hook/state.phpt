--TEST--
What C code is in the middle of stays the coroutine's: stream wrappers, includes, strtok(), the log, popen()
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\WaitGroup;
use function Apus\Coroutine\run;
use function Apus\go;

class Slow
{
    public $context;
    private string $data = '';
    private int $at = 0;

    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool
    {
        Coroutine::sleep(str_contains($path, 'slow') ? 0.006 : 0.002);
        $this->data = str_ends_with($path, '.php') ? "<?php return '$path';" : "data of $path";
        return !str_contains($path, 'missing');
    }

    public function stream_read(int $count): string
    {
        $read = substr($this->data, $this->at, $count);
        $this->at += strlen($read);
        return $read;
    }

    public function stream_eof(): bool
    {
        return $this->at >= strlen($this->data);
    }

    public function stream_stat(): array
    {
        return [];
    }

    public function stream_set_option(int $option, int $first, int $second): bool
    {
        return false;
    }

    public function url_stat(string $path, int $flags): array
    {
        return ['mode' => 0100644, 'size' => 1];
    }
}
stream_wrapper_register('slow', Slow::class);
Apus\Coroutine::set(['hook_flags' => Apus\HOOK_ALL]);
$log = __DIR__ . '/state.log';
ini_set('error_log', $log);

function together(int $count, callable $do): array
{
    $results = [];
    run(function () use ($count, $do, &$results) {
        for ($i = 0; $i < $count; $i++) {
            go(function () use ($i, $do, &$results) {
                $results[$i] = $do($i);
            });
        }
    });
    ksort($results);
    return $results;
}

echo "wrappers: ", implode(', ', array_unique(together(5, fn () => file_get_contents('slow://same')))), "\n";
echo "includes: ", implode(', ', together(3, fn ($i) => include_once ['slow://slow.php', 'slow://quick.php', 'slow://third.php'][$i])), "\n";
// Had one of them left its mark, http:// would be refused as in an include.
echo "afterwards: ", var_export(@file_get_contents('http://127.0.0.1:1/'), true), ' ', error_get_last()['message'], "\n";
$messages = together(4, function (int $i) {
    file_get_contents("slow://missing$i");
    return $i;
});
echo "strtok: ", implode(', ', together(3, function (int $i) {
    $words = [];
    for ($word = strtok("a$i b$i c$i", ' '); $word !== false; $word = strtok(' ')) {
        $words[] = $word;
        Coroutine::sleep(0.001);
    }
    return implode('+', $words);
})), "\n";
together(20, fn ($i) => error_log("message $i"));
echo "log: ", substr_count(file_get_contents($log), 'message '), "\n";
echo "codes: ", implode(', ', together(4, fn ($i) => pclose(popen('exit ' . ($i + 3), 'r')))), "\n";
// A call that left it unfinished leaves nothing to whoever comes next.
together(1, fn () => strtok('left over', ' '));
var_dump(@strtok(' '));
?>
--CLEAN--
<?php @unlink(__DIR__ . '/state.log');
--EXPECTF--
wrappers: data of slow://same
includes: slow://slow.php, slow://quick.php, slow://third.php
afterwards: false file_get_contents(http://127.0.0.1:1/): Failed to open stream: Connection refused

Warning: file_get_contents(slow://missing0): Failed to open stream: "Slow::stream_open" call failed in %s on line %d

Warning: file_get_contents(slow://missing1): Failed to open stream: "Slow::stream_open" call failed in %s on line %d

Warning: file_get_contents(slow://missing2): Failed to open stream: "Slow::stream_open" call failed in %s on line %d

Warning: file_get_contents(slow://missing3): Failed to open stream: "Slow::stream_open" call failed in %s on line %d
strtok: a0+b0+c0, a1+b1+c1, a2+b2+c2
log: 20
codes: 3, 4, 5, 6
bool(false)
