<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\WebSocket\Server;

/** The mailboxes of the users whose home this worker is, and who of them is connected. */
final class PostOffice
{
    public readonly int $perUser;
    /** Bytes that all mailboxes of this worker may keep: its share of the whole. */
    private readonly int $room;
    private int $kept = 0;
    /** @var array<array-key, Mailbox> by user */
    private array $boxes = [];
    /** @var array<array-key, array<int, true>> connections by user */
    private array $online = [];

    public function __construct(private readonly Server $server, private readonly Peers $peers, public readonly Counters $counters, Config $config)
    {
        $this->perUser = $config->number('queue_per_user');
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
            $box->handOver(fn (array $letters) => $this->peers->bequeath('inherit', $box->user, $letters));
        }
    }

    /** Drops what is too old, and forgets connections that went with their worker. */
    public function sweep(): void
    {
        foreach ($this->boxes as $box) {
            $box->dropExpired();
            $this->done($box);
        }
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

    /** @param list<list<mixed>> $letters of Mailbox::export() */
    private function inherit(string $user, array $letters): void
    {
        $letters = array_map(Letter::import(...), $letters);
        $this->box($user)->inherit(array_column($letters, null, 'id'));
    }

    private function box(string $user): Mailbox
    {
        return $this->boxes[$user] ??= new Mailbox($user, $this);
    }

    /** @param array{int, int} $answerTo */
    private function open(string $user, int $fd, array $answerTo): void
    {
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
