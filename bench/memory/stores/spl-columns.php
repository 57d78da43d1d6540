<?php

declare(strict_types=1);

namespace Bench;

final class SplColumns extends Local
{
    private \SplFixedArray $location;
    private \SplFixedArray $user;
    private \SplFixedArray $at;
    private \SplFixedArray $mark;

    public function load(string $file, int $count): void
    {
        foreach (['location', 'user', 'at', 'mark'] as $column) {
            $this->$column = new \SplFixedArray($count + 1);
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
