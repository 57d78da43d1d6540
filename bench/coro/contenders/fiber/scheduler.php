<?php

/**
 * The least that a scheduler over PHP's own Fiber can be: a queue of the ready, a heap of the sleeping, no cancellation,
 * no time-outs, no descriptors, no deferred calls, no error handling. Real ones (Revolt, Amp) do more for each switch.
 */

declare(strict_types=1);

namespace Bench {
    use Fiber;
    use SplPriorityQueue;
    use SplQueue;

    final class Coroutine
    {
        /** @var array<int, Fiber> those that have not ended */
        private static array $fibers = [];
        private static int $last = 0;
        /** @var SplQueue<Fiber> */
        private static SplQueue $ready;
        /** @var SplPriorityQueue<int, Fiber> nanoseconds, negative: the soonest first */
        private static SplPriorityQueue $sleeping;

        public static function create(callable $work): int
        {
            $id = ++self::$last;
            $fiber = self::$fibers[$id] = new Fiber($work);
            $fiber->start();
            if ($fiber->isTerminated()) {
                unset(self::$fibers[$id]);
            }

            return $id;
        }

        public static function yield(): void
        {
            Fiber::suspend();
        }

        public static function resume(int $id): void
        {
            $fiber = self::$fibers[$id];
            $fiber->resume();
            if ($fiber->isTerminated()) {
                unset(self::$fibers[$id]);
            }
        }

        public static function sleep(float $seconds): void
        {
            self::$sleeping->insert(Fiber::getCurrent(), -(hrtime(true) + (int) ($seconds * 1e9)));
            Fiber::suspend();
        }

        public static function wake(Fiber $fiber): void
        {
            self::$ready->enqueue($fiber);
        }

        public static function run(callable $work): void
        {
            self::$fibers = [];
            self::$ready = new SplQueue();
            self::$sleeping = new SplPriorityQueue();
            self::$sleeping->setExtractFlags(SplPriorityQueue::EXTR_BOTH);
            self::create($work);
            while (true) {
                while (!self::$ready->isEmpty()) {
                    self::$ready->dequeue()->resume();
                }
                if (self::$sleeping->isEmpty()) {
                    return;
                }
                $now = hrtime(true);
                $first = -self::$sleeping->top()['priority'];
                if ($first > $now) {
                    usleep((int) (($first - $now) / 1000) + 1);
                    $now = hrtime(true);
                }
                while (!self::$sleeping->isEmpty() && -self::$sleeping->top()['priority'] <= $now) {
                    self::$ready->enqueue(self::$sleeping->extract()['data']);
                }
            }
        }
    }
}

namespace Bench\Coroutine {
    use Bench\Coroutine;
    use Fiber;
    use SplQueue;

    final class Channel
    {
        private SplQueue $items;
        private SplQueue $pushing;
        private SplQueue $popping;

        public function __construct(private int $capacity)
        {
            [$this->items, $this->pushing, $this->popping] = [new SplQueue(), new SplQueue(), new SplQueue()];
        }

        public function push(mixed $item): void
        {
            while ($this->items->count() >= $this->capacity) {
                $this->pushing->enqueue(Fiber::getCurrent());
                Fiber::suspend();
            }
            $this->items->enqueue($item);
            if (!$this->popping->isEmpty()) {
                Coroutine::wake($this->popping->dequeue());
            }
        }

        public function pop(): mixed
        {
            while ($this->items->isEmpty()) {
                $this->popping->enqueue(Fiber::getCurrent());
                Fiber::suspend();
            }
            $item = $this->items->dequeue();
            if (!$this->pushing->isEmpty()) {
                Coroutine::wake($this->pushing->dequeue());
            }

            return $item;
        }
    }

    function run(callable $work): void
    {
        Coroutine::run($work);
    }
}
