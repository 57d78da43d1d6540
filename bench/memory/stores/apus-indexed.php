<?php

declare(strict_types=1);

namespace Bench;

use Apus\ColumnTable;

/** As the travel service has them: with the visits of a user and of a location in order of time. */
final class ApusIndexed extends Local
{
    private ColumnTable $visits;

    public function load(string $file, int $count): void
    {
        $this->visits = new ColumnTable($count);
        $this->visits->column('location', ColumnTable::TYPE_UINT32);
        $this->visits->column('user', ColumnTable::TYPE_UINT32);
        $this->visits->column('visited_at', ColumnTable::TYPE_INT32);
        $this->visits->column('mark', ColumnTable::TYPE_UINT8);
        $this->visits->index('user', ['user', 'visited_at']);
        $this->visits->index('location', ['location', 'visited_at']);
        $this->visits->create();
        $this->visits->deferIndexes();
        $this->visits->loadCsv($file);
        $this->visits->buildIndexes();
    }

    public function read(int $id): int
    {
        ['location' => $location, 'user' => $user, 'visited_at' => $at, 'mark' => $mark] = $this->visits->get($id);
        return $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->visits->update($id, ['mark' => $mark]);
    }

    public function shared(): bool
    {
        return true;
    }
}
