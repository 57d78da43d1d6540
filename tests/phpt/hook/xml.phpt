--TEST--
libxml's errors, its mode and its entity loader are the coroutine's own
--EXTENSIONS--
dom
simplexml
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\WaitGroup;
use function Apus\Coroutine\run;
use function Apus\go;

// A document that comes in two parts, with a wait between them.
class Parts
{
    public $context;
    private array $parts;

    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool
    {
        $body = str_contains($path, 'broken') ? '<r><a>x</r>' : '<r><a>x</a></r>';
        $this->parts = [substr($body, 0, 6), substr($body, 6)];
        return true;
    }

    public function stream_read(int $count): string
    {
        Coroutine::sleep(0.002);
        return array_shift($this->parts) ?? '';
    }

    public function stream_eof(): bool
    {
        return $this->parts === [];
    }

    public function stream_stat(): array
    {
        return [];
    }

    public function url_stat(string $path, int $flags): array
    {
        return ['mode' => 0100644];
    }
}
stream_wrapper_register('parts', Parts::class);

function together(int $count, callable $do): array
{
    $results = [];
    $group = new WaitGroup($count);
    for ($i = 0; $i < $count; $i++) {
        go(function () use ($i, $do, &$results, $group) {
            $results[$i] = $do($i);
            $group->done();
        });
    }
    $group->wait();
    ksort($results);
    return $results;
}

/* How many there are for one document depends on the library. */
function errors(): string
{
    static $one = 0;
    $count = count(libxml_get_errors());
    $one = $one ?: $count;
    return $count === $one ? 'its own' : ($count === 0 ? 'none' : "$count and not $one");
}

function load(int $i): string
{
    $loaded = (new DOMDocument)->load('parts://' . ($i % 2 ? 'whole' : 'broken'));
    return ($loaded ? 'whole' : 'broken') . ':' . errors();
}

run(function () {
    echo 'own mode: ', implode(' ', together(4, function (int $i) {
        $before = libxml_use_internal_errors(true);
        $result = load($i);
        Coroutine::sleep(0.001 * $i);
        return $result . ':' . errors() . ':' . var_export(libxml_use_internal_errors($before), true);
    })), "\n";
    echo 'nothing is left: ', var_export(libxml_use_internal_errors(), true), "\n";
    libxml_use_internal_errors(true);
    (new DOMDocument)->load('parts://broken');
    echo 'inherited: ', implode(' ', together(4, 'load')), "\n";
    echo 'kept: ', errors(), "\n";
    echo 'loaders: ', implode(' ', together(3, function (int $i) {
        libxml_set_external_entity_loader(function ($public, $system) use ($i) {
            Coroutine::sleep(0.001 * (4 - $i));
            return fopen("data://text/plain,$i-" . basename($system), 'r');
        });
        $document = new DOMDocument;
        $document->loadXML('<!DOCTYPE r [<!ENTITY e SYSTEM "entity">]><r>&e;</r>', LIBXML_NOENT);
        return $document->textContent;
    })), "\n";
});
libxml_use_internal_errors(true);
(new DOMDocument)->loadXML('<r><a>x</r>');
run(fn () => print('of the script: ' . implode(' ', together(4, 'load')) . "\n"));
echo 'kept: ', errors(), "\n";
?>
--EXPECT--
own mode: broken:its own:its own:true whole:none:none:true broken:its own:its own:true whole:none:none:true
nothing is left: false
inherited: broken:its own whole:none broken:its own whole:none
kept: its own
loaders: 0-entity 1-entity 2-entity
of the script: broken:its own whole:none broken:its own whole:none
kept: its own
