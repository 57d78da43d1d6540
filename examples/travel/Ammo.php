<?php

declare(strict_types=1);

namespace Apus\Travel;

/**
 * Requests for a data set in three phases: GET, POST, GET. In the second no record is met twice, so the state after it
 * does not depend on the order in which the requests arrive.
 */
final class Ammo
{
    private const KINDS = ['users', 'locations', 'visits'];
    private const HEAD = "Host: travels.com\r\nUser-Agent: ammo/1.0\r\nAccept: */*\r\n";

    /** @var array<string, int[]> ids that the second phase has written */
    private array $touched = ['users' => [], 'locations' => [], 'visits' => []];
    /** @var array<string, int> greatest id of each kind */
    private array $greatest;

    public function __construct(private readonly DataSet $set)
    {
        $this->greatest = ['users' => $set->users, 'locations' => $set->locations, 'visits' => $set->visits];
    }

    public function write(string $directory, int $gets, int $posts, int $getsAfter): void
    {
        mt_srand(crc32("ammo {$this->set->seed}"));
        $this->phase("$directory/phase_1_get.ammo", $gets, fn (): array => $this->get());
        $number = 0;
        $this->phase("$directory/phase_2_post.ammo", $posts, function () use (&$number): array {
            return $this->post($number++);
        });
        $this->phase("$directory/phase_3_get.ammo", $getsAfter, fn (): array => $this->get());
    }

    private function phase(string $path, int $count, callable $make): void
    {
        $file = fopen($path, 'w');
        for ($i = 0; $i < $count; $i++) {
            [$tag, $request] = $make();
            fwrite($file, strlen($request) . " $tag\n$request\n");
        }
        fclose($file);
    }

    private function get(): array
    {
        $dice = mt_rand(0, 99);
        [$kind, $what] = match (true) {
            $dice < 20 => ['users', ''],
            $dice < 35 => ['locations', ''],
            $dice < 45 => ['visits', ''],
            $dice < 78 => ['users', '/visits'],
            default => ['locations', '/avg'],
        };
        $query = $what === '' ? '' : $this->query($what);
        return self::request('GET', "/$kind/" . $this->id($kind) . $what . ($query === '' ? '' : "?$query"), null);
    }

    /** An id that is there, but for one in twelve. */
    private function id(string $kind): string
    {
        $dice = mt_rand(0, 99);
        if ($dice < 3) {
            return 'bad';
        }
        if ($dice < 8) {
            return (string) ($this->greatest[$kind] * 2 + mt_rand(1, 10_000));
        }
        $touched = $this->touched[$kind];
        return (string) ($touched !== [] && $dice < 50 ? $touched[mt_rand(0, count($touched) - 1)] : mt_rand(1, max(1, $this->greatest[$kind])));
    }

    private function query(string $what): string
    {
        $fields = [];
        foreach (['fromDate', 'toDate'] as $name) {
            if (mt_rand(0, 2) === 0) {
                $fields[$name] = mt_rand(...DataSet::VISITS);
            }
        }
        if ($what === '/visits') {
            mt_rand(0, 3) === 0 && $fields['country'] = DataSet::COUNTRIES[mt_rand(0, count(DataSet::COUNTRIES) - 1)];
            mt_rand(0, 3) === 0 && $fields['toDistance'] = mt_rand(0, 110);
        } else {
            mt_rand(0, 3) === 0 && $fields['fromAge'] = mt_rand(10, 60);
            mt_rand(0, 3) === 0 && $fields['toAge'] = mt_rand(20, 90);
            mt_rand(0, 3) === 0 && $fields['gender'] = mt_rand(0, 1) ? 'm' : 'f';
        }
        if ($fields !== [] && mt_rand(0, 39) === 0) {
            $fields[array_rand($fields)] = mt_rand(0, 1) ? '' : 'abc';
            unset($fields['country']);
        }
        mt_rand(0, 9) === 0 && $fields['query_id'] = mt_rand(0, 99_999);
        return http_build_query($fields, '', '&', PHP_QUERY_RFC3986);
    }

    private function post(int $number): array
    {
        $kind = self::KINDS[mt_rand(0, 2)];
        $new = mt_rand(0, 3) === 0;
        $id = $new ? ++$this->greatest[$kind] : $this->untouched($kind, $number);
        $fields = match ($kind) {
            'users' => DataSet::user($id),
            'locations' => DataSet::location(),
            'visits' => $this->set->visit(),
        };
        if ($kind === 'users') {
            $fields['email'] = "n$number.{$fields['email']}";
        }
        if (mt_rand(0, 9) === 0) {
            $fields = $this->spoil($fields);
        } elseif (!$new) {
            foreach (array_keys($fields) as $name) {
                count($fields) > 1 && mt_rand(0, 1) && $fields = array_diff_key($fields, [$name => 0]);
            }
        }
        $this->touched[$kind][] = $id;
        $path = "/$kind/" . ($new ? 'new' : $id) . "?query_id=$number";
        return self::request('POST', $path, json_encode(($new ? ['id' => $id] : []) + $fields, mt_rand(0, 1) ? 0 : JSON_UNESCAPED_UNICODE));
    }

    /** The next id in an order without repetitions: steps that share no divisor with the number of records. */
    private function untouched(string $kind, int $number): int
    {
        $count = match ($kind) {
            'users' => $this->set->users,
            'locations' => $this->set->locations,
            'visits' => $this->set->visits,
        };
        if ($number >= $count) {
            return 2 * $count + 100_000 + $number;
        }
        $step = (int) ($count * 0.618) | 1;
        while (self::divisor($step, $count) > 1) {
            $step += 2;
        }
        return $number * $step % $count + 1;
    }

    private static function divisor(int $a, int $b): int
    {
        return $b === 0 ? $a : self::divisor($b, $a % $b);
    }

    /** One field is made wrong. */
    private function spoil(array $fields): array
    {
        $name = array_rand($fields);
        $fields[$name] = match (mt_rand(0, 2)) {
            0 => null,
            1 => is_int($fields[$name]) ? 'text' : 7,
            default => is_int($fields[$name]) ? 1.5 : str_repeat('ж', 101),
        };
        if ($name === 'place' && is_string($fields[$name])) {
            $fields[$name] = [];
        }
        return $fields;
    }

    private static function request(string $method, string $target, ?string $body): array
    {
        $tag = "$method:" . preg_replace('~^(/[a-z]+)/[^/]+~', '$1/<entity_id>', strtok($target, '?'));
        $head = "$method $target HTTP/1.1\r\n" . self::HEAD;
        return [$tag, $body === null
            ? $head . "Connection: keep-alive\r\n\r\n"
            : $head . "Connection: close\r\nContent-Type: application/json\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body"];
    }
}
