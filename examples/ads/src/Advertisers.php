<?php

declare(strict_types=1);

namespace Apus\Ads;

final readonly class Advertisers extends Records
{
    protected function table(): string
    {
        return 'advertisers';
    }

    protected function read(Input $input): array
    {
        return ['name' => $input->text('name', 200), 'email' => $input->email('email')];
    }
}
