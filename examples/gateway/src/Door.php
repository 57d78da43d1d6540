<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\Http\Request;

/** Who may come in. */
final class Door
{
    public function __construct(private readonly Config $config)
    {
    }

    /** @throws Refusal 401, 403, or 400 for a name that cannot be one */
    public function visitor(Request $request): Visitor
    {
        $token = $request->get['token'] ?? null;
        // A browser sends its cookies along for pages of any site; a token in the address only a page that knows it can have written.
        $this->checkOrigin($request, is_string($token));
        $token ??= $request->cookie[$this->config->text('cookie')] ?? '';
        $secret = $this->config->text('secret');
        if ($secret !== '' && is_string($token) && $token !== '') {
            return Token::verify($secret, $token, time());
        }
        if ($this->config->on('development') && isset($request->get['user'])) {
            return new Visitor(Name::user($request->get['user']));
        }
        throw new Refusal(401, $secret === ''
            ? 'name yourself: ?user=…'
            : "a token is needed, as ?token=… or in the cookie {$this->config->text('cookie')}");
    }

    /**
     * The topics that a connection has from its start: those of ?topics=a,b, or else those that its token names.
     * @return list<string>
     * @throws Refusal 400, 403
     */
    public function topics(Request $request, Visitor $visitor): array
    {
        $asked = $request->get['topics'] ?? null;
        $topics = is_string($asked) && $asked !== '' ? array_unique(explode(',', $asked)) : $visitor->topics;
        if (count($topics) > $this->config->number('max_topics')) {
            throw new Refusal(403, "at most {$this->config->number('max_topics')} topics");
        }
        foreach ($topics as $topic) {
            $this->checkTopic($visitor, Name::topic($topic));
        }
        return array_values($topics);
    }

    /** @throws Refusal 403 */
    public function checkTopic(Visitor $visitor, string $topic): void
    {
        if (!$this->config->on('open_topics') && !in_array($topic, $visitor->topics, true)) {
            throw new Refusal(403, "the token does not name the topic $topic");
        }
    }

    /** @throws Refusal 403 for a page of another site */
    private function checkOrigin(Request $request, bool $anyWhereNoneAreNamed): void
    {
        $origin = $request->header['origin'] ?? null;
        $allowed = $this->config->list('origins');
        $fits = $allowed === [] ? $anyWhereNoneAreNamed || self::isSameOrigin($request) : in_array($origin, $allowed, true);
        if ($origin !== null && !$fits) {
            throw new Refusal(403, "pages of $origin may not connect: the setting origins does not name it");
        }
    }

    /** Whether a page of the gateway's own asks, or no page at all. */
    public static function isSameOrigin(Request $request): bool
    {
        $origin = $request->header['origin'] ?? null;
        return $origin === null || preg_replace('~^https?://~', '', $origin) === ($request->header['host'] ?? '');
    }
}
