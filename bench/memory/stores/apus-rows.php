<?php

declare(strict_types=1);

namespace Bench;

use Apus\Table;

final class ApusRows extends Local
{
    private Table $visits;

    public function load(string $file, int $count): void
    {
        $this->visits = new Table($count);
        $this->visits->column('location', Table::TYPE_INT, 4);
        $this->visits->column('user', Table::TYPE_INT, 4);
        $this->visits->column('visited_at', Table::TYPE_INT, 4);
        $this->visits->column('mark', Table::TYPE_INT, 1);
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
