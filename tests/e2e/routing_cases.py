"""What the tests of several workers share: connections that know their worker, and that run PHP code in it."""

import json

from support import php_array, until
from websocket_cases import TEXT, WebSocketCase

SETUP = r"""
$server->on('open', function ($server, $request) {
    $server->push($request->fd, json_encode([$request->fd, $server->getWorkerId()]));
});
$server->on('message', function ($server, $frame) {
    if (str_starts_with($frame->data, '!')) {
        try {
            $result = eval(substr($frame->data, 1));
        } catch (Throwable $e) {
            $result = get_class($e) . ': ' . $e->getMessage();
        }
        $server->push($frame->fd, '=' . json_encode($result, JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR));
    }
});
$server->on('close', function ($server, $fd, $worker) { note('close', $fd); });
$server->on('pipemessage', function ($server, $from, $message) { note('pipe', $from, $message); });
"""


class Member:
    """A WebSocket: `fd` and `worker` are its own, `php()` runs code in its worker, `text()` is what was sent to it."""

    def __init__(self, ws):
        self.ws, self.inbox = ws, []
        self.fd, self.worker = json.loads(ws.text())

    def _read(self, wanted):
        while True:
            for at, text in enumerate(self.inbox):
                if text.startswith("=") == wanted:
                    return self.inbox.pop(at)
            opcode, data = self.ws.message()
            assert opcode == TEXT, (opcode, data[:100])
            self.inbox.append(data.decode())

    def text(self):
        return self._read(False)

    def begin(self, code, **values):
        given = "use Apus\\Coroutine; use Apus\\WebSocket\\Frame; use function Apus\\go;\n"
        given += "".join(f"${name} = {php_array(value)};\n" for name, value in values.items())
        self.ws.say("!" + given + code)

    def result(self):
        return json.loads(self._read(True)[1:])

    def php(self, code, **values):
        self.begin(code, **values)
        return self.result()

    def nothing(self):
        """That nothing was sent to it: what its own worker says comes behind what came before."""
        assert self.php("return 1;") == 1
        return not self.inbox


class RoutingCase(WebSocketCase):
    def cluster(self, workers, *, code="", settings=None, **options):
        return self.websockets(SETUP + code, settings={"worker_num": workers, **(settings or {})}, **options)

    def member(self, server, **options):
        return Member(self.join(server, **options))

    def members(self, server, workers, each=1):
        """That many connections in each worker: a list a worker."""
        found = [[] for _ in range(workers)]

        def enough():
            member = self.member(server)
            if len(found[member.worker]) < each:
                found[member.worker].append(member)
            return all(len(some) == each for some in found)
        until("a connection in every worker", enough)
        return found
