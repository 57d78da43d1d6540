<?php

declare(strict_types=1);

// Coroutines, what they wait for, and PHP's blocking functions in them.
// usage: apus run coroutines.php SCRATCH

use Apus\Coroutine;
use Apus\Coroutine\Channel;

use function Apus\go;

[, $scratch] = $argv;

function pairs(int $rounds): void
{
    $there = new Channel(1);
    $back = new Channel(1);
    go(function () use ($there, $back, $rounds): void {
        for ($round = 0; $round < $rounds; $round++) {
            $back->push($there->pop());
        }
    });
    for ($round = 0; $round < $rounds; $round++) {
        $there->push($round);
        $back->pop() === $round || throw new LogicException('a channel lost a value');
    }
}

function stream(int $items): void
{
    $channel = new Channel(100);
    go(function () use ($channel, $items): void {
        for ($item = 0; $item < $items; $item++) {
            $channel->push(['item' => $item], 5);
        }
        $channel->close();
    });
    while (($item = $channel->pop(5)) !== false);
}

function switches(int $rounds): void
{
    $id = go(function () use ($rounds): void {
        for ($round = 0; $round < $rounds; $round++) {
            Coroutine::yield();
        }
    });
    for ($round = 0; $round < $rounds; $round++) {
        Coroutine::resume($id);
    }
}

function crowd(int $coroutines, int $rounds): void
{
    $group = new Coroutine\WaitGroup($coroutines);
    $lock = new Coroutine\Lock();
    $semaphore = new Coroutine\Semaphore(10);
    for ($number = 0; $number < $coroutines; $number++) {
        go(function () use ($group, $lock, $semaphore, $number, $rounds): void {
            Coroutine::defer($group->done(...));
            for ($round = 0; $round < $rounds; $round++) {
                Coroutine::sleep(($number % 50 + 1) / 1000);
            }
            $semaphore->acquire();
            $lock->lock();
            $lock->unlock();
            $semaphore->release();
        });
    }
    $group->wait();
}

/** Each asks and answers over a connection of PHP's own streams, as clients of databases do. */
function conversations(int $connections, int $rounds): void
{
    $listening = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($listening, false);
    go(function () use ($listening, $connections, $rounds): void {
        for ($number = 0; $number < $connections; $number++) {
            $connection = stream_socket_accept($listening, 10);
            go(function () use ($connection, $rounds): void {
                for ($round = 0; $round < $rounds; $round++) {
                    fwrite($connection, 'answer to ' . fgets($connection));
                }
                fclose($connection);
            });
        }
    });
    $pool = new Apus\ConnectionPool(fn () => stream_socket_client("tcp://$address"), $connections);
    Coroutine\parallel(4 * $connections, function () use ($pool, $rounds): void {
        for ($round = 0; $round < intdiv($rounds, 4); $round++) {
            $pool->use(function ($connection) use ($round): void {
                fwrite($connection, "question $round\n");
                if (fgets($connection) !== "answer to question $round\n") {
                    throw new LogicException('a stream lost a line');
                }
            });
        }
    });
    $pool->close();
    fclose($listening);
}

function files(string $scratch, int $rounds): void
{
    for ($round = 0; $round < $rounds; $round++) {
        file_put_contents("$scratch/file", str_repeat('f', 20_000));
        strlen(file_get_contents("$scratch/file")) === 20_000 || throw new LogicException('a file lost bytes');
        usleep(100);
        unlink("$scratch/file");
    }
}

Coroutine\run(function () use ($scratch): void {
    for ($number = 0; $number < 100_000; $number++) {
        go(fn () => $number);
    }
    for ($number = 0; $number < 20_000; $number++) {
        Coroutine::resume(go(fn () => Coroutine::yield()));
    }
    $waiting = [];
    for ($number = 0; $number < 10_000; $number++) {
        $waiting[] = go(fn () => Coroutine::yield());
    }
    foreach ($waiting as $id) {
        Coroutine::resume($id);
    }
    switches(200_000);
    pairs(100_000);
    stream(200_000);
    crowd(2_000, 10);
    conversations(8, 4_000);
    files($scratch, 200);
    Coroutine\Scope::run(function (Coroutine\Scope $scope): void {
        for ($number = 0; $number < 100; $number++) {
            $scope->spawn(fn () => Coroutine::sleep(0.001));
        }
    });
});
