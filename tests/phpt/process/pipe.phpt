--TEST--
Process: the pipe: messages and bytes, limits of time, what is said when the other side is gone, standard streams
--FILE--
<?php
use Apus\Process;

echo "messages\n";
$process = new Process(function (Process $p) {
    while (($message = $p->read(1 << 20)) !== '') {
        $p->write(strrev($message));
        if ($message === 'stop') {
            return;
        }
    }
});
$process->start();
var_dump($process->write('hello'), $process->write('you'));
var_dump($process->read(), $process->read());
$large = str_repeat('0123456789', 20_000);
var_dump($process->write($large) === strlen($large), $process->read(1 << 20) === strrev($large));
set_error_handler(fn($number, $text) => print("warning: $text\n"));
$process->write('cut here');
var_dump($process->read(4));
var_dump($process->write(str_repeat('x', 1 << 24)), Apus\last_error() === 90);
$process->write('stop');
var_dump($process->read(), $process->read(), $process->read());
Process::wait();

echo "bytes\n";
$process = new Process(function (Process $p) {
    $got = '';
    while (($bytes = $p->read(100_000)) !== '') {
        $got .= $bytes;
    }
    $p->write(strlen($got) . ' ' . md5($got));
}, false, Apus\SOCK_STREAM);
$process->start();
$data = random_bytes(5_000_000);
var_dump($process->write($data));
$process->close(Process::PIPE_WRITE);
var_dump($process->read() === '5000000 ' . md5($data), $process->read());
Process::wait();

echo "time\n";
$process = new Process(function (Process $p) {
    while (true) {
        usleep(100_000);
    }
});
$process->start();
var_dump($process->setTimeout(0.01), $process->read(), Apus\last_error() === 110);
$process->setTimeout(0);
$process->setBlocking(false);
var_dump($process->read(), Apus\last_error() === 11);
for ($i = 0; $process->write(str_repeat('y', 100_000)) !== false; $i++);
var_dump($i > 0, Apus\last_error() === 11);
$process->setBlocking(true);
Process::kill($process->pid, SIGKILL);
Process::wait();
$written = 0;
while ($process->write(str_repeat('y', 100_000)) !== false) {
    $written++;
}
var_dump(Apus\last_error() === 32);

echo "dead before the first write\n";
foreach ([Apus\SOCK_DGRAM, Apus\SOCK_STREAM] as $type) {
    $process = new Process(fn (Process $p) => $p->write('last words'), false, $type);
    $process->start();
    Process::wait();
    var_dump($process->write('x'), Apus\last_error() === 32, $process->read());
}

echo "the parent goes\n";
$process = new Process(function (Process $p) {
    $inner = new Process(function (Process $inner) use ($p) {
        // Both copies of the other end are gone when the middle process has ended.
        var_dump($inner->read());
        $p->write('seen');
    });
    $inner->start();
});
$process->start();
Process::wait();
for (; ($seen = $process->read()) === '';);
var_dump($seen);

echo "closed\n";
var_dump(
    $process->close(),
    $process->pipe,
    $process->close(),
    $process->read(),
    $process->write('x'),
    $process->exportSocket(),
);
$none = new Process(fn() => 1, false, 0);
var_dump($none->pipe, $none->write('x'), $none->setTimeout(1), $none->setBlocking(true), $none->close());

echo "standard streams\n";
$process = new Process(function (Process $p) {
    fwrite(STDERR, 'error, ');
    echo 'echo of ', fgets(STDIN);
    $p->exec('/bin/cat', ['-']);
}, true);
$process->start();
$process->write("a line\n");
for ($text = ''; !str_contains($text, 'a line');) {
    $text .= $process->read();
}
$process->write("more\n");
while (!str_contains($text, 'more')) {
    $text .= $process->read();
}
echo $text;
$process->close();
var_dump(Process::wait()['code']);
foreach ([fn() => $process->read(0), fn() => $process->write(''), fn() => $process->close(9)] as $wrong) {
    try {
        $wrong();
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
messages
int(5)
int(3)
string(5) "olleh"
string(3) "uoy"
bool(true)
bool(true)
warning: Apus\Process::read(): a message of 8 bytes was cut to 4: give read() a larger size
string(4) "ereh"
warning: Apus\Process::write(): a message of 16777216 bytes is longer than the pipe takes (net.core.wmem_max): send it in parts, or make the process with $pipe_type SOCK_STREAM
bool(false)
bool(true)
string(4) "pots"
string(0) ""
string(0) ""
bytes
int(5000000)
bool(true)
string(0) ""
time
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
warning: Apus\Process::write(): Broken pipe
bool(true)
dead before the first write
warning: Apus\Process::write(): Broken pipe
bool(false)
bool(true)
string(10) "last words"
warning: Apus\Process::write(): Broken pipe
bool(false)
bool(true)
string(10) "last words"
the parent goes
string(0) ""
string(4) "seen"
closed
warning: Apus\Process::close(): the pipe, or this side of it, is closed already
warning: Apus\Process::read(): there is no pipe: it was closed, or $pipe_type was 0
warning: Apus\Process::write(): there is no pipe: it was closed, or $pipe_type was 0
warning: Apus\Process::exportSocket(): there is no pipe: it was closed, or $pipe_type was 0
bool(true)
NULL
bool(false)
bool(false)
bool(false)
bool(false)
warning: Apus\Process::write(): there is no pipe: it was closed, or $pipe_type was 0
warning: Apus\Process::setBlocking(): there is no pipe: it was closed, or $pipe_type was 0
warning: Apus\Process::close(): there is no pipe
NULL
bool(false)
bool(false)
bool(false)
bool(false)
standard streams
error, echo of a line
more
int(0)
Apus\Process::read(): Argument #1 ($size) must be between 1 and 268435456 bytes, 0 given
Apus\Process::write(): Argument #1 ($data) cannot be empty
Apus\Process::close(): Argument #1 ($which) must be 0 or one of the constants Apus\Process::PIPE_MASTER … PIPE_WRITE
