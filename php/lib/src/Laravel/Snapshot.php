<?php

declare(strict_types=1);

namespace Apus\Laravel;

use Illuminate\Contracts\Foundation\Application;

/**
 * The properties of a container and of the objects in it, as they are now. The objects that those hold in turn are not
 * looked into, and neither are static properties.
 */
final class Snapshot
{
    /** @var list<array{\Closure, array<string, mixed>}> what sets properties of one class of an object, and to what */
    private array $saved = [];

    /** @param list<string> $kept names of services that are left as they are */
    public function __construct(Application $app, array $kept = [])
    {
        $ids = array_map(fn (string $name) => $app->getAlias($name), $kept);
        $instances = \Closure::bind(fn (): array => $this->instances, $app, $app::class)();
        $seen = [spl_object_id($app) => true];
        $this->save($app);
        foreach ($instances as $id => $instance) {
            if (!is_object($instance) || in_array($id, $ids, true) || isset($seen[spl_object_id($instance)])) {
                continue;
            }
            $seen[spl_object_id($instance)] = true;
            $this->save($instance);
        }
    }

    public function restore(): void
    {
        foreach ($this->saved as [$set, $values]) {
            $set($values);
        }
    }

    private function save(object $object): void
    {
        for ($class = new \ReflectionClass($object); $class && !$class->isInternal(); $class = $class->getParentClass()) {
            $values = [];
            foreach ($class->getProperties() as $property) {
                $own = $property->getDeclaringClass()->name === $class->name && !$property->isStatic();
                if ($own && !$property->isReadOnly() && $property->isInitialized($object)) {
                    $values[$property->name] = $property->getValue($object);
                }
            }
            if ($values !== []) {
                $this->saved[] = [self::setter($object, $class->name), $values];
            }
        }
    }

    private static function setter(object $object, string $class): \Closure
    {
        $set = function (array $values): void {
            foreach ($values as $name => $value) {
                $this->$name = $value;
            }
        };
        return \Closure::bind($set, $object, $class);
    }
}
