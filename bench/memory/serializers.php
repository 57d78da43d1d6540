<?php
/**
 * Size and time of Apus\pack() beside PHP's serialize(), igbinary and json_encode(), on values that programs send between processes.
 *
 *     php -n -d extension=libapus.so -d extension=igbinary bench/memory/serializers.php [milliseconds a measurement, default 100]
 *
 * Prints JSON: for each value and format the bytes, and the microseconds of writing and of reading, the best of seven runs. A format that does not give the value back
 * (JSON of objects) is left out.
 */

final class Tag
{
    public function __construct(public string $name, protected int $weight = 1) {}
}

final class Article
{
    private array $comments = [];
    public ?Article $related = null;

    public function __construct(public int $id, public string $title, public array $tags, public readonly float $score) {}

    public function comment(string $author, string $text): void
    {
        $this->comments[] = (object) ['author' => $author, 'text' => $text, 'article' => $this];
    }
}

function row(int $id): array
{
    return ['id' => $id, 'email' => "user$id@example.com", 'name' => "Name Number $id", 'active' => $id % 3 > 0, 'balance' => $id * 1.25, 'created_at' => 1700000000 + $id * 60,
        'country' => ['de', 'fr', 'us', 'jp'][$id % 4], 'referrer' => null];
}

function graph(): array
{
    $tags = array_map(fn ($name) => new Tag($name), ['php', 'rust', 'network', 'cache', 'queue']);
    $articles = [];
    for ($id = 0; $id < 50; $id++) {
        $articles[] = $article = new Article($id, "An article, number $id", [$tags[$id % 5], $tags[($id + 2) % 5]], $id / 7);
        $article->comment("author" . $id % 9, "What I always wanted to say about $id");
        $article->related = $articles[intdiv($id, 2)];
    }
    return $articles;
}

$values = [
    'a task of five members' => ['type' => 'mail.send', 'to' => 'someone@example.com', 'template' => 'welcome', 'user_id' => 123456, 'attempt' => 1],
    'a list of 1,000 integers' => array_map(fn ($n) => $n * 7919 % 100003, range(1, 1000)),
    '100 rows of eight members' => array_map('row', range(1, 100)),
    'a nested configuration' => ['debug' => false, 'name' => 'shop', 'database' => ['driver' => 'mysql', 'hosts' => ['db1.internal', 'db2.internal', 'db3.internal'], 'port' => 3306, 'pool' => ['minimum' => 2, 'maximum' => 20, 'timeout' => 2.5]],
        'cache' => ['driver' => 'shared', 'bytes' => 67108864, 'ttl' => ['default' => 60, 'user' => 300, 'page' => 3600]], 'mail' => ['host' => 'smtp.internal', 'port' => 25, 'from' => 'shop@example.com', 'retries' => 3],
        'features' => ['search' => true, 'wishlist' => true, 'reviews' => false, 'express' => true], 'locales' => ['de' => 'Deutsch', 'en' => 'English', 'fr' => 'Français']],
    'a graph of 105 objects' => graph(),
    'a page of 20,000 bytes' => str_repeat('<p>Some text of a page that was rendered before.</p>', 400),
];
$formats = ['Apus\pack' => ['Apus\pack', 'Apus\unpack'], 'serialize' => ['serialize', 'unserialize']];
if (function_exists('igbinary_serialize')) {
    $formats['igbinary'] = ['igbinary_serialize', 'igbinary_unserialize'];
}
$formats['json'] = [fn ($value) => json_encode($value), fn ($text) => json_decode($text, true)];

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

$milliseconds = (float) ($argv[1] ?? 100);
$results = [];
foreach ($values as $what => $value) {
    foreach ($formats as $format => [$write, $read]) {
        $bytes = $write($value);
        if (!is_string($bytes) || serialize($read($bytes)) !== serialize($value)) {
            continue;
        }
        $results[$what][$format] = ['bytes' => strlen($bytes), 'write_us' => time_of($write, $value, $milliseconds), 'read_us' => time_of($read, $bytes, $milliseconds)];
    }
}
echo json_encode(['php' => PHP_VERSION, 'igbinary' => phpversion('igbinary'), 'results' => $results], JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES), "\n";
