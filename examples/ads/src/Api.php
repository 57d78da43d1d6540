<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Router;

/** The host of the API: its routes, who may use them, and errors as JSON. */
final class Api
{
    public readonly Router $router;

    /** @param \Closure(): int $refresh adds up hours, somewhere else than in this worker */
    public function __construct(
        private readonly Keys $keys,
        private readonly Limits $limits,
        private readonly Intake $intake,
        private readonly Database $database,
        private readonly \Closure $refresh,
    ) {
        $this->router = new Router;
        $this->router->fallback(static fn (Request $request, Response $response, int $status)
            => (new Answer($status, ['error' => $status === 405 ? 'another method is needed: see Allow' : 'there is no such route']))->send($response));
        $this->records();
        $this->events();
    }

    private function records(): void
    {
        [$advertisers, $campaigns, $creatives] = [new Advertisers($this->database), new Campaigns($this->database), new Creatives($this->database)];
        foreach (['advertisers' => $advertisers, 'campaigns' => $campaigns] as $path => $records) {
            $this->router->post("/v1/$path", $this->for('write', static fn (Request $request): Answer => $records->create($request)));
            $this->item("/v1/$path", $records);
        }
        $this->item('/v1/creatives', $creatives);
        $this->router->get('/v1/advertisers', $this->for('read', static fn (Request $request): Answer => $advertisers->list($request)));
        $this->router->get('/v1/campaigns', $this->for('read', static fn (Request $request): Answer
            => $campaigns->list($request, ['advertiser' => Records::number($request->get ?? [], 'advertiser', null, 1, 4_294_967_295)])));
        $this->router->post('/v1/campaigns/{id:\d{1,9}}/creatives', $this->for('write', static fn (Request $request, array $params): Answer
            => $creatives->create($request, ['campaign' => (int) $params['id']])));
        $this->router->get('/v1/campaigns/{id:\d{1,9}}/creatives', $this->for('read', static fn (Request $request, array $params): Answer
            => $creatives->list($request, ['campaign' => (int) $params['id']])));
    }

    private function item(string $path, Records $records): void
    {
        $this->router->get("$path/{id:\\d{1,9}}", $this->for('read', static fn (Request $request, array $params): Answer => $records->one((int) $params['id'])));
        $this->router->patch("$path/{id:\\d{1,9}}", $this->for('write', static fn (Request $request, array $params): Answer
            => $records->change($request, (int) $params['id'])));
    }

    private function events(): void
    {
        $reports = new Reports($this->database);
        // The number of events is what counts: Intake takes it from the client's limit.
        $this->router->post('/v1/events', $this->for('events', fn (Request $request, array $params, Client $client): Answer => $this->intake->take($request, $client), 0));
        $this->router->get('/v1/campaigns/{id:\d{1,9}}/report', $this->for('read', static function (Request $request, array $params) use ($reports): Answer {
            $range = new Input($request->get ?? []);
            [$from, $to] = [$range->date('from'), $range->date('to')];
            $range->check();
            return new Answer(200, $reports->campaign((int) $params['id'], (string) $from, (string) $to));
        }));
        $this->router->post('/v1/reports/refresh', $this->for('admin', fn (): Answer => new Answer(200, ['hours' => ($this->refresh)()])));
        $this->router->get('/health', static fn (Request $request, Response $response) => (new Answer(200, ['ok' => true]))->send($response));
    }

    /**
     * A handler behind a key that has the scope and is within its limit.
     * @param \Closure(Request, array<string, string>, Client): Answer $handler
     */
    private function for(string $scope, \Closure $handler, int $cost = 1): \Closure
    {
        return function (Request $request, Response $response, array $params) use ($scope, $handler, $cost): void {
            try {
                $client = $this->keys->client($request->header['authorization'] ?? null, $request->server['remote_addr']);
                if (!$client->may($scope)) {
                    throw new Refusal(403, "this key has not the scope $scope");
                }
                $this->limits->take($client, $cost);
                $answer = $handler($request, $params, $client);
            } catch (Refusal $refusal) {
                $answer = $refusal->answer();
            }
            $answer->send($response);
        };
    }
}
