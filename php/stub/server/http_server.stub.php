<?php

namespace Apus\Http;

/**
 * An HTTP/1.1 server (RFC 9110, RFC 9112).
 * @rust static HTTP_SERVER
 */
class Server extends \Apus\Server
{
    // @rust typed

    /**
     * Binds the address at once, so that an address in use throws an exception here. A socket that systemd passed for
     * it is used instead.
     * @param string $host an IPv4 or IPv6 address, a name, or the path of a Unix socket
     * @param int $port 0 to 65535; 0 for any free one: see $port
     * @param int $mode Apus\BASE or Apus\PROCESS, which mean the same
     * @param int $sockType Apus\SOCK_TCP, SOCK_TCP6 or SOCK_UNIX_STREAM
     * @throws \Apus\Server\Exception BIND
     * Does not wait.
     * @rust construct_http
     */
    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1) {}

    /**
     * Serves requests for some names, on every port that speaks HTTP, by settings and a handler of their own. All other
     * names are the port's.
     * @param string $names names with commas between them; "*.example.org" stands for each name with one label before
     * @param array $settings what Host::set() takes
     * @param callable|null $request (Request, Response), in place of the server's and the port's
     * @throws \Apus\Server\Exception OPTION, STATE (after start())
     * Does not wait.
     * @rust host::host
     */
    public function host(string $names, array $settings = [], ?callable $request = null): \Apus\Server\Host {}
}
