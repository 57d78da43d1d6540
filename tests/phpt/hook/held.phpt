--TEST--
What a call holds while its coroutine waits, for whatever and however deep, nobody else touches
--EXTENSIONS--
pdo
pdo_sqlite
sqlite3
zlib
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

// Everything that is called in this stream waits, by a function of Apus, 60 frames down.
class Waiting
{
    public $context;
    public static ?Channel $go = null;
    public static function wait(int $deep = 60): void { $deep ? self::wait($deep - 1) : self::$go?->pop(); }
    public function stream_open() { return true; }
    public function stream_read($n) { self::wait(); return "line\n"; }
    public function stream_write($data) { self::wait(); return strlen($data); }
    public function stream_eof() { return false; }
    public function stream_stat() { self::wait(); return []; }
    public function url_stat() { return []; }
    public function stream_flush() { return true; }
    public function stream_lock($operation) { self::wait(); return true; }
    public function stream_cast($as) { self::wait(); return false; }
    public function stream_set_option($option, $a, $b) { self::wait(); return true; }
    public function dir_opendir() { return true; }
    public function dir_readdir() { self::wait(); return 'entry'; }
    public function dir_closedir() { return true; }
}
stream_wrapper_register('waiting', 'Waiting');

function attempt(string $what, callable $other): void
{
    try {
        $other();
        echo "$what: went through\n";
    } catch (Coroutine\ConflictException) {
        echo "$what: refused\n";
    }
}
/** One call waits; meanwhile the other is attempted. */
function meanwhile(string $what, callable $call, callable $other): void
{
    Waiting::$go = $go = new Channel(1);
    $ended = new Channel(1);
    go(function () use ($call, $ended) { $result = $call(); Waiting::$go = null; $ended->push($result); });
    attempt($what, $other);
    $go->close();
    echo '  ', json_encode($ended->pop()), "\n";
}
run(function () {
    $select = function ($f) {
        $r = [$f];
        $w = $e = null;
        try { return @stream_select($r, $w, $e, 0); } catch (ValueError) { return 'none'; }
    };
    $file = fn () => fopen('waiting://x', 'r+');
    $calls = [
        'fgets' => fn ($f) => fgets($f), 'fprintf' => fn ($f) => fprintf($f, 'text'), 'vfprintf' => fn ($f) => vfprintf($f, '%s', ['text']),
        'gzread' => fn ($f) => gzread($f, 3), 'fstat' => fn ($f) => count(fstat($f)), 'flock' => fn ($f) => flock($f, LOCK_EX),
        'stream_set_timeout' => fn ($f) => stream_set_timeout($f, 1), 'stream_select' => $select,
        'stream_copy_to_stream from' => fn ($f) => stream_copy_to_stream($f, fopen('php://memory', 'w'), 5),
        'stream_copy_to_stream to' => function ($f) { fwrite($m = fopen('php://memory', 'w+'), 'text'); rewind($m); return stream_copy_to_stream($m, $f); },
        'hash_update_stream' => fn ($f) => hash_update_stream(hash_init('md5'), $f, 5),
    ];
    foreach ($calls as $name => $call) {
        $f = $file();
        meanwhile("fclose() in $name", fn () => $call($f), fn () => fclose($f));
    }
    $f = $file();
    meanwhile('gzclose() in fgets', fn () => fgets($f), fn () => gzclose($f));
    $hash = hash_init('md5');
    $f = $file();
    meanwhile('hash_final() in hash_update_stream', fn () => hash_update_stream($hash, $f, 5), fn () => hash_final($hash));
    $dir = opendir('waiting://x');
    meanwhile('closedir() in readdir', fn () => readdir($dir), fn () => closedir($dir));
    $object = new SplFileObject('waiting://x', 'r+');
    meanwhile('SplFileObject::fread() in fgets()', fn () => $object->fgets(), fn () => $object->fread(100_000));

    $wait = function ($x) { Waiting::wait(); return $x; };
    $pdo = new PDO('sqlite::memory:');
    @$pdo->sqliteCreateFunction('wait', $wait);
    meanwhile('PDO::query() in fetchAll()', fn () => $pdo->query('select 1 union all select 2')->fetchAll(PDO::FETCH_FUNC, $wait),
        fn () => $pdo->query('select 3'));
    $statement = $pdo->prepare('select wait(1) union all select wait(2)');
    meanwhile('PDOStatement::execute() in execute()', fn () => [$statement->execute(), $statement->fetchAll(PDO::FETCH_COLUMN)],
        fn () => $statement->execute());
    foreach (['close', 'statement', 'result'] as $way) {
        $db = new SQLite3(':memory:');
        $db->createFunction('wait', $wait);
        $call = match ($way) {
            'close' => fn () => $db->querySingle('select wait(1)'),
            'statement' => fn () => $db->prepare('select wait(1)')->execute()->fetchArray(SQLITE3_NUM),
            'result' => fn () => $db->query('select wait(1) union all select wait(2)')->fetchArray(SQLITE3_NUM),
        };
        meanwhile("SQLite3::close() in $way", $call, fn () => $db->close());
    }
    // What only stands in the arguments of a function that calls another one is not in use.
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    meanwhile('fwrite() beside call_user_func()', fn () => call_user_func($wait, $a) === $a, fn () => fwrite($a, 'x'));
    // One reads, the other writes, and looks whether the end has come.
    go(fn () => print fgets($a));
    attempt('feof() beside fgets()', fn () => feof($a));
    attempt('fwrite() beside fgets()', fn () => fwrite($a, 'x'));
    attempt('stream_socket_shutdown() beside fgets()', fn () => stream_socket_shutdown($b, STREAM_SHUT_WR));
});
--EXPECT--
fclose() in fgets: refused
  "line\n"
fclose() in fprintf: refused
  4
fclose() in vfprintf: refused
  4
fclose() in gzread: refused
  "lin"
fclose() in fstat: refused
  26
fclose() in flock: refused
  true
fclose() in stream_set_timeout: refused
  true
fclose() in stream_select: refused
  "none"
fclose() in stream_copy_to_stream from: refused
  5
fclose() in stream_copy_to_stream to: refused
  4
fclose() in hash_update_stream: refused
  5
gzclose() in fgets: refused
  "line\n"
hash_final() in hash_update_stream: refused
  5
closedir() in readdir: refused
  "entry"
SplFileObject::fread() in fgets(): refused
  "line\n"
PDO::query() in fetchAll(): refused
  [1,2]
PDOStatement::execute() in execute(): refused
  [true,[1,2]]
SQLite3::close() in close: refused
  1
SQLite3::close() in statement: refused
  [1]
SQLite3::close() in result: refused
  [1]
fwrite() beside call_user_func(): went through
  true
feof() beside fgets(): went through
fwrite() beside fgets(): went through
stream_socket_shutdown() beside fgets(): went through
