--TEST--
array_multisort() and Collator::sort() with a __toString() that waits: one coroutine after another is in them
--EXTENSIONS--
intl
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

class Text
{
    public function __construct(public string $text, private float $wait = 0.001) {}

    public function __toString(): string
    {
        Coroutine::sleep($this->wait);
        return $this->text;
    }
}

$list = fn () => array_map(fn ($text) => new Text($text), ['3', '10', '2', '1']);
$show = fn (array $texts) => implode(',', array_map(fn ($text) => $text->text, $texts));
run(function () use ($list, $show) {
    $group = new Coroutine\WaitGroup;
    $sorts = [
        function () use ($list) {
            $texts = $list();
            array_multisort($texts, SORT_ASC, SORT_STRING);
            return $texts;
        },
        function () use ($list) {
            $texts = $list();
            array_multisort($texts, SORT_DESC, SORT_STRING);
            return $texts;
        },
        function () use ($list) {
            // Another order of the same call's own, inside it.
            $texts = [new Text('b'), new Text('a')];
            $more = array_map(fn ($text) => new class($text) extends Text {
                public function __toString(): string
                {
                    $inner = ['y', 'x'];
                    array_multisort($inner);
                    return $this->text . $inner[0];
                }
            }, ['b', 'a']);
            usort($more, fn ($a, $b) => (string) $a <=> (string) $b);
            return $more;
        },
    ];
    foreach (['en', 'sv'] as $locale) {
        $sorts[] = function () use ($locale) {
            $texts = [new Text('z'), new Text("\u{e4}"), new Text('a')];
            (new Collator($locale))->sort($texts, Collator::SORT_STRING);
            return $texts;
        };
    }
    $results = [];
    foreach ($sorts as $nr => $sort) {
        for ($i = 0; $i < 3; $i++) {
            $group->add();
            go(function () use ($sort, $nr, $show, $group, &$results) {
                $results[$nr][] = $show($sort());
                $group->done();
            });
        }
    }
    $group->wait();
    ksort($results);
    foreach ($results as $nr => $texts) {
        echo $nr, ': ', implode(' ', array_unique($texts)), "\n";
    }
    // Who waits for its turn can be cancelled, and the next one gets it.
    $texts = $list();
    $first = go(fn () => array_multisort($texts, SORT_STRING));
    $second = go(function () use ($list) {
        $texts = $list();
        try {
            array_multisort($texts, SORT_STRING);
        } catch (Coroutine\CanceledException) {
            echo "cancelled\n";
        }
    });
    $third = go(function () use ($list, $show) {
        $texts = $list();
        array_multisort($texts, SORT_STRING);
        echo $show($texts), "\n";
    });
    Coroutine::cancel($second, true);
});
?>
--EXPECT--
0: 1,10,2,3
1: 3,2,10,1
2: a,b
3: a,ä,z
4: a,z,ä
cancelled
1,10,2,3
