<?php

declare(strict_types=1);

namespace Bench;

final class SplRows extends Local
{
    private \SplFixedArray $visits;

    public function load(string $file, int $count): void
    {
        $this->visits = new \SplFixedArray($count + 1);
        foreach ($this->lines($file) as [$id, $location, $user, $at, $mark]) {
            $visit = new \SplFixedArray(4);
            [$visit[0], $visit[1], $visit[2], $visit[3]] = [(int) $location, (int) $user, (int) $at, (int) $mark];
            $this->visits[(int) $id] = $visit;
        }
    }

    public function read(int $id): int
    {
        $visit = $this->visits[$id];
        [$location, $user, $at, $mark] = [$visit[0], $visit[1], $visit[2], $visit[3]];
        return $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->visits[$id][3] = $mark;
    }
}
