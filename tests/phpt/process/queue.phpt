--TEST--
Process and MessageQueue: System V queues: messages, types, limits of time, coroutines, removal
--FILE--
<?php
use Apus\Coroutine;
use Apus\MessageQueue;
use Apus\Process;
use function Apus\Coroutine\run;

set_error_handler(fn($number, $text) => print("warning: " . preg_replace('/: \d+\)/', ': N)', $text) . "\n"));
$key = random_int(0x10000000, 0x7fffffff);

echo "a process's queue\n";
$process = new Process(function (Process $p) {
    while (($message = $p->pop()) !== 'stop') {
        $p->write(strtoupper($message));
    }
});
var_dump($process->useQueue($key), $process->msgQueueKey === $key, is_int($process->msgQueueId));
$process->start();
foreach (['one', 'two'] as $word) {
    $process->push($word);
    var_dump($process->read());
}
$process->push('stop');
var_dump(Process::wait()['code'], $process->statQueue()['queue_num']);
$other = new Process(fn() => 1);
$other->useQueue($key, 2 | Process::IPC_NOWAIT);
var_dump($other->pop(), $other->push('x'), $other->statQueue()['queue_bytes'], $other->pop(0x10000), $other->pop());
while ($other->push(str_repeat('f', 4096)));
var_dump($other->statQueue()['queue_num'] > 0, $process->freeQueue(), $process->msgQueueId, $process->freeQueue());
var_dump($other->pop());

echo "messages for one process\n";
$a = new Process(fn() => 1);
$b = new Process(fn() => 1);
$a->useQueue($key, 1 | Process::IPC_NOWAIT);
$b->useQueue($key, 1 | Process::IPC_NOWAIT);
$a->push('for a');
var_dump($b->pop(), $a->pop(), $a->freeQueue());

echo "MessageQueue\n";
$queue = new MessageQueue($key);
var_dump($queue->key === $key, $queue->pop(0), $queue->errCode === 110);
$queue->push('third', 3);
$queue->push('first', 1);
$queue->push('second', 2);
var_dump($queue->pop(0, 2), $queue->pop(0, -3), $queue->pop(0, 0, 100), $queue->pop(0.001));
$queue->push('long message');
var_dump($queue->pop(0, 0, 4), $queue->errCode === 7, $queue->pop());
var_dump($queue->push(str_repeat('x', 1 << 20)));
for ($i = 0; $queue->push(str_repeat('f', 4000), 1, 0); $i++);
var_dump($i > 0, $queue->errCode === 110, $queue->stats()['queue_num'] === $i, $queue->stats()['queue_limit'] > 0);
while ($queue->pop(0) !== false);

$child = new Process(function (Process $p) use ($key) {
    $queue = new MessageQueue($key);
    for ($i = 0; $i < 500; $i++) {
        $queue->push("$i " . str_repeat('d', 1000));
    }
});
$child->start();
$sum = 0;
run(function () use ($queue, &$sum) {
    $ticks = 0;
    $ticker = Apus\go(function () use (&$ticks) {
        while (Coroutine::sleep(0.001)) {
            $ticks++;
        }
    });
    Coroutine\parallel(3, function () use ($queue, &$sum, &$count) {
        while ($count < 500) {
            if (($message = $queue->pop(0.05)) !== false) {
                $sum += (int) $message;
                $count++;
            }
        }
    });
    $waiter = Apus\go(fn() => var_dump($queue->pop()));
    Coroutine::cancel($waiter);
    Coroutine::cancel($ticker);
});
var_dump($sum === 499 * 500 / 2, Process::wait()['code']);
var_dump($queue->destroy(), $queue->pop(), $queue->push('x'), $queue->stats(), $queue->destroy());

echo "without a key\n";
$private = new MessageQueue;
$child = new Process(fn() => $private->push('from the child'));
$child->start();
var_dump($private->pop(5), Process::wait()['code']);
$id = $private->id;
unset($private, $child);
var_dump(in_array((string) $id, array_map(fn($line) => preg_split('/\s+/', trim($line))[1], file('/proc/sysvipc/msg'))));

foreach ([
    fn() => new MessageQueue(1 << 40),
    fn() => new MessageQueue(0, 01000),
    fn() => (new MessageQueue)->push('x', 0),
    fn() => (new MessageQueue)->pop(0, 0, 0),
    fn() => (new Process(fn() => 1))->useQueue(0, 5),
] as $wrong) {
    try {
        $wrong();
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
a process's queue
bool(true)
bool(true)
bool(true)
string(3) "ONE"
string(3) "TWO"
int(0)
int(0)
bool(false)
bool(true)
int(1)
string(1) "x"
bool(false)
warning: Apus\Process::freeQueue(): there is no queue: call useQueue() first
bool(true)
bool(true)
NULL
bool(false)
warning: Apus\Process::pop(): the queue was removed
bool(false)
messages for one process
bool(false)
string(5) "for a"
bool(true)
MessageQueue
bool(true)
bool(false)
bool(true)
string(6) "second"
string(5) "first"
string(5) "third"
bool(false)
warning: Apus\MessageQueue::pop(): the next message is longer than $size bytes; it stays in the queue
bool(false)
bool(true)
string(12) "long message"
warning: Apus\MessageQueue::push(): the message of 1048576 bytes is longer than the system allows (kernel.msgmax: N)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
int(0)
warning: Apus\MessageQueue::pop(): the queue was removed
warning: Apus\MessageQueue::push(): the queue was removed
warning: Apus\MessageQueue::stats(): the queue was removed
warning: Apus\MessageQueue::destroy(): the queue was removed
bool(true)
bool(false)
bool(false)
bool(false)
bool(false)
without a key
string(14) "from the child"
int(0)
bool(false)
Apus\MessageQueue::__construct(): Argument #1 ($key) must be a key of 32 bits, 1099511627776 given
Apus\MessageQueue::__construct(): Argument #2 ($permissions) must be permissions between 0 and 0777
Apus\MessageQueue::push(): Argument #2 ($type) must be 1 or more, 0 given
Apus\MessageQueue::pop(): Argument #3 ($size) must be between 1 and 268435456 bytes, 0 given
Apus\Process::useQueue(): Argument #2 ($mode) must be 1 (messages are for their process) or 2 (for any), with IPC_NOWAIT or without
