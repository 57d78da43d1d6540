--TEST--
Table: signatures are those that subclasses of the peer's class are written for
--FILE--
<?php
use Apus\{ColumnTable, Table};

foreach ((new ReflectionClass(Table::class))->getMethods() as $method) {
    $parameters = array_map(
        fn($p) => trim("{$p->getType()} \${$p->getName()}") . ($p->isOptional() ? ' = ' . var_export($p->getDefaultValue(), true) : ''),
        $method->getParameters(),
    );
    $ours = ['index', 'insert', 'update', 'getdel', 'cmpset', 'clear', 'find', 'range', 'countRange', 'fetch', 'select', 'loadJson', 'loadCsv', 'deferIndexes', 'buildIndexes', 'save', 'restore'];
    if (!in_array($method->getName(), $ours)) {
        echo $method->getName(), '(', implode(', ', $parameters), ')', $method->hasReturnType() ? ": {$method->getReturnType()}" : '', "\n";
    }
}
$class = new ReflectionClass(Table::class);
var_dump($class->isFinal(), $class->getConstants() === (new ReflectionClass(ColumnTable::class))->getConstants());
foreach ($class->getConstants() as $name => $value) {
    echo "$name = $value\n";
}
?>
--EXPECT--
__construct(int $table_size, float $conflict_proportion = 0.2)
column(string $name, int $type, int $size = 0): bool
create(): bool
destroy(): bool
set(string $key, array $value): bool
get(string $key, ?string $field = NULL): array|string|int|float|false
del(string $key): bool
delete(string $key): bool
exists(string $key): bool
exist(string $key): bool
incr(string $key, string $column, int|float $incrby = 1): int|float
decr(string $key, string $column, int|float $incrby = 1): int|float
count(): int
getSize(): int
getMemorySize(): int
stats(): array|false
rewind(): void
valid(): bool
next(): void
current(): mixed
key(): mixed
bool(false)
bool(true)
TYPE_INT = 1
TYPE_FLOAT = 2
TYPE_STRING = 3
TYPE_UINT8 = 16
TYPE_INT8 = 17
TYPE_UINT16 = 18
TYPE_INT16 = 19
TYPE_UINT32 = 20
TYPE_INT32 = 21
TYPE_UINT64 = 22
TYPE_INT64 = 23
TYPE_DICTIONARY = 32
TYPE_DICTIONARY32 = 33
