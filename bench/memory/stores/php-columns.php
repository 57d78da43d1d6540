<?php

declare(strict_types=1);

namespace Bench;

class PhpColumns extends Local
{
    private array|\SplFixedArray $location;
    private array|\SplFixedArray $user;
    private array|\SplFixedArray $at;
    private array|\SplFixedArray $mark;

    /** An empty column with room for that many. */
    protected function column(int $size): array|\SplFixedArray
    {
        return [];
    }

    public function load(string $file, int $count): void
    {
        foreach (['location', 'user', 'at', 'mark'] as $column) {
            $this->$column = $this->column($count + 1);
        }
        foreach ($this->lines($file) as [$id, $location, $user, $at, $mark]) {
            $id = (int) $id;
            $this->location[$id] = (int) $location;
            $this->user[$id] = (int) $user;
            $this->at[$id] = (int) $at;
            $this->mark[$id] = (int) $mark;
        }
    }

    public function read(int $id): int
    {
        [$location, $user, $at, $mark] = [$this->location[$id], $this->user[$id], $this->at[$id], $this->mark[$id]];
        return $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->mark[$id] = $mark;
    }
}
