"""The cache and the rate limiter that workers share: one producer for many requests, death of a producer, the
example."""

import concurrent.futures
import json
import os
import signal
import unittest

from support import ROOT, Case, php_array, until

BEFORE = """
$cache = new Apus\\Cache(1 << 20);
$limiter = new Apus\\RateLimiter(100, 20, 36000);
"""
SCRIPT = """<?php
use Apus\\Coroutine;
use Apus\\Http\\{Request, Response, Server};
%s
$server = new Server('127.0.0.1', 0);
$server->set(%s);
$server->on('request', function (Request $request, Response $response) use ($cache, $limiter) {
    $get = $request->get ?? [];
    $answer = match ($request->server['request_uri']) {
        '/slow' => $cache->remember('slow', 60, function () use ($cache) {
            $cache->increment('made');
            // Long enough that all requests are there before it is ready: the test lets it go.
            while (!$cache->has('go')) {
                Coroutine::sleep(0.005);
            }
            return ['made by' => getmypid()];
        }, -1),
        '/dies' => $cache->remember('dies', 60, function () use ($cache) {
            if ($cache->increment('attempts') === 1) {
                $cache->set('victim', getmypid());
                Coroutine::sleep(60);
            }
            return getmypid();
        }, -1),
        '/throws' => (function () use ($cache) {
            try {
                return $cache->remember('throws', 60, function () use ($cache) {
                    $number = $cache->increment('throwers');
                    Coroutine::sleep(0.02);
                    return $number < 3 ? throw new Exception("producer $number") : "producer $number";
                });
            } catch (Exception $e) {
                return 'threw ' . $e->getMessage();
            }
        })(),
        '/get' => $cache->get($get['key']),
        '/set' => $cache->set($get['key'], $get['value']),
        '/limit' => $limiter->allow('all'),
    };
    $response->end(json_encode([$answer, getmypid()]));
});
$server->start();
"""


class SharedCache(Case):
    def start(self, **settings):
        settings = {"worker_num": 4, "blocked_loop_warn": 0, **settings}
        return self.serve(script=SCRIPT % (BEFORE, php_array(settings)))

    def ask(self, server, path):
        answer = server.get(path)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def at_once(self, server, path, count):
        pool = concurrent.futures.ThreadPoolExecutor(count)
        self.addCleanup(pool.shutdown)
        return [pool.submit(self.ask, server, path) for _ in range(count)]

    def test_200_requests_make_a_value_once(self):
        server = self.start()
        asked = self.at_once(server, "/slow", 200)
        until("all 200 requests are being answered", lambda: server.status()["totals"]["active"] >= 200)
        self.ask(server, "/set?key=go&value=1")
        answers = [future.result() for future in asked]
        self.assertEqual(len({json.dumps(value) for value, _ in answers}), 1, "all have the same value")
        self.assertGreater(len({worker for _, worker in answers}), 1, "and are of several workers")
        self.assertEqual(self.ask(server, "/get?key=made")[0], 1)

    def test_a_maker_that_is_killed_is_replaced(self):
        server = self.start()
        asked = self.at_once(server, "/dies", 20)
        victim = until("a producer", lambda: self.ask(server, "/get?key=victim")[0])
        os.kill(victim, signal.SIGKILL)
        values, broken = set(), 0
        for future in asked:
            try:
                values.add(future.result()[0])
            except (EOFError, OSError):
                broken += 1
        self.assertEqual(len(values), 1, "those of other workers get one value")
        self.assertNotIn(victim, values)
        self.assertLess(broken, 20)
        self.assertEqual(self.ask(server, "/get?key=attempts")[0], 2)

    def test_a_maker_that_throws_hands_over(self):
        server = self.start()
        answers = [future.result()[0] for future in self.at_once(server, "/throws", 20)]
        self.assertEqual(sorted(set(answers)), ["producer 3", "threw producer 1", "threw producer 2"])
        self.assertEqual(answers.count("producer 3"), 18)

    def test_one_limit_for_all_workers(self):
        server = self.start()
        allowed = [future.result() for future in self.at_once(server, "/limit", 60)]
        self.assertEqual(sum(answer for answer, _ in allowed), 20)
        self.assertGreater(len({worker for _, worker in allowed}), 1)

    def test_the_example(self):
        server = self.serve(script=f"<?php $argv = ['server.php', '0']; require {json.dumps(str(ROOT / 'examples/cache/server.php'))};")
        first = server.get("/page")
        self.assertEqual(first.status, 200)
        self.assertIn(b"The page /page", first.body)
        self.assertEqual(server.get("/page").body, first.body)
        answers = [server.get("/page") for _ in range(30)]
        refused = [answer for answer in answers if answer.status == 429]
        self.assertTrue(refused)
        self.assertIn(refused[0].headers["retry-after"], ("0", "1"))


if __name__ == "__main__":
    unittest.main()
