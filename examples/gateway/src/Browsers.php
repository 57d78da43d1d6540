<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\Http\Request;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

/** The browsers whose connections this worker holds. */
final class Browsers
{
    /** Connections that one message tells another worker of. */
    private const AT_ONCE = 256;
    private const OPCODE_TEXT = 1;
    /** Close code, of those that are an application's own. */
    private const TOO_MANY = 4429;
    /** Seconds in which a user's home binds a connection. */
    private const PATIENCE = 3.0;

    /** @var array<int, Visitor> by connection */
    private array $visitors = [];
    /** @var array<int, array<string, true>> topics of each connection */
    private array $topics = [];

    public function __construct(private readonly Server $server, private readonly Peers $peers, private readonly Door $door, private readonly Config $config)
    {
        $peers->on('hello', fn (array $arguments, array $answerTo) => $this->announce($answerTo[0]));
    }

    public function count(): int
    {
        return count($this->visitors);
    }

    /** @param list<string> $topics */
    public function open(int $fd, Visitor $visitor, array $topics): void
    {
        $this->visitors[$fd] = $visitor;
        $this->topics[$fd] = array_fill_keys($topics, true);
        $this->server->subscribe($fd, Desk::EVERYBODY);
        foreach ($topics as $topic) {
            $this->server->subscribe($fd, "topic/$topic");
        }
        // The home binds it, after it has sent what waits: so nothing newer comes before that.
        $bound = $this->peers->ask(self::PATIENCE, $this->peers->home($visitor->user), 'open', $visitor->user, $fd);
        if ($bound === null) {
            // That worker is just being replaced. Its successor will ask who is here.
            $this->server->bind($fd, $visitor->user);
        } elseif ($bound === 'full') {
            $this->server->disconnect($fd, self::TOO_MANY, 'too many connections of this user');
        }
    }

    public function close(int $fd): void
    {
        $visitor = $this->visitors[$fd] ?? null;
        unset($this->visitors[$fd], $this->topics[$fd]);
        if ($visitor !== null) {
            $this->peers->tell($this->peers->home($visitor->user), 'offline', $visitor->user, $fd);
        }
    }

    public function message(Frame $frame): void
    {
        $visitor = $this->visitors[$frame->fd] ?? null;
        if ($visitor === null) {
            return;
        }
        try {
            $this->order($frame->fd, $visitor, $frame->opcode === self::OPCODE_TEXT ? json_decode($frame->data, true, 4) : null);
        } catch (Refusal $refusal) {
            $this->server->push($frame->fd, json_encode(['error' => $refusal->getMessage()]));
        }
    }

    private function order(int $fd, Visitor $visitor, mixed $order): void
    {
        if (is_string($order['ack'] ?? null)) {
            $this->peers->tell($this->peers->home($visitor->user), 'ack', $visitor->user, $order['ack']);
        } elseif (isset($order['subscribe'])) {
            $this->subscribe($fd, $visitor, Name::topic($order['subscribe']));
        } elseif (isset($order['unsubscribe'])) {
            $topic = Name::topic($order['unsubscribe']);
            unset($this->topics[$fd][$topic]);
            $this->server->unsubscribe($fd, "topic/$topic");
        } else {
            throw new Refusal(400, 'say {"ack":id}, {"subscribe":topic} or {"unsubscribe":topic}');
        }
    }

    private function subscribe(int $fd, Visitor $visitor, string $topic): void
    {
        $this->door->checkTopic($visitor, $topic);
        $this->topics[$fd][$topic] = true;
        if (count($this->topics[$fd]) > $this->config->number('max_topics')) {
            unset($this->topics[$fd][$topic]);
            throw new Refusal(403, "at most {$this->config->number('max_topics')} topics");
        }
        $this->server->subscribe($fd, "topic/$topic");
    }

    /** A worker has come anew: it is told who of its users is here. */
    private function announce(int $worker): void
    {
        $users = array_map(static fn (Visitor $visitor): string => $visitor->user, $this->visitors);
        $its = array_filter($users, fn (string $user): bool => $this->peers->home($user) === $worker);
        foreach (array_chunk($its, self::AT_ONCE, true) as $some) {
            $this->peers->tell($worker, 'online', $some);
        }
    }
}
