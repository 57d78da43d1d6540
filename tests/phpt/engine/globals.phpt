--TEST--
A walk over what C code keeps in globals while PHP code that it calls waits: every call has the result that it has alone
--EXTENSIONS--
dom
mbstring
simplexml
tokenizer
xml
xsl
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

/* Others run here, those who are in the same function with other arguments among them. */
function pause(int $i = 0): void
{
    if (Coroutine::getCid() > 0) {
        Coroutine::sleep(0.0005 * (1 + $i));
    }
}

class Text
{
    public function __construct(public string $text, public int $i) {}
    public function __toString(): string { pause($this->i); return $this->text; }
}

class Node implements JsonSerializable, IteratorAggregate, Countable
{
    public function __construct(public mixed $value, public int $i) {}
    public function jsonSerialize(): mixed { pause($this->i); return $this->value; }
    public function __serialize(): array { pause($this->i); return [$this->value, $this->i]; }
    public function __unserialize(array $data): void { [$this->value, $this->i] = $data; pause($this->i); }
    public function getIterator(): Iterator { foreach ([1, 2] as $n) { pause($this->i); yield $n + $this->i; } }
    public function count(): int { pause($this->i); return $this->i; }
    public function __get(string $name): string { pause($this->i); return "$name$this->i"; }
    public function __debugInfo(): array { pause($this->i); return ['i' => $this->i]; }
    public function twice(string $text): string { pause($this->i); return $text . $text; }
}

class Upper extends php_user_filter
{
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = stream_bucket_make_writeable($in)) {
            pause($this->params);
            $bucket->data = strtoupper($bucket->data) . $this->params;
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
}
stream_filter_register('upper', Upper::class);

class Wrapper
{
    public $context;
    private string $data = '';
    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool {
        pause(strlen($path) % 3);
        $this->data = $path;
        return !str_contains($path, 'not');
    }
    public function stream_read(int $count): string { pause(); [$read, $this->data] = [$this->data, '']; return $read; }
    public function stream_eof(): bool { return $this->data === ''; }
    public function stream_stat(): array { return []; }
    public function url_stat(string $path, int $flags): array {
        pause(strlen($path) % 3);
        return ['mode' => 0100644, 'size' => strlen($path)];
    }
    public function dir_opendir(string $path, int $options): bool { pause(); $this->data = $path; return true; }
    public function dir_readdir(): string|false {
        pause();
        [$read, $this->data] = [$this->data, ''];
        return $read ?: false;
    }
}
stream_wrapper_register('walk', Wrapper::class);

