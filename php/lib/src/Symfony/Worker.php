<?php

declare(strict_types=1);

namespace Apus\Symfony;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\HttpKernel\TerminableInterface;
use Symfony\Component\Runtime\RunnerInterface;

/**
 * Answers requests by a kernel that boots once in each process of `apus serve --worker public/index.php`; Symfony
 * resets its services between two of them.
 */
final class Worker implements RunnerInterface
{
    public function __construct(private readonly HttpKernelInterface $kernel)
    {
    }

    public function run(): int
    {
        // What the environment and Dotenv have set is not a request's.
        $kept = array_filter($_SERVER, fn (string $name) => !str_starts_with($name, 'HTTP_'), ARRAY_FILTER_USE_KEY);
        $request = $response = null;
        $handle = function () use ($kept, &$request, &$response): void {
            $_SERVER += $kept;
            $request = Request::createFromGlobals();
            $response = $this->kernel->handle($request);
            $response->send();
        };
        while (\Apus\handle_request($handle)) {
            if ($this->kernel instanceof TerminableInterface && $request !== null && $response !== null) {
                $this->kernel->terminate($request, $response);
            }
            $request = $response = null;
            gc_collect_cycles();
        }
        return 0;
    }
}
