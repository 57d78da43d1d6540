<?php

// Size and time of one value as bytes: php measure.php WRITE READ VALUE MILLISECONDS, the functions of a format, a value
// that programs send between processes, and the length of a measurement. The last line is JSON: bytes, and the
// microseconds of writing and of reading, the best of seven runs.

final class Tag
{
    public function __construct(public string $name, protected int $weight = 1) {}
}

final class Article
{
    private array $comments = [];
    public ?Article $related = null;

    public function __construct(
        public int $id,
        public string $title,
        public array $tags,
        public readonly float $score,
    ) {}

    public function comment(string $author, string $text): void
    {
        $this->comments[] = (object) ['author' => $author, 'text' => $text, 'article' => $this];
    }
}

function row(int $id): array
{
    return [
        'id' => $id,
        'email' => "user$id@example.com",
        'name' => "Name Number $id",
        'active' => $id % 3 > 0,
        'balance' => $id * 1.25,
        'created_at' => 1700000000 + $id * 60,
        'country' => ['de', 'fr', 'us', 'jp'][$id % 4],
        'referrer' => null,
    ];
}

function graph(): array
{
    $tags = array_map(fn ($name) => new Tag($name), ['php', 'rust', 'network', 'cache', 'queue']);
    $articles = [];
    for ($id = 0; $id < 50; $id++) {
        $both = [$tags[$id % 5], $tags[($id + 2) % 5]];
        $articles[] = $article = new Article($id, "An article, number $id", $both, $id / 7);
        $article->comment("author" . $id % 9, "What I always wanted to say about $id");
        $article->related = $articles[intdiv($id, 2)];
    }
    return $articles;
}

$values = [
    'task' => [
        'type' => 'mail.send',
        'to' => 'someone@example.com',
        'template' => 'welcome',
        'user_id' => 123456,
        'attempt' => 1,
    ],
    'integers' => array_map(fn ($n) => $n * 7919 % 100003, range(1, 1000)),
    'rows' => array_map('row', range(1, 100)),
    'configuration' => [
        'debug' => false,
        'name' => 'shop',
        'database' => [
            'driver' => 'mysql',
            'hosts' => ['db1.internal', 'db2.internal', 'db3.internal'],
            'port' => 3306,
            'pool' => ['minimum' => 2, 'maximum' => 20, 'timeout' => 2.5],
        ],
        'cache' => [
            'driver' => 'shared',
            'bytes' => 67108864,
            'ttl' => ['default' => 60, 'user' => 300, 'page' => 3600],
        ],
        'mail' => ['host' => 'smtp.internal', 'port' => 25, 'from' => 'shop@example.com', 'retries' => 3],
        'features' => ['search' => true, 'wishlist' => true, 'reviews' => false, 'express' => true],
        'locales' => ['de' => 'Deutsch', 'en' => 'English', 'fr' => 'Français'],
    ],
    'objects' => graph(),
    'page' => str_repeat('<p>Some text of a page that was rendered before.</p>', 400),
];

/** Microseconds of one call, the best of seven runs. */
function time_of(callable $do, mixed $argument, float $milliseconds): float
{
    $best = INF;
    $rounds = 1;
    for ($run = 0; $run < 7;) {
        $begin = hrtime(true);
        for ($n = 0; $n < $rounds; $n++) {
            $do($argument);
        }
        $taken = (hrtime(true) - $begin) / 1e6;
        if ($taken < $milliseconds / 7 / 2) {
            $rounds *= 2;
            continue;
        }
        $best = min($best, $taken / $rounds * 1000);
        $run++;
    }
    return round($best, 3);
}

[, $write, $read, $which, $milliseconds] = $argv;
$value = $values[$which];
$bytes = $write($value);
echo json_encode([
    'bytes' => strlen($bytes),
    'write_us' => time_of($write, $value, (float) $milliseconds),
    'read_us' => time_of($read, $bytes, (float) $milliseconds),
    'wrong' => serialize($read($bytes)) !== serialize($value),
]), "\n";
