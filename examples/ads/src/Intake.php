<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Request;

/** Takes impressions and clicks from programs. */
final readonly class Intake
{
    private const MOST_EVENTS = 1000;
    /** Faults that one answer names. */
    private const MOST_FAULTS = 20;

    public function __construct(private Spool $spool, private Limits $limits) {}

    /**
     * All events of a request are taken, or none.
     * @throws Refusal 400, 415, 422, 429, 503
     */
    public function take(Request $request, Client $client): Answer
    {
        $body = Input::object($request);
        $batch = $this->batch($body);
        $events = $body['events'] ?? null;
        if (!is_array($events) || !array_is_list($events) || $events === [] || count($events) > self::MOST_EVENTS) {
            throw new Refusal(422, 'the request is not valid', ['events' => 'must be a list of 1 to ' . self::MOST_EVENTS . ' events']);
        }
        [$lines, $wrong, $now] = ['', [], time()];
        foreach ($events as $number => $event) {
            $lines .= Event::line($client->id, $event, $batch, $number, $now, $wrong);
            if (count($wrong) >= self::MOST_FAULTS) {
                break;
            }
        }
        if ($wrong !== []) {
            throw new Refusal(422, 'the request is not valid', array_slice($wrong, 0, self::MOST_FAULTS));
        }
        $this->limits->take($client, count($events));
        $this->spool->append($lines);
        return new Answer(202, ['accepted' => count($events)]);
    }

    /** @param array<mixed> $body */
    private function batch(array $body): ?string
    {
        $unknown = array_diff_key($body, ['batch' => 1, 'events' => 1]);
        $wrong = $unknown === [] ? [] : [preg_replace('/[^ -~]/', '?', substr((string) array_key_first($unknown), 0, 50)) => 'is not known'];
        $batch = isset($body['batch']) ? Event::id($body['batch']) : null;
        if (isset($body['batch']) && $batch === null) {
            $wrong['batch'] = 'must be a UUID';
        }
        return $wrong === [] ? $batch : throw new Refusal(422, 'the request is not valid', $wrong);
    }
}
