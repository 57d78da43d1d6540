<?php

declare(strict_types=1);

namespace Bench;

use Apus\ColumnTable;

class ApusColumns extends Local
{
    private ColumnTable $visits;

    public function load(string $file, int $count): void
    {
        $this->visits = new ColumnTable($count);
        $this->visits->column('location', ColumnTable::TYPE_UINT32);
        $this->visits->column('user', ColumnTable::TYPE_UINT32);
        $this->visits->column('visited_at', ColumnTable::TYPE_INT32);
        $this->visits->column('mark', ColumnTable::TYPE_UINT8);
        $this->fill($this->visits, $file);
    }

    protected function fill(ColumnTable $visits, string $file): void
    {
        $visits->create();
        $visits->loadCsv($file);
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
