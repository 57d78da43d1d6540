--TEST--
What is freed while its connection serves another coroutine is freed at the end of that call
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

class Told extends PDOStatement
{
    public function __destruct() { echo "destroyed\n"; }
}
run(function () {
    $pdo = new PDO('sqlite::memory:');
    $go = new Channel(1);
    @$pdo->sqliteCreateFunction('wait', function () use ($go) { $go->pop(); return 'waited'; });
    $pdo->setAttribute(PDO::ATTR_STATEMENT_CLASS, [Told::class]);
    $statement = $pdo->prepare('select 1');
    $pdo->setAttribute(PDO::ATTR_STATEMENT_CLASS, [PDOStatement::class]);
    $seen = WeakReference::create($statement);
    $ended = new Channel(1);
    go(fn () => $ended->push($pdo->query('select wait()')->fetchColumn()));
    $statement = null;
    echo $seen->get() === null ? "freed\n" : "waits in the line\n";
    $go->push(true);
    echo $ended->pop(), "\n";
    echo $seen->get() === null ? "freed\n" : "still there\n";
    // Nobody is in the midst of anything: it is freed at once.
    $seen = WeakReference::create($statement = $pdo->prepare('select 1'));
    $statement = null;
    echo $seen->get() === null ? "freed\n" : "still there\n";
    // The call that was in its midst ends with an exception, and nothing is ever called again.
    @$pdo->sqliteCreateFunction('fail', function () use ($go) { $go->pop(); throw new DomainException('told'); });
    $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
    $statement = $pdo->prepare('select 1');
    go(function () use ($pdo, $ended) {
        try {
            $pdo->query('select fail()')->fetch();
        } catch (DomainException $e) {
            echo $e->getMessage(), "\n";
        }
        $ended->push(true);
    });
    $seen = WeakReference::create($statement);
    $statement = null;
    echo $seen->get() === null ? "freed\n" : "waits in the line\n";
    $go->push(true);
    $ended->pop();
    echo $seen->get() === null ? "freed\n" : "still there\n";
});
// A process is freed, or closed, while a coroutine reads what it says.
foreach ([false, true] as $close) {
    run(function () use ($close) {
        $process = proc_open('echo first; read x; echo "$x"', [['pipe', 'r'], ['pipe', 'w']], $pipes);
        [$in, $out] = $pipes;
        unset($pipes);
        $read = new Channel(1);
        $reader = go(function () use ($out, $read) {
            while (($line = fgets($out)) !== false) {
                echo "line: $line";
                $read->push(true);
            }
            echo "end\n";
        });
        $read->pop();
        usleep(1_000); // the reader goes on, to its next fgets()
        if ($close) {
            proc_close($process);
        } else {
            $process = null;
        }
        Coroutine::join([$reader]);
        echo get_resource_type($in), ' ', get_resource_type($out), "\n";
    });
}
--EXPECT--
destroyed
waits in the line
waited
freed
freed
waits in the line
told
freed
line: first
line: 
end
Unknown stream
line: first
line: 
end
Unknown stream
