--TEST--
Channel: many producers and consumers with random sizes, waits, time-outs and cancels: each value comes out once, each producer's in order
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{Channel, WaitGroup};
use function Apus\go;
use function Apus\Coroutine\run;

foreach ([1, 2, random_int(3, PHP_INT_MAX)] as $seed) {
    mt_srand($seed);
    run(function () use ($seed) {
        $c = new Channel(mt_rand(1, 7));
        $sent = $seen = [];
        $producers = new WaitGroup;
        for ($p = 0; $p < 20; $p++) {
            $producers->add();
            go(function () use ($c, $p, &$sent, $producers) {
                for ($i = 0; $i < 100; $i++) {
                    while (!$c->push([$p, $i], mt_rand(0, 3) ? -1 : 0.0005)) {
                        // Time was over: the value was not pushed, and is tried again.
                    }
                    $sent[] = "$p/$i";
                    mt_rand(0, 9) || Coroutine::sleep(0);
                }
                $producers->done();
            });
        }
        $consumers = [];
        $live = 0;
        $consume = function () use ($c, &$seen, &$live) {
            $live++;
            while (true) {
                $value = $c->pop(mt_rand(0, 3) ? -1 : 0.0005);
                if ($value !== false) {
                    $seen[$value[0]][] = $value[1];
                } elseif ($c->errCode === Apus\CHANNEL_CLOSED || Coroutine::isCanceled()) {
                    break;
                }
                mt_rand(0, 9) || Coroutine::sleep(0);
            }
            $live--;
        };
        for ($k = 0; $k < 10; $k++) {
            $consumers[] = go($consume);
        }
        $killer = go(function () use (&$consumers, $consume) {
            for ($i = 0; $i < 50; $i++) {
                Coroutine::sleep(0.0005);
                if (Coroutine::cancel($consumers[array_rand($consumers)])) {
                    $consumers[] = go($consume);
                }
            }
        });
        $producers->wait();
        Coroutine::join([$killer]);
        $c->close();
        Coroutine::join($consumers);
        ksort($seen);
        $ordered = 0;
        $all = 0;
        foreach ($seen as $values) {
            $all += count(array_unique($values));
        }
        $right = $all === 2000 && count($sent) === 2000 && array_sum(array_map('count', $seen)) === 2000;
        echo $right && $live === 0 && $c->stats() === ['consumer_num' => 0, 'producer_num' => 0, 'queue_num' => 0]
            ? "right\n" : "seed $seed: $all seen, " . count($sent) . " sent, $live live " . json_encode($c->stats()) . "\n";
    });
}
?>
--EXPECT--
right
right
right
