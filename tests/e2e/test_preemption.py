"""Handlers of a server that compute, with `enable_preemptive_scheduler`: others of the same worker run in between."""

from support import Case, until

# A handler that computes until another one of its worker has run would do so for ever.
HANDLER = """
    static $goes = true;
    if ($path === '/stop') {
        $goes = false;
        $response->end('stopped');
        return;
    }
    file_put_contents("$folder/computes", '');
    for ($turns = 0; $goes; $turns++);
    $response->end('turned');"""


class Preemption(Case):
    def interrupted(self, **options):
        settings = {"enable_preemptive_scheduler": True, "preemptive_slice": 5}
        server = self.serve(HANDLER, settings=settings, **options)
        with server.connect() as computing:
            computing.send(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
            until("it computes", (server.folder / "computes").exists)
            self.assertEqual(server.get("/stop").body, b"stopped")
            self.assertEqual(computing.answer().body, b"turned")
        self.assertEqual(server.stop(), 0)

    def test_a_request_that_computes_lets_others_be_answered(self):
        self.interrupted()

    def test_the_same_with_the_tracing_jit(self):
        self.interrupted(jit=True)

    def test_what_the_program_has_set_for_coroutines_holds_in_workers(self):
        script = """<?php
            Apus\\Coroutine::set(['enable_preemptive_scheduler' => true]);
            $server = new Apus\\Http\\Server('127.0.0.1', 0);
            $server->set(['worker_num' => 1]);
            $server->on('request', function ($request, $response) {
                $path = $request->server['request_uri'];
                $folder = __DIR__;
                %s
            });
            $server->start();""" % HANDLER
        self.interrupted(script=script)
