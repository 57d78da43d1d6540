<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Router;
use Apus\RateLimiter;

/**
 * The host that browsers come to: `/c/CREATIVE` counts a click and sends on to the landing page, `/i/CREATIVE` counts an
 * impression and is a picture of one pixel. `?i=UUID` says which impression it is, so that it counts once. A visitor is never
 * kept because something cannot be counted.
 */
final class Clicks
{
    /** The events' client: keys have greater numbers. */
    private const CLIENT = 0;
    private const PIXEL = "GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;";

    public readonly Router $router;

    /** @param RateLimiter $visitors counted clicks and impressions of one address */
    public function __construct(
        private readonly Database $database,
        private readonly Remembered $remembered,
        private readonly Spool $spool,
        private readonly RateLimiter $visitors,
    ) {
        $this->router = new Router;
        $this->router->get('/c/{creative:\d{1,9}}', $this->counted('click', static function (Response $response, array $creative): void {
            $response->redirect($creative['landing_url']);
        }));
        $this->router->get('/i/{creative:\d{1,9}}', $this->counted('impression', static function (Response $response): void {
            $response->header('Content-Type', 'image/gif');
            $response->end(self::PIXEL);
        }));
    }

    private function counted(string $kind, \Closure $show): \Closure
    {
        return function (Request $request, Response $response, array $params) use ($kind, $show): void {
            try {
                $creative = $this->creative((int) $params['creative']);
                if (!$this->count($request, $kind, $creative)) {
                    $response->header('X-Counted', 'no');
                }
                $show($response, $creative);
            } catch (Refusal $refusal) {
                $refusal->answer()->send($response);
            }
        };
    }

    /** @param array{id: int, campaign: int} $creative */
    private function count(Request $request, string $kind, array $creative): bool
    {
        $given = Event::id($request->get['i'] ?? null);
        // A click has an id of its own beside that of its impression.
        $id = $given === null ? bin2hex(random_bytes(16)) : Event::numbered($given, $kind === 'click' ? 1 : 0);
        if ($request->getMethod() !== 'GET' || !$this->visitors->allow($request->server['remote_addr'])) {
            return false;
        }
        $line = implode("\t", [self::CLIENT, $id, Event::KINDS[$kind], $creative['campaign'], $creative['id'], 0, time()]) . "\n";
        try {
            $this->spool->append($line);
            return true;
        } catch (Refusal) {
            return false;
        }
    }

    /** @return array{id: int, campaign: int, landing_url: string} */
    private function creative(int $id): array
    {
        return $this->remembered->get("creative:$id", fn (): ?array
            => $this->database->row('SELECT id, campaign, landing_url FROM creatives WHERE id = ?', [$id])) ?? throw new Refusal(404, 'there is no such creative');
    }
}
