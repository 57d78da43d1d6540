<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Request;
use Apus\Http\Response;

/** What the host of the dashboard has no file for: where its page finds the API. */
final class Site
{
    public static function answer(Request $request, Response $response, string $apiHost): void
    {
        $port = parse_url('http://' . ($request->header['host'] ?? ''), PHP_URL_PORT);
        $answer = $request->server['path_info'] === '/api.json'
            ? new Answer(200, ['api' => "http://$apiHost" . ($port === null ? '' : ":$port")])
            : new Answer(404, ['error' => 'not found']);
        $answer->send($response);
    }
}
