<?php

declare(strict_types=1);

namespace Apus\Octane;

use Laravel\Octane\Commands\StartSwooleCommand;
use Laravel\Octane\Swoole\ServerProcessInspector;
use Laravel\Octane\Swoole\ServerStateFile;
use Laravel\Octane\Swoole\SwooleExtension;
use Symfony\Component\Process\Process;

/** `octane:apus`: starts the server in a process of its own, and shows what it says, as Octane does with others. */
class Command extends StartSwooleCommand
{
    public $signature = 'octane:apus
                    {--host= : The IP address the server should bind to}
                    {--port= : The port the server should be available on}
                    {--workers=auto : The number of workers that should be available to handle requests}
                    {--task-workers=auto : The number of task workers that should be available to handle tasks}
                    {--max-requests=500 : The number of requests to process before reloading the server}
                    {--watch : Automatically reload the server when the application is modified}
                    {--poll : Use file system polling while watching in order to watch files over a network}';

    public $description = 'Start the Octane Apus server';

    /** The parameters are those of the command that it extends; another server needs none of them. */
    public function handle(
        ServerProcessInspector $inspector,
        ServerStateFile $serverStateFile,
        SwooleExtension $extension,
    ) {
        $own = app(Inspector::class);
        if ($own->serverIsRunning()) {
            $this->error('Server is already running.');
            return 1;
        }
        $own->write(['state' => $this->state()]);
        $this->forgetEnvironmentVariables();
        $line = [...$this->php(), dirname(__DIR__, 2) . '/bin/octane', $own->path()];
        $environment = ['APP_ENV' => app()->environment(), 'APP_BASE_PATH' => base_path(), 'LARAVEL_OCTANE' => 1];
        $server = new Process($line, base_path(), $environment, null, null);
        $server->start();
        return $this->runServer($server, $own, 'apus');
    }

    /** What runs PHP with the module: the command `apus`, or this PHP, where it has the module by its php.ini. */
    private function php(): array
    {
        return config('octane.apus.command') ?? [PHP_BINARY, ...config('octane.apus.php_options', [])];
    }

    private function state(): array
    {
        return [
            'host' => $this->getHost(),
            'port' => (int) $this->getPort(),
            'workers' => $this->number('workers'),
            'taskWorkers' => $this->number('task-workers'),
            'maxRequests' => (int) $this->option('max-requests'),
            'basePath' => base_path(),
            'publicPath' => public_path(),
            'octaneConfig' => config('octane'),
        ];
    }

    /** A number of workers; "auto" is the server's own choice, which is null. */
    private function number(string $option): ?int
    {
        return $this->option($option) === 'auto' ? null : (int) $this->option($option);
    }

    protected function stopServer()
    {
        $this->callSilent('octane:stop', ['--server' => 'apus']);
    }
}
