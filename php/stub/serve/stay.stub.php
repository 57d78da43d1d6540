<?php

namespace Apus;

/**
 * Waits for a request and has it answered, in the script of `apus serve --worker FILE`, which boots an application once
 * and then calls this in a loop. For each request the superglobals, php://input, the head of the answer, output buffers
 * and the session are fresh; what the program keeps in variables, statics and classes stays.
 *
 *     $app = require __DIR__ . '/bootstrap.php';
 *     while (Apus\handle_request(fn () => $app->run())) {
 *         gc_collect_cycles();
 *     }
 *
 * The client has its answer when this returns. exit() ends the running request alone; an exception that nobody catches
 * is answered as PHP does, with 500; a fatal error ends the process, which is replaced. Coroutines that the handler began
 * are finished before the answer is, and timers are removed.
 * @param callable $handler answers the request as any script does: by echo, header() and the like
 * @return bool false when there are no more requests: the script is to end
 * @throws \Apus\Server\Exception STATE elsewhere than in that script, while a request is answered, and in a coroutine
 * Waits outside of coroutines.
 * @since 0.1.0
 * @rust typed
 */
function handle_request(callable $handler): bool {}
