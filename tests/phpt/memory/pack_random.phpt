--TEST--
pack(): random values come back; bytes changed at random never crash unpack(), nor make it take memory without bound
--FILE--
<?php
use function Apus\{pack, unpack};

class P {
    public $a;
    protected $b;
    private $c;
    public ?P $typed = null;
    public int $number = 0;
    public function fill($a, $b, $c) { [$this->a, $this->b, $this->c] = [$a, $b, $c]; return $this; }
}
class U {
    public $data;
    public function __serialize(): array { return [$this->data, 'k' => 1]; }
    public function __unserialize(array $d): void { $this->data = $d[0] ?? null; }
}
class W { public $a; public $b; public function __sleep() { return ['b']; } public function __wakeup() {} }
enum E { case A; case B; }

$engine = new class((int) (getenv('APUS_TEST_SEED') ?: 20261122)) {
    public array $objects = [];
    public function __construct(private int $state) {}
    public function below(int $bound): int
    {
        $this->state = ($this->state * 1103515245 + 12345) & 0x7fffffff;
        return ($this->state >> 8) % $bound;
    }
    public function text(): string
    {
        return match ($this->below(5)) {
            0 => '', 1 => 'key'
                . $this->below(20), 2 => chr($this->below(256)), 3 =>
                    str_repeat(chr($this->below(256)), $this->below(600)),
            4 => "\0*\0b",
        };
    }
    public function value(int $depth): mixed
    {
        switch ($this->below($depth > 0 ? 14 : 7)) {
            case 0: return null;
            case 1: return (bool) $this->below(2);
            case 2: return $this->below(256) - 128;
            case 3: return ($this->below(1 << 22) << $this->below(40)) * ($this->below(2) ? 1 : -1);
            case 4: return $this->below(1000) / 8 ** $this->below(10) / 3;
            case 5: case 6: return $this->text();
            case 7: return range($this->below(5), $this->below(300));
            case 8: return $this->below(2) ? E::A : E::B;
            case 9: return $this->objects && $this->below(2) ? $this->objects[$this->below(count($this->objects))]
                : null;
            case 10: return $this->object($depth);
            case 11:
                $list = [];
                for ($n = $this->below(20); $n > 0; $n--) {
                    $list[] = $this->value($depth - 1);
                }
                return $list;
            case 12:
                $map = [];
                for ($n = $this->below(20); $n > 0; $n--) {
                    $map[$this->below(2) ? $this->below(50) - 20 : $this->text()] = $this->value($depth - 1);
                }
                return $map;
            default:
                $value = $this->value($depth - 1);
                $array = ['x' => &$value, 'y' => [&$value]];
                if ($this->below(3) === 0) {
                    $value = ['inside' => &$array, 1];
                }
                return $array;
        }
    }
    private function object(int $depth): object
    {
        $object = match ($this->below(4)) { 0 => new P, 1 => new U, 2 => new W, 3 => new stdClass };
        $this->objects[] = $object;
        if ($object instanceof P) {
            $object->fill($this->value($depth - 1), $this->value($depth - 1), $this->text());
            $object->typed = $this->below(2) ? $object : null;
        } elseif ($object instanceof U) {
            $object->data = $this->value($depth - 1);
        } else {
            $object->a = $this->value($depth - 1);
            $object->b = $this->value($depth - 1);
        }
        return $object;
    }
};
set_error_handler(fn () => true);
$rounds = (int) (getenv('APUS_TEST_ROUNDS') ?: 300);
$counts = ['packed' => 0, 'the same' => 0, 'corrupted' => 0, 'refused' => 0];
for ($round = 0; $round < $rounds; $round++) {
    $engine->objects = [];
    $value = $engine->value(4);
    $packed = pack($value);
    $counts['packed']++;
    $again = pack(unpack($packed));
    if ($again === $packed) {
        $counts['the same']++;
    } else {
        echo "round $round: not the same\n", bin2hex($packed), "\n", bin2hex($again), "\n";
    }
    for ($change = 0; $change < 20; $change++) {
        $bytes = $packed;
        for ($n = 1 + $engine->below(3); $n > 0; $n--) {
            $at = 1 + $engine->below(max(1, strlen($bytes) - 1));
            $bytes = match ($engine->below(4)) {
                0 => substr_replace($bytes, chr($engine->below(256)), $at, 1),
                1 => substr_replace($bytes, chr($engine->below(256)), $at, 0),
                2 => substr_replace($bytes, '', $at, 1 + $engine->below(4)),
                3 => substr_replace($bytes, substr($bytes, $engine->below(strlen($bytes)), $engine->below(40)), $at, 0),
            };
        }
        $counts['corrupted']++;
        try {
            $result = unpack($bytes);
            // Whatever came out is a value like any other.
            pack($result);
            unset($result);
        } catch (Throwable $e) {
            $counts['refused']++;
        }
    }
}
gc_collect_cycles();
echo $counts['packed'] === $rounds && $counts['the same'] === $rounds ? "all the same\n" : "lost some\n";
echo $counts["refused"] > $counts["corrupted"] / 3 ? "many refused\n" : json_encode($counts) . "\n";
echo memory_get_peak_usage() < 64 << 20 ? "bounded\n" : memory_get_peak_usage();
?>
--EXPECT--
all the same
many refused
bounded
