"""A server with task workers, whose tasks do what their data says."""

import json
import urllib.parse

from support import Case

# What a task does: a verb and its arguments. What it did stands in the file "ran", a line a run.
TASKS = r"""
function perform($server, int $id, int $from, mixed $data, $task = null) {
    global $folder;
    if (!is_array($data) || !isset($data['do'])) {
        return $data;
    }
    file_put_contents("$folder/ran", json_encode([$id, $data['do'], $data['tag'] ?? null, getmypid(), $server->worker_id, $from]) . "\n", FILE_APPEND);
    switch ($data['do']) {
        case 'echo': return $data['value'] ?? null;
        case 'sleep': usleep((int) ($data['seconds'] * 1e6)); return $data['value'] ?? 'slept';
        case 'until': while (!file_exists("$folder/{$data['file']}")) { usleep(2000); } return $data['value'] ?? 'done';
        case 'die': file_put_contents("$folder/begun", getmypid()); while (true) { usleep(1000); }
        case 'throw': throw new RuntimeException($data['value'] ?? 'a mistake');
        case 'exit': exit(0);
        case 'fatal': ini_set('memory_limit', '12M'); return str_repeat('x', 64 << 20);
        case 'finish': foreach ($data['values'] as $value) { $task ? $task->finish($value) : $server->finish($value); } return $data['value'] ?? null;
        case 'who': return ['worker' => $server->worker_id, 'pid' => getmypid(), 'taskworker' => $server->taskworker, 'from' => $from, 'id' => $id];
        case 'task': return ['task' => get_class($task), 'data' => $task->data === $data, 'id' => $task->id, 'from' => $task->worker_id, 'flags' => $task->flags, 'age' => microtime(true) - $task->dispatch_time];
    }
}
function note(string $file, mixed ...$line) {
    global $folder;
    file_put_contents("$folder/$file", json_encode($line) . "\n", FILE_APPEND);
}
"""

# Answers /METHOD?ARGS with what the server's method gives: [value, last error], or the exception.
ANSWERS = r"""
    try {
        $args = json_decode($request->get['args'] ?? '[]', true);
        $value = match ($path) {
            '/finish' => $server->task($args[0], -1, function ($server, $id, $value) { note('finished', 'own', $id, $value, Apus\Coroutine::getCid() > 0); }),
            '/compute' => compute($server, $args),
            '/stats' => $server->stats(),
            default => $server->{substr($path, 1)}(...$args),
        };
        $response->end(json_encode([$value, $value === false ? $server->getLastError() : 0]));
    } catch (Throwable $thrown) {
        $response->end(json_encode(['thrown' => get_class($thrown), 'code' => $thrown->getCode(), 'message' => $thrown->getMessage()]));
    }
"""

EVENTS = r"""
$server->on('finish', fn ($server, $id, $value) => note('finished', 'event', $id, $value, Apus\Coroutine::getCid() > 0));
$server->on('taskerror', fn ($server, $id, $reason) => note('errors', $id, $reason));
$server->on('workererror', fn ($server, ...$how) => note('died', ...$how));
$server->on('workerstart', fn ($server, $id) => note('started', $id, getmypid(), $server->taskworker));
"""

PLAIN = "$server->on('task', fn ($server, $id, $from, $data) => perform($server, $id, $from, $data));"
OBJECTS = "$server->on('task', fn ($server, $task) => perform($server, $task->id, $task->worker_id, $task->data, $task));"

QUEUE_FULL, WORKER_DIED, FAILED, TIMEOUT = 1301, 1302, 1303, 2003


class TaskCase(Case):
    def tasks(self, settings=None, on=PLAIN, more="", **options):
        settings = {"worker_num": 1, "task_worker_num": 2, **(settings or {})}
        return self.serve(ANSWERS, settings=settings, before=TASKS + on + EVENTS + more, ini=["date.timezone=UTC"], **options)

    def ask(self, server, method, *args):
        """[value, last error] of a method of the server, called in a request."""
        path = f"/{method}?" + urllib.parse.urlencode({"args": json.dumps(args)})
        answer = server.get(path)
        self.assertEqual(answer.status, 200, server.said())
        return answer.json()

    def value(self, server, method, *args):
        value, error = self.ask(server, method, *args)
        self.assertEqual(error, 0, server.said())
        return value

    def lines(self, server, name):
        path = server.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
