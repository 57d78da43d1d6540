<?php

declare(strict_types=1);

namespace Bench;

require_once __DIR__ . '/apus-columns.php';

/** As the travel service has them: with the visits of a user and of a location in order of time. */
final class ApusIndexed extends ApusColumns
{
    protected function fill(\Apus\ColumnTable $visits, string $file): void
    {
        $visits->index('user', ['user', 'visited_at']);
        $visits->index('location', ['location', 'visited_at']);
        $visits->create();
        $visits->deferIndexes();
        $visits->loadCsv($file);
        $visits->buildIndexes();
    }
}
