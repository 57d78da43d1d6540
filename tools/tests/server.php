<?php

declare(strict_types=1);

namespace Apus\Tools;

/** A server that a test has started with the command, on a free port; it ends with the test. */
final class Server
{
    /** @var resource */
    private $process;
    public readonly string $address;
    public readonly string $log;

    /** @param list<string> $arguments what comes after `apus run`; @param array<string, string> $environment */
    public function __construct(string $apus, array $arguments, array $environment = [])
    {
        $this->log = (string) tempnam(sys_get_temp_dir(), 'apus-log-');
        [$read, $write] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, STREAM_IPPROTO_IP);
        $output = ['file', $this->log, 'a'];
        $process = proc_open(
            [$apus, 'run', ...$arguments],
            [0 => ['file', '/dev/null', 'r'], 1 => $output, 2 => $output, 3 => $write],
            $pipes,
            null,
            ['APUS_READY_FD' => '3'] + $environment + getenv(),
        );
        if ($process === false) {
            throw new \RuntimeException("cannot start $apus");
        }
        $this->process = $process;
        fclose($write);
        stream_set_timeout($read, 60);
        $ready = json_decode((string) fgets($read), true);
        if (!is_array($ready)) {
            proc_terminate($process, 9);
            throw new \RuntimeException("it does not serve:\n" . file_get_contents($this->log));
        }
        $this->address = $ready['listen'][0];
    }

    /** @return array{int, string, array<string, string>} status, body, header fields by lower-case name */
    public function ask(string $path, string $method = 'GET', string $body = '', string $header = ''): array
    {
        $options = ['method' => $method, 'content' => $body, 'header' => $header, 'ignore_errors' => true, 'timeout' => 30];
        $answer = (string) @file_get_contents("http://$this->address$path", false, stream_context_create(['http' => $options]));
        $fields = [];
        foreach (array_slice($http_response_header ?? [], 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $fields[strtolower($name)] = trim($value);
        }
        return [(int) substr($http_response_header[0] ?? 'HTTP/1.1 0', 9, 3), $answer, $fields];
    }

    /** The first bytes of an answer that goes on. */
    public function begin(string $path, int $bytes): string
    {
        $socket = stream_socket_client("tcp://$this->address", timeout: 10);
        stream_set_timeout($socket, 10);
        fwrite($socket, "GET $path HTTP/1.0\r\nHost: x\r\n\r\n");
        $got = '';
        while (strlen($got) < $bytes && !feof($socket) && ($part = fread($socket, 8192)) !== false && $part !== '') {
            $got .= $part;
        }
        fclose($socket);
        return $got;
    }

    /** Stops it gracefully: its exit code. */
    public function stop(): int
    {
        proc_terminate($this->process, 15);
        $code = proc_close($this->process);
        unlink($this->log);
        return $code;
    }
}