$words = fn (int $i) => array_map(fn ($text) => new Text("$text$i", $i), ['c', 'a', 'b']);
$walk = [
    'usort' => function (int $i) {
        $list = [3, 1, 2];
        usort($list, function ($a, $b) use ($i) { pause($i); return $i % 2 ? $a <=> $b : $b <=> $a; });
        return $list;
    },
    'sort' => function (int $i) use ($words) {
        $list = $words($i);
        sort($list, SORT_STRING);
        return array_column($list, 'text');
    },
    'array_multisort' => function (int $i) use ($words) {
        $list = $words($i);
        array_multisort($list, $i % 2 ? SORT_DESC : SORT_ASC, SORT_STRING);
        return array_column($list, 'text');
    },
    'array_udiff' => fn (int $i) => array_udiff([1, 2, 3 + $i], [2], function ($a, $b) use ($i) { pause($i); return $a <=> $b; }),
    'array_unique' => fn (int $i) => count(array_unique([new Text('a', $i), new Text('a', $i), new Text("b$i", $i)])),
    'array_walk_recursive' => function (int $i) {
        $a = [1, [2, 3]];
        array_walk_recursive($a, function (&$v) use ($i) { pause($i); $v += $i; });
        return $a;
    },
    'json_encode' => fn (int $i) => json_encode(new Node([1, new Node([[[]]], $i)], $i)),
    'json_encode, its depth' => fn (int $i) => json_encode([new Node(1, $i), [[[$i]]]], 0, $i === 1 ? 2 : 512) . json_last_error_msg(),
    'json_encode, errors' => fn (int $i) => json_encode([new Node($i === 1 ? "\xff" : 'fine', $i)], JSON_PARTIAL_OUTPUT_ON_ERROR),
    'serialize' => fn (int $i) => serialize([$node = new Node("v$i", $i), $node]),
    'unserialize' => fn (int $i) => unserialize(serialize([$node = new Node("v$i", $i), $node]))[1]->value,
    'var_export' => fn (int $i) => var_export([new Text("x$i", $i), [$i]], true),
    'print_r' => fn (int $i) => print_r(new Node([], $i), true),
    'preg_replace_callback' => fn (int $i) => preg_replace_callback(
        '/\d/',
        function ($m) use ($i) { pause($i); preg_match('/(x)(y)?/', 'x'); return "<$m[0]$i>"; },
        'a1b2',
    ),
    'preg_replace_callback_array' => fn (int $i) => preg_replace_callback_array(
        ['/a/' => function () use ($i) { pause($i); return "b$i"; }, '/b/' => fn () => 'c'],
        'aba',
    ),
    'str_replace' => fn (int $i) => str_replace(['a', new Text("b$i", $i)], new Text('-', $i), "a b0 b1 b2"),
    'sprintf' => fn (int $i) => vsprintf('%s/%s', [new Text("l$i", $i), new Text("r$i", $i)]),
    'implode' => fn (int $i) => implode(',', [new Text("a$i", $i), new Text("b$i", $i)]),
    'output callbacks' => function (int $i) { ob_start(fn ($text) => strrev($text)); echo "abc$i"; pause($i); return ob_get_clean(); },
    'strtok' => function (int $i) {
        $got = [strtok("a$i b$i c$i", ' ')];
        while (($word = strtok(' ')) !== false) { pause($i); $got[] = $word; }
        return $got;
    },
    'stream wrappers' => fn (int $i) => [file_get_contents('walk://same'), file_get_contents("walk://x$i"), filesize("walk://" . str_repeat('y', $i)), scandir("walk://d$i")],
    'errors of wrappers' => function (int $i) {
        set_error_handler(function ($type, $text) use (&$seen) { $seen = $text; return true; });
        file_get_contents("walk://not$i");
        restore_error_handler();
        return $seen;
    },
    'stream filters' => function (int $i) {
        $f = fopen('php://memory', 'w+');
        stream_filter_append($f, 'upper', STREAM_FILTER_WRITE, $i);
        fwrite($f, "text$i");
        rewind($f);
        return stream_get_contents($f);
    },
    'include' => function (int $i) { $f = @eval("return function (\$a = 1, \$b) { return 'eval$i' . \$b; };"); return $f(1, 2); },
    'iterators' => fn (int $i) => [
        iterator_to_array(new Node(0, $i)),
        iterator_count(new Node(0, $i)),
        count(new Node(0, $i)),
        array_sum([...new Node(0, $i)]),
    ],
    'properties' => fn (int $i) => [(new Node(0, $i))->some, (new Node(0, $i))->other ?? null],
    'filter_var' => fn (int $i) => filter_var("v$i", FILTER_CALLBACK, ['options' => function ($v) use ($i) { pause($i); return "<$v>"; }]),
    'mb_ereg' => fn (int $i) => function_exists('mb_ereg_replace_callback') ? mb_ereg_replace_callback(
        '[0-9]',
        function ($m) use ($i) { pause($i); return "<$m[0]$i>"; },
        'a1b2',
    ) : null,
    'mb_substitute' => fn (int $i) => mb_strtoupper((string) new Text("ä$i", $i)),
    'xml parsers' => function (int $i) {
        $seen = '';
        $p = xml_parser_create();
        xml_set_element_handler(
            $p,
            function ($p, $n) use (&$seen, $i) { pause($i); $seen .= "<$n"; },
            function () use (&$seen, $i) { pause($i); $seen .= '>'; },
        );
        xml_parse($p, "<a><b$i/></a>", true);
        return $seen;
    },
    'xpath' => function (int $i) {
        $d = new DOMDocument;
        $d->loadXML("<r><a>x$i</a></r>");
        $x = new DOMXPath($d);
        $x->registerNamespace('php', 'http://php.net/xpath');
        $x->registerPhpFunctions('twice');
        return $x->evaluate('php:functionString("twice", /r/a)');
    },
    'xslt' => function (int $i) {
        $s = new DOMDocument;
        $s->loadXML('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:php="http://php.net/xsl"><xsl:template match="/"><o><xsl:value-of select="php:function(\'twice\', string(/r))"/></o></xsl:template></xsl:stylesheet>');
        $d = new DOMDocument;
        $d->loadXML("<r>y$i</r>");
        $p = new XSLTProcessor;
        $p->registerPHPFunctions();
        $p->importStylesheet($s);
        return strip_tags($p->transformToXml($d));
    },
    'libxml errors' => function (int $i) {
        $old = libxml_use_internal_errors(true);
        (new DOMDocument)->loadXML($i % 2 ? '<a>' : '<a/>');
        pause($i);
        $n = count(libxml_get_errors());
        libxml_clear_errors();
        libxml_use_internal_errors($old);
        return $n;
    },
    'autoload' => function (int $i) { class_exists("Missing$i"); return class_exists("Made$i"); },
    'ini files' => fn (int $i) => parse_ini_string("[s$i]\na = $i\nb[] = x\nb[] = y", true),
    'tokens' => fn (int $i) => count(token_get_all("<?php f($i, " . str_repeat('1,', $i) . ');')),
    'parse_str' => function (int $i) { parse_str("a[]=$i&a[]=2&b[c]=$i", $out); pause($i); return $out; },
    'date errors' => function (int $i) {
        DateTime::createFromFormat('Y', $i === 1 ? 'not' : '2020');
        return DateTime::getLastErrors()['error_count'] ?? 0;
    },
];
function twice(string $text): string { pause(strlen($text) % 3); return $text . $text; }
spl_autoload_register(function (string $class) {
    pause();
    str_starts_with($class, 'Made') && !class_exists($class, false) && eval("class $class {}");
});

$alone = [];
foreach ($walk as $name => $do) {
    for ($i = 0; $i < 3; $i++) {
        $alone[$name][$i] = $do($i);
    }
}
$wrong = [];
run(function () use ($walk, $alone, &$wrong) {
    for ($round = 0; $round < 2; $round++) {
        for ($i = 0; $i < 3; $i++) {
            foreach ($walk as $name => $do) {
                go(function () use ($name, $do, $i, $alone, &$wrong) {
                    try {
                        $got = $do($i);
                    } catch (Throwable $e) {
                        $got = get_class($e) . ': ' . $e->getMessage();
                    }
                    if ($got !== $alone[$name][$i]) {
                        $wrong[] = "$name($i): " . var_export($got, true) . ' instead of ' . var_export($alone[$name][$i], true);
                    }
                });
            }
        }
    }
});
echo count($walk), " walked, ", count($wrong), " wrong\n", implode("\n", $wrong);
?>
--EXPECT--
38 walked, 0 wrong
