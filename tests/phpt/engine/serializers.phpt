--TEST--
serialize(), unserialize(), json_encode(), var_export() and __toString() whose callbacks wait, interleaved
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function nap() { Coroutine::sleep(0.0001 * random_int(0, 3)); }
class Part {
    public function __construct(public int $n, public ?Part $next = null) {}
    public function __serialize(): array { nap(); return ['n' => $this->n, 'next' => $this->next]; }
    public function __unserialize(array $data): void { nap(); $this->n = $data['n']; $this->next = $data['next']; }
}
class Old {
    public $n; public $same; private $hidden = 'h';
    public function __sleep() { nap(); return ['n', 'same']; }
    public function __wakeup() { nap(); $this->hidden = 'woken'; }
    public function hidden() { return $this->hidden; }
}
class Json implements JsonSerializable {
    public function __construct(private int $n, private ?Json $next = null) {}
    public function jsonSerialize(): mixed { nap(); return ['n' => $this->n, 'next' => $this->next]; }
}
class Text { public function __construct(private $n) {} public function __toString(): string { nap(); return "text $this->n"; } }

$bad = 0; $done = 0;
run(function () use (&$bad, &$done) {
    for ($i = 0; $i < 100; $i++) {
        go(function () use ($i, &$bad, &$done) {
            $part = new Part($i, new Part($i + 1, new Part($i + 2)));
            $pair = [$part, $part, $part->next];
            $back = unserialize(serialize($pair));
            $ok = $back[0] === $back[1] && $back[0]->next === $back[2] && $back[2]->next->n === $i + 2;
            $old = new Old; $old->n = $i; $old->same = $old;
            $old = unserialize(serialize($old));
            $ok = $ok && $old->same === $old && $old->n === $i && $old->hidden() === 'woken';
            $ok = $ok && json_encode([new Json($i, new Json(1)), $i]) === "[{\"n\":$i,\"next\":{\"n\":1,\"next\":null}},$i]";
            $ok = $ok && (new Text($i) . "|" . implode(",", [new Text(1), new Text(2)])) === "text $i|text 1,text 2";
            $nested = unserialize(serialize([new Part(1), unserialize(serialize(new Part($i)))]));
            $ok = $ok && $nested[1]->n === $i;
            $done++;
            $bad += $ok ? 0 : 1;
        });
    }
});
echo "$done done, $bad wrong\n";
?>
--EXPECT--
100 done, 0 wrong
