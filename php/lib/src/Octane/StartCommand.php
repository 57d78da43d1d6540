<?php

declare(strict_types=1);

namespace Apus\Octane;

class StartCommand extends \Laravel\Octane\Commands\StartCommand
{
    use ChoosesServer;

    public function handle()
    {
        if (!$this->isApus()) {
            return parent::handle();
        }
        $options = [];
        foreach (['workers', 'task-workers', 'max-requests', 'watch', 'poll'] as $name) {
            $options["--$name"] = $this->option($name);
        }
        return $this->call('octane:apus', ['--host' => $this->getHost(), '--port' => $this->getPort()] + $options);
    }
}
