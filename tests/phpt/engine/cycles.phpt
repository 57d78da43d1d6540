--TEST--
The cycle collector counts what each native class holds once, with a table of its properties and without
--FILE--
<?php
/** Constructor arguments of classes that cannot be made without. */
const ARGUMENTS = [
    'Apus\Coroutine\Channel' => [1],
];

function make(ReflectionClass $class): ?object
{
    try {
        return isset(ARGUMENTS[$class->name]) ? $class->newInstanceArgs(ARGUMENTS[$class->name])
            : $class->newInstanceWithoutConstructor();
    } catch (ReflectionException) {
    }
    try {
        return $class->newInstance();
    } catch (Throwable) {
        return null;
    }
}

/** Puts the shared array wherever the object takes one. */
function fill(object $object, array &$shared): int
{
    $count = 0;
    foreach ((new ReflectionObject($object))->getProperties(ReflectionProperty::IS_PUBLIC) as $property) {
        try {
            $property->isStatic() || $property->setValue($object, $shared);
            $count++;
        } catch (Throwable) {
        }
    }
    return $count;
}

$shared = [new stdClass, [str_repeat('shared', 3)]];
$before = serialize($shared);
$made = $filled = 0;
foreach ((new ReflectionExtension('apus'))->getClasses() as $class) {
    if (!$class->isInstantiable() && !$class->isFinal() || $class->isAbstract() || $class->isInterface()
        || $class->isSubclassOf(Throwable::class)) {
        continue;
    }
    foreach ([false, true] as $table) {
        $object = make($class);
        if ($object === null) {
            continue 2;
        }
        $filled += fill($object, $shared);
        $table && get_object_vars($object);
        $cycle = new stdClass;
        $cycle->self = $cycle;
        $cycle->object = $object;
        $made++;
        unset($object, $cycle);
        gc_collect_cycles();
        // What was freed once too often would be used again here.
        $others = array_map(fn(int $n): array => [new stdClass, [str_repeat('others', 3), $n]], range(1, 20));
        if (serialize($shared) !== $before) {
            echo "$class->name: what it shared has changed\n";
        }
        unset($others);
    }
}
echo $made > 60 && $filled > 20 ? "done\n" : "$made made, $filled properties filled\n";
?>
--EXPECT--
done
