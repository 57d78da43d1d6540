<?php

declare(strict_types=1);

// Runs every PHP block of README.md and docs/, on the built module: APUS names the command. Words in the arguments
// choose blocks whose place holds one of them.
//
// What stands before a block in the text says how it runs:
//   nothing                        it is a whole program: it serves when it starts a server, else it runs and ends;
//   <!-- sample: NAME -->          it is a fragment: tools/tests/samples/NAME.php runs, with the block in place of the
// line "// the sample";
//   <!-- sample needs WHAT -->     it is parsed only, for want of WHAT.
// Addresses become one of this process alone, ports move with them, and /run/shop, /var/lib/app and /data lie in a
// scratch directory.

namespace Apus\Tools;

require __DIR__ . '/server.php';

/** A block of a document. */
final class Sample
{
    public function __construct(
        public readonly string $place,
        public readonly string $mark,
        public readonly string $code,
    )
    {
    }

    /** @return list<self> the blocks of one file, in order */
    public static function of(string $root, string $file): array
    {
        $lines = explode("\n", (string) file_get_contents("$root/$file"));
        [$found, $mark, $begin] = [[], '', null];
        foreach ($lines as $number => $line) {
            if ($begin === null && preg_match('~^<!-- (sample.*) -->$~', $line, $match)) {
                $mark = $match[1];
            } elseif ($begin === null && $line === '```php') {
                $begin = $number + 1;
            } elseif ($begin !== null && $line === '```') {
                $found[] = new self("$file:$begin", $mark, implode("\n", array_slice($lines, $begin, $number - $begin)));
                [$mark, $begin] = ['', null];
            } elseif ($begin === null && trim($line) !== '') {
                $mark = '';
            }
        }
        return $found;
    }

    /**
     * The program to run: the fragment in its prelude, names imported at the top, nothing outside the scratch
     * directory.
     */
    public function program(string $folder, string $scratch, string $address): string
    {
        $code = preg_replace('~\A<\?php.*\n~', '', $this->code) . "\n";
        if (preg_match('~^sample: (\w[\w-]*)$~', $this->mark, $match)) {
            preg_match_all('~^use [\w\\\\{}, ]+;.*\n~m', $code, $imports);
            $prelude = (string) file_get_contents("$folder/$match[1].php");
            $code = str_replace("// the sample\n", str_replace($imports[0], '', $code), preg_replace('~\A<\?php\n~', '', $prelude));
            $code = implode('', $imports[0]) . $code;
        } elseif ($this->mark !== '' && !str_starts_with($this->mark, 'sample needs ')) {
            throw new \RuntimeException("'$this->mark' is not understood");
        }
        $code = preg_replace_callback(
            "~'(tcp://|http://)?(?:0\.0\.0\.0|127\.0\.0\.1|::)(?:'(, )(\d{4})\b|:(\d{4})')~",
            static fn (array $m): string => "'{$m[1]}$address" . ($m[2] !== '' ? "', " . (20_000 + $m[3]) : ':' . (20_000 + $m[4]) . "'"),
            $code,
        );
        return "<?php\n" . strtr($code, ["'/run/shop" => "'$scratch", "'/var/lib/app" => "'$scratch", "'/data" => "'$scratch"]);
    }

    /** Whether the program goes on until it is told to stop. */
    public static function serves(string $program): bool
    {
        return preg_match('~new (Apus\\\\)?(Http\\\\|WebSocket\\\\)?Server\(.*->start\(\);~s', $program) === 1
            && !str_contains($program, 'Coroutine\Http\Server');
    }
}

/** What is wrong with the run, or null. @param list<string> $command */
function ends(array $command, string $scratch): ?string
{
    $log = "$scratch/log";
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', $log, 'w'], ['file', $log, 'a']], $pipes, $scratch);
    $until = microtime(true) + 30;
    while (($status = proc_get_status($process))['running'] && microtime(true) < $until) {
        usleep(5_000);
    }
    if ($status['running']) {
        proc_terminate($process, 9);
    }
    proc_close($process);
    $said = trim((string) file_get_contents($log));
    return match (true) {
        $status['running'] => "it does not end: $said",
        $status['exitcode'] !== 0 => "exit code {$status['exitcode']}: $said",
        default => complaint($said),
    };
}

/** What PHP or the server has complained about. */
function complaint(string $said): ?string
{
    // How long a call takes is the machine's affair.
    $said = preg_replace('~^\S+ \[\d+\] warning: coroutine \d+ has kept its worker busy.*\n(?:#\d.*\n)*~m', '', $said);
    return preg_match('~\b(Warning|Notice|Deprecated|Fatal|Uncaught|error|warning)\b~', $said) === 1 ? $said : null;
}

/** Starts the server, asks it, stops it: what is wrong with that, or null. */
function answers(string $apus, string $file): ?string
{
    $server = new Server($apus, [$file]);
    // An Apus\Server has a protocol of its own.
    $http = !str_contains((string) file_get_contents($file), 'new Apus\Server(');
    [$status, $body] = $http ? $server->ask('/?user=7') : [200, ''];
    $said = (string) file_get_contents($server->log);
    $code = $server->stop();
    return match (true) {
        $status === 0 || $status >= 500 => "status $status: $body\n$said",
        $code !== 0 => "exit code $code: $said",
        default => complaint($said),
    };
}

$root = dirname(__DIR__, 2);
$apus = getenv('APUS') ?: "$root/target/release/apus";
$words = array_slice($argv, 1);
$scratch = sys_get_temp_dir() . '/apus-samples-' . getmypid();
mkdir($scratch);
$address = sprintf('127.83.%d.%d', getmypid() >> 8 & 255, getmypid() & 255);
$passed = $failed = $parsed = 0;
$files = ['README.md', ...array_map(static fn (string $file): string => 'docs/' . basename($file), glob("$root/docs/*.md"))];
foreach (array_merge(...array_map(static fn (string $file): array => Sample::of($root, $file), $files)) as $sample) {
    if ($words !== []
        && array_filter($words, static fn (string $word): bool => str_contains($sample->place, $word)) === []) {
        continue;
    }
    $file = "$scratch/" . strtr($sample->place, '/:', '__') . '.php';
    try {
        $program = $sample->program(__DIR__ . '/samples', $scratch, $address);
        file_put_contents($file, strtr($program, ['SAMPLES_DIRECTORY' => var_export(__DIR__ . '/samples', true)]));
        $wrong = ends([PHP_BINARY, '-n', '-l', $file], $scratch);
        if ($wrong === null && str_starts_with($sample->mark, 'sample needs ')) {
            $parsed++;
        } elseif ($wrong === null) {
            $wrong = Sample::serves($program) ? answers($apus, $file) : ends([$apus, 'run', $file], $scratch);
        }
    } catch (\Throwable $error) {
        $wrong = $error->getMessage();
    }
    $wrong === null ? $passed++ : $failed++;
    echo $wrong === null ? 'ok      ' : 'FAILED  ', $sample->place, $wrong === null ? '' : "\n" . preg_replace('~^~m', '    ', $wrong), "\n";
}
exec('rm -rf ' . escapeshellarg($scratch));

echo "$parsed of them only parsed, for want of what stands before them\n";
echo "$passed passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);
