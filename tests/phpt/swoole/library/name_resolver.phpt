--TEST--
swoole_name_resolver_lookup() asks resolvers in their order, and gives the nodes of a service one after the other
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\NameResolver;
use Swoole\NameResolver\Cluster;
use Swoole\NameResolver\Context;

class Known extends NameResolver
{
    public int $asked = 0;

    public function __construct(private string $of, private mixed $found)
    {
    }

    public function join(string $name, string $ip, int $port, array $options = []): bool
    {
        return true;
    }

    public function leave(string $name, string $ip, int $port): bool
    {
        return true;
    }

    public function getCluster(string $name): ?Cluster
    {
        return null;
    }

    public function lookup(string $name)
    {
        ++$this->asked;
        return $name === $this->of ? (is_callable($this->found) ? ($this->found)() : $this->found) : null;
    }
}

$single = new Known('single', ['host' => '127.0.0.9', 'port' => 90, 'weight' => 100]);
$text = new Known('text', '127.0.0.8');
$several = new Known('several', function () {
    $cluster = new Cluster();
    $cluster->add('127.0.0.1', 1001);
    $cluster->add('127.0.0.1', 1002);
    return $cluster;
});
foreach ([$single, $text, $several] as $resolver) {
    var_dump(swoole_name_resolver_add($resolver));
}
var_dump(swoole_name_resolver_lookup('single', new Context()));
var_dump(swoole_name_resolver_lookup('single', new Context(AF_INET, true)));
var_dump(swoole_name_resolver_lookup('text', new Context(AF_INET, true)));

$context = new Context(AF_INET, true);
$nodes = [swoole_name_resolver_lookup('several', $context), swoole_name_resolver_lookup('several', $context)];
sort($nodes);
echo implode(' ', $nodes), ' ', $several->asked, "\n";
// All were tried: it is asked again.
var_dump(str_starts_with(swoole_name_resolver_lookup('several', $context), '127.0.0.1:100'), $several->asked);

var_dump(swoole_name_resolver_remove($single), swoole_name_resolver_remove($single));
// What no resolver knows is looked up as any name: an address is one already.
var_dump(swoole_name_resolver_lookup('127.0.0.7', new Context()));
Co\run(fn () => var_dump(swoole_name_resolver_lookup('127.0.0.7', new Context())));
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
string(9) "127.0.0.9"
string(12) "127.0.0.9:90"
string(9) "127.0.0.8"
127.0.0.1:1001 127.0.0.1:1002 1
bool(true)
int(2)
bool(true)
bool(false)
string(9) "127.0.0.7"
string(9) "127.0.0.7"
