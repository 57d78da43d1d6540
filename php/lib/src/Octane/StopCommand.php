<?php

declare(strict_types=1);

namespace Apus\Octane;

class StopCommand extends \Laravel\Octane\Commands\StopCommand
{
    use ChoosesServer;

    public function handle()
    {
        if (!$this->isApus()) {
            return parent::handle();
        }
        $inspector = $this->running();
        $inspector && $this->info('Stopping server...');
        return $inspector?->stopServer() ? 0 : 1;
    }
}
