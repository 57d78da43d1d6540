<?php

declare(strict_types=1);

namespace Apus\Ads;

final readonly class Campaigns extends Records
{
    protected function table(): string
    {
        return 'campaigns';
    }

    protected function parent(): string
    {
        return 'advertiser';
    }

    protected function read(Input $input): array
    {
        $row = [
            'advertiser' => $input->number('advertiser', 1, 4_294_967_295),
            'name' => $input->text('name', 200),
            'state' => $input->choice('state', ['active', 'paused', 'ended'], 'paused'),
            'budget_cents' => $input->number('budget_cents', 0, 1_000_000_000_000),
            'starts_on' => $input->date('starts_on'),
            'ends_on' => $input->date('ends_on', optional: true),
        ];
        if ($row['ends_on'] !== null && $row['starts_on'] !== null && $row['ends_on'] < $row['starts_on']) {
            $input->wrong('ends_on', 'must not be before starts_on');
        }
        return $row;
    }
}
