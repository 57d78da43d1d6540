<?php

declare(strict_types=1);

namespace Apus\Octane;

class ReloadCommand extends \Laravel\Octane\Commands\ReloadCommand
{
    use ChoosesServer;

    public function handle()
    {
        if (!$this->isApus()) {
            return parent::handle();
        }
        if (!$inspector = $this->running()) {
            return 1;
        }
        $this->info('Reloading workers...');
        $inspector->reloadServer();
        return 0;
    }
}
