<?php

declare(strict_types=1);

namespace Apus\Symfony;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;
use Apus\Psr\Server as PsrServer;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\HttpKernel\TerminableInterface;
use Symfony\Component\Runtime\RunnerInterface;

/**
 * Serves a kernel: one request at a time in a worker, because a kernel's services keep state of a request; with the
 * superglobals of the request. The kernel boots in each worker.
 */
final class Runner implements RunnerInterface
{
    public function __construct(
        private readonly HttpKernelInterface $kernel,
        private readonly string $host = '127.0.0.1',
        private readonly int $port = 8000,
        private readonly array $settings = [],
    ) {
    }

    public function run(): int
    {
        // Symfony sends the cookie of a session itself.
        ini_set('session.use_cookies', '0');
        $server = new Server($this->host, $this->port);
        $server->set(['superglobals' => true] + $this->settings + PsrServer::ONE_AT_A_TIME);
        $server->on('request', $this->handle(...));
        return $server->start() ? 0 : 1;
    }

    private function handle(Request $request, Response $response): void
    {
        $asked = Messages::request($request);
        [$answer, $printed] = Messages::printed(fn () => $this->kernel->handle($asked));
        Messages::send($answer, $response, $printed);
        if ($this->kernel instanceof TerminableInterface) {
            $this->kernel->terminate($asked, $answer);
        }
    }
}
