<?php

declare(strict_types=1);

namespace Apus\Octane;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server as HttpServer;
use Apus\Process;
use Apus\Table;
use Apus\Timer;
use Laravel\Octane\ApplicationFactory;
use Laravel\Octane\Contracts\DispatchesTasks;
use Laravel\Octane\RequestContext;
use Laravel\Octane\Stream;
use Laravel\Octane\Worker;

/**
 * The server's process. What is loaded before the workers start is not loaded anew at a reload: only this class.
 */
final class Server
{
    private const TICK = 'octane-tick';

    private readonly HttpServer $server;

    /** The configuration of Octane. */
    private readonly array $octane;

    private readonly Table $cache;

    /** The workers that handle a request: since when. */
    private readonly Table $busy;

    /** @var array<string, Table> */
    private array $tables = [];

    private ?Worker $worker = null;

    private ?Client $client = null;

    /** When the request that is handled began, in nanoseconds. */
    private int $begin = 0;

    public function __construct(private readonly array $state, private readonly string $stateFile)
    {
        $this->octane = $state['octaneConfig'];
        $this->server = new HttpServer($state['host'], $state['port']);
        $processors = max(1, (int) shell_exec('nproc'));
        $this->server->set(['superglobals' => true] + ($this->octane['apus']['options'] ?? []) + [
            'worker_num' => $state['workers'] ?? $processors,
            'task_worker_num' => $state['taskWorkers'] ?? $processors,
            'max_request' => $state['maxRequests'],
            'task_max_request' => $state['maxRequests'],
            'package_max_length' => '10M',
            'max_concurrency' => 1,
            // With one request at a time nobody else waits for a busy one.
            'blocked_loop_warn' => 0,
        ]);
        $this->makeTables();
        $this->watch((int) ($this->octane['max_execution_time'] ?? 0));
        foreach (['start', 'workerstart', 'workerstop', 'request', 'task', 'finish'] as $event) {
            $this->server->on($event, $this->$event(...));
        }
    }

    public function run(): void
    {
        $this->server->start();
    }

    private function makeTables(): void
    {
        $cache = $this->octane['cache'] ?? [];
        $this->cache = self::table($cache['rows'] ?? 1000, [
            'value' => 'string:' . ($cache['bytes'] ?? 10000), 'expiration' => 'int',
        ]);
        $this->busy = self::table(1024, ['since' => 'int']);
        foreach ($this->octane['tables'] ?? [] as $name => $columns) {
            [$name, $rows] = explode(':', $name) + [1 => 1000];
            $this->tables[$name] = self::table((int) $rows, $columns);
        }
    }

    /** @param array<string, string> $columns as in config/octane.php: a type, and of strings their most bytes */
    private static function table(int $rows, array $columns): Table
    {
        $table = new Table($rows);
        foreach ($columns as $name => $column) {
            [$type, $size] = explode(':', $column) + [1 => 1000];
            match ($type) {
                'string' => $table->column($name, Table::TYPE_STRING, (int) $size),
                'int' => $table->column($name, Table::TYPE_INT),
                'float' => $table->column($name, Table::TYPE_FLOAT),
            };
        }
        $table->create();
        return $table;
    }

    /** A process that kills the workers whose request takes longer; new ones take their places. */
    private function watch(int $seconds): void
    {
        if ($seconds === 0) {
            return;
        }
        $this->server->addProcess(new Process(function () use ($seconds): void {
            while (true) {
                sleep(1);
                foreach ($this->busy as $pid => $row) {
                    if (time() - $row['since'] > $seconds) {
                        $this->busy->del((string) $pid);
                        posix_kill((int) $pid, SIGKILL);
                    }
                }
            }
        }));
    }

    private function start(HttpServer $server): void
    {
        $state = ['masterProcessId' => $server->master_pid, 'state' => $this->state];
        file_put_contents($this->stateFile, json_encode($state, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES), LOCK_EX);
    }

    private function workerstart(HttpServer $server, int $id): void
    {
        foreach (['apcu_clear_cache', 'opcache_reset'] as $function) {
            function_exists($function) && $function();
        }
        $_ENV['APP_RUNNING_IN_CONSOLE'] = false;
        require_once "{$this->state['basePath']}/vendor/autoload.php";
        try {
            $this->client = new Client();
            $this->worker = new Worker(new ApplicationFactory($this->state['basePath']), $this->client);
            $this->worker->boot([
                'octane.cacheTable' => $this->cache,
                'apus.tables' => $this->tables,
                HttpServer::class => $server,
                DispatchesTasks::class => new TaskDispatcher($server),
            ]);
        } catch (\Throwable $why) {
            Stream::shutdown($why);
            $server->shutdown();
            return;
        }
        $this->worker->onRequestHandled($this->handled(...));
        if ($id === 0 && $server->setting['task_worker_num'] > 0 && ($this->octane['tick'] ?? true)) {
            Timer::tick(1000, fn () => $server->task(self::TICK));
        }
    }

    private function workerstop(): void
    {
        $this->worker?->terminate();
    }

    private function request(Request $request, Response $response): void
    {
        $this->begin = hrtime(true);
        $me = (string) getmypid();
        $this->busy->set($me, ['since' => time()]);
        try {
            $this->worker->handle(...$this->client->marshalRequest(new RequestContext([
                'swooleRequest' => $request, 'swooleResponse' => $response,
                'publicPath' => $this->state['publicPath'], 'octaneConfig' => $this->octane,
            ])));
        } finally {
            $this->busy->del($me);
        }
    }

    /** For the terminal of the command that started the server. */
    private function handled($request, $response, $sandbox): void
    {
        if ($sandbox->environment('local', 'testing')) {
            $milliseconds = (hrtime(true) - $this->begin) / 1e6;
            Stream::request($request->getMethod(), $request->fullUrl(), $response->getStatusCode(), $milliseconds);
        }
    }

    private function task(HttpServer $server, int $id, int $from, mixed $data): mixed
    {
        return $data === self::TICK ? $this->worker->handleTick() : $this->worker->handleTask($data);
    }

    /** Needed by none, and asked for by dispatch(). */
    private function finish(): void
    {
    }
}
