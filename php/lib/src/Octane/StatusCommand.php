<?php

declare(strict_types=1);

namespace Apus\Octane;

class StatusCommand extends \Laravel\Octane\Commands\StatusCommand
{
    use ChoosesServer;

    public function handle()
    {
        if (!$this->isApus()) {
            return parent::handle();
        }
        if (!$this->running()) {
            return 1;
        }
        $this->info('Octane server is running.');
        return 0;
    }
}
