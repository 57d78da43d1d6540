<?php

declare(strict_types=1);

namespace Apus\Octane;

use Apus\Symfony\Messages;
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Laravel\Octane\OctaneResponse;
use Laravel\Octane\RequestContext;
use Laravel\Octane\Swoole\SwooleClient;

/**
 * How Octane's worker gets requests and sends answers. Static files are served by what it extends: the methods of a
 * response that it calls have the same names.
 */
final class Client extends SwooleClient
{
    public function marshalRequest(RequestContext $context): array
    {
        return [Request::createFromBase(Messages::request($context->swooleRequest)), $context];
    }

    public function respond(RequestContext $context, OctaneResponse $octaneResponse): void
    {
        Messages::send($octaneResponse->response, $context->swooleResponse, (string) $octaneResponse->outputBuffer);
    }

    public function error(\Throwable $e, Application $app, Request $request, RequestContext $context): void
    {
        $context->swooleResponse->status(500);
        parent::error($e, $app, $request, $context);
    }
}
