<?php

declare(strict_types=1);

namespace Bench;

final class PhpRows extends Local
{
    private array $visits = [];

    public function load(string $file, int $count): void
    {
        foreach ($this->lines($file) as [$id, $location, $user, $at, $mark]) {
            $this->visits[(int) $id] = ['location' => (int) $location, 'user' => (int) $user, 'visited_at' => (int) $at, 'mark' => (int) $mark];
        }
    }

    public function read(int $id): int
    {
        ['location' => $location, 'user' => $user, 'visited_at' => $at, 'mark' => $mark] = $this->visits[$id];
        return $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->visits[$id]['mark'] = $mark;
    }
}
