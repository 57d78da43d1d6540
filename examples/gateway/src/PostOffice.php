<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\Coroutine;
use Apus\WebSocket\Server;

/** The mailboxes of the users whose home this worker is, and who of them is connected. */
final class PostOffice
{
    /** Bytes of letters that go to the next worker in one piece. */
    private const PIECE = 1 << 20;
    /** Seconds between two looks at what is still at work. */
    private const SETTLE_EVERY = 0.005;

    public readonly int $perUser;
    private readonly int $connectionsPerUser;
    /** Bytes that all mailboxes of this worker may keep: its share of the whole. */
    private readonly int $room;
    private int $kept = 0;
    /** @var array<array-key, Mailbox> by user */
    private array $boxes = [];
    /** @var array<array-key, array<string, Letter>> letters of the worker before this one, while they come, by user and id */
    private array $coming = [];
    /** @var array<array-key, array<int, true>> connections by user */
    private array $online = [];

    public function __construct(private readonly Server $server, private readonly Peers $peers, public readonly Counters $counters, Config $config)
    {
        $this->perUser = $config->number('queue_per_user');
        $this->connectionsPerUser = $config->number('max_per_user');
        $this->room = intdiv($config->number('queue_bytes'), $peers->workers());
        $peers->on('letter', $this->letter(...));
        $peers->on('open', fn (array $arguments, array $answerTo) => $this->open(...$arguments, answerTo: $answerTo));
        $peers->on('online', fn (array $arguments) => $this->online(...$arguments));
        $peers->on('offline', fn (array $arguments) => $this->offline(...$arguments));
        $peers->on('inherit', fn (array $arguments) => $this->inherit(...$arguments));
        $peers->on('ack', fn (array $arguments) => $this->acknowledge(...$arguments));
    }

    /** @return array<string, int> what /stats shows of it */
    public function figures(): array
    {
        return [
            'users' => count($this->online),
            'queue_messages' => array_sum(array_map(static fn (Mailbox $box): int => $box->count(), $this->boxes)),
            'queue_bytes' => $this->kept,
        ];
    }

    public function sendTo(string $user, Letter $letter): int
    {
        $reached = $this->server->sendToUser($user, $letter->frame);
        $this->counters->delivered += $reached;
        return $reached;
    }

    public function pushTo(int $fd, Letter $letter): bool
    {
        return $this->server->push($fd, $letter->frame);
    }

    public function reserve(int $bytes): bool
    {
        if ($this->kept + $bytes > $this->room) {
            return false;
        }
        $this->kept += $bytes;
        return true;
    }

    public function release(int $bytes): void
    {
        $this->kept -= $bytes;
    }

    public function answerDelivered(Letter $letter, bool $queued): void
    {
        $this->peers->answer($letter->answerTo, ['delivered' => $letter->delivered] + ($queued ? ['queued' => true] : []));
        $letter->answered = true;
    }

    public function answerSeen(Letter $letter): void
    {
        $this->peers->answer($letter->answerTo, true);
    }

    public function answerFull(Letter $letter): void
    {
        $this->peers->answer($letter->answerTo, ['full' => true]);
    }

    /** A mailbox has nothing to do; an empty one goes. */
    public function done(Mailbox $box): void
    {
        // Whoever calls this may have waited: another mailbox of the user may stand in its place.
        if ($box->isDone() && ($this->boxes[$box->user] ?? null) === $box) {
            unset($this->boxes[$box->user]);
        }
    }

    /** The process that has replaced this one gets what is kept here. */
    public function handOver(): void
    {
        foreach ($this->boxes as $box) {
            $box->handOver(fn (array $letters) => $this->bequeath($box->user, $letters));
        }
    }

    /** Waits until what other coroutines have begun is done: a worker that leaves waits for none of them by itself. */
    public function settle(): void
    {
        while (array_filter($this->boxes, fn (Mailbox $box): bool => $box->isBusy()) !== []) {
            Coroutine::sleep(self::SETTLE_EVERY);
        }
    }

    /** Drops what is too old. */
    public function dropExpired(): void
    {
        foreach ($this->boxes as $box) {
            $box->dropExpired();
            $this->done($box);
        }
    }

    /** Forgets connections that went with their worker. */
    public function dropGone(): void
    {
        foreach ($this->online as $user => $connections) {
            foreach ($connections as $fd => $_) {
                if (!$this->server->exist($fd)) {
                    $this->offline((string) $user, $fd);
                }
            }
        }
    }

    /** @param array{int, int} $answerTo */
    private function letter(array $arguments, array $answerTo): void
    {
        [$user, $id, $frame, $wantsAck, $mayWait, $expires] = $arguments;
        $this->box($user)->take(new Letter($id, $frame, $wantsAck, $mayWait, $expires, $answerTo));
    }

    /** @param list<Letter> $letters */
    private function bequeath(string $user, array $letters): void
    {
        [$piece, $bytes] = [[], 0];
        foreach ($letters as $letter) {
            if ($bytes + $letter->bytes > self::PIECE && $piece !== []) {
                $this->peers->bequeath('inherit', $user, $piece, false);
                [$piece, $bytes] = [[], 0];
            }
            $piece[] = $letter->export();
            $bytes += $letter->bytes;
        }
        $this->peers->bequeath('inherit', $user, $piece, true);
    }

    /**
     * @param list<list<mixed>> $letters of Letter::export()
     * @param bool $last whether these are the last ones of this user
     */
    private function inherit(string $user, array $letters, bool $last): void
    {
        $this->coming[$user] = ($this->coming[$user] ?? []) + array_column(array_map(Letter::import(...), $letters), null, 'id');
        if ($last) {
            $letters = $this->coming[$user];
            unset($this->coming[$user]);
            $this->box($user)->inherit($letters);
        }
    }

    private function box(string $user): Mailbox
    {
        return $this->boxes[$user] ??= new Mailbox($user, $this);
    }

    /** @param array{int, int} $answerTo */
    private function open(string $user, int $fd, array $answerTo): void
    {
        if (count($this->online[$user] ?? []) >= $this->connectionsPerUser) {
            $this->peers->answer($answerTo, 'full');
            return;
        }
        $this->online[$user][$fd] = true;
        $this->box($user)->welcome($fd, function () use ($user, $fd, $answerTo): void {
            $this->peers->answer($answerTo, $this->server->bind($fd, $user));
        });
    }

    /** @param array<int, array-key> $connections user by connection: open already when this worker came */
    private function online(array $connections): void
    {
        foreach ($connections as $fd => $user) {
            $this->online[$user][$fd] = true;
        }
        foreach ($connections as $user) {
            if (isset($this->boxes[$user])) {
                $this->boxes[$user]->retry();
            }
        }
    }

    private function offline(string $user, int $fd): void
    {
        unset($this->online[$user][$fd]);
        if (($this->online[$user] ?? null) === []) {
            unset($this->online[$user]);
        }
    }

    private function acknowledge(string $user, string $id): void
    {
        $box = $this->boxes[$user] ?? null;
        if ($box?->acknowledge($id)) {
            $this->done($box);
        }
    }
}
