<?php

declare(strict_types=1);

namespace Bench;

class ApusRows extends Local
{
    /** The class of the table: Swoole's has the same methods. */
    protected const TABLE = 'Apus\Table';
    private object $visits;

    public function load(string $file, int $count): void
    {
        $this->visits = new (static::TABLE)($count);
        foreach (['location' => 4, 'user' => 4, 'visited_at' => 4, 'mark' => 1] as $name => $bytes) {
            $this->visits->column($name, (static::TABLE)::TYPE_INT, $bytes);
        }
        $this->visits->create();
        foreach ($this->lines($file) as [$id, $location, $user, $at, $mark]) {
            $this->visits->set($id, ['location' => (int) $location, 'user' => (int) $user, 'visited_at' => (int) $at, 'mark' => (int) $mark]);
        }
    }

    public function read(int $id): int
    {
        ['location' => $location, 'user' => $user, 'visited_at' => $at, 'mark' => $mark] = $this->visits->get((string) $id);
        return $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->visits->set((string) $id, ['mark' => $mark]);
    }

    public function shared(): bool
    {
        return true;
    }
}
