<?php

declare(strict_types=1);

namespace Apus\Ads;

final readonly class Creatives extends Records
{
    protected function table(): string
    {
        return 'creatives';
    }

    protected function parent(): string
    {
        return 'campaign';
    }

    protected function read(Input $input): array
    {
        return ['title' => $input->text('title', 200), 'landing_url' => $input->url('landing_url')];
    }
}
