--TEST--
Router: methods, parameters, groups, middleware, 404, 405, HEAD and OPTIONS
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\{Request, Response, Router};

$show = fn (string $what) => function (Request $request, Response $response, array $params) use ($what): void {
    $response->end("$what " . json_encode($params, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES));
};
$around = fn (string $name) =>
    function (Request $request, Response $response, callable $next, array $params) use ($name) {
    $response->header('Around', trim(($response->getHeaders()['around'] ?? '') . " $name" . count($params)));
    return $next($request, $response);
};

$router = new Router();
$router->get('/', $show('root'));
var_dump($router->get('/users', $show('users')) === $router);
$router->post('/users', $show('new user'))->delete('/users/{id:\d+}', $show('delete'));
$router->get('/users/{id:\d+}', $show('number'))->get('/users/{name}', $show('name'))->get('/users/me', $show('me'));
$router->map(['PUT', 'PATCH'], '/users/{id}', $show('change'), $around('route'));
$router->get('/files/{path...}', $show('file'))->any('/any', $show('any'));
$router->get('/closed', $show('never'), fn ($request, $response, $next) => $response->end('closed'));
$router->get('/throws', fn () => throw new LogicException('of a route'));
$api = $router->group('/api/{version:v\d}', function (Router $group) use ($show, $around): void {
    $group->get('/', $show('version'));
    $group->use($around('api'));
    $group->group('/admin', fn (Router $admin) => $admin->use($around('admin'))->get('/{x}', $show('admin'), $around('own')));
});
$api->get('/late', $show('late'));
$router->use($around('all'));

$log = serving($router, function (Client $client): void {
    $show = function (string $method, string $path) use ($client): void {
        $head = $method === 'HEAD' ? ['-I'] : ['-i', '-X', $method];
        $answer = plain($client->curl(...$head, ...['--path-as-is', $path]));
        preg_match('/^HTTP\S+ (\d+)/', $answer, $status);
        preg_match('/^Allow: (.*)$/m', $answer, $allow);
        preg_match('/^Around: (.*)$/m', $answer, $around);
        preg_match('/^Content-Length: (.*)$/m', $answer, $length);
        $body = $method === 'HEAD' ? "of $length[1] bytes" : strstr($answer . "\n\n", "\n\n");
        echo "$method $path: $status[1] ", trim($body), ' ', $allow[0] ?? '', ' [', $around[1] ?? '', "]\n";
    };
    foreach (['/', '/users', '/users/', '/users/7', '/users/x', '/users/me', '/users/a%2Fb%20%C3%BC', '/files/', '/files/a/b', '/files', '/closed'] as $path) {
        $show('GET', $path);
    }
    foreach (['POST /users', 'DELETE /users/7', 'DELETE /users/x', 'PATCH /users/7', 'BREW /any', 'HEAD /users/7', 'HEAD /nowhere', 'OPTIONS /users/7', 'OPTIONS /nowhere', 'GET /throws'] as $line) {
        $show(...explode(' ', $line));
    }
    foreach (['/api/v1', '/api/v1/', '/api/x', '/api/v2/late', '/api/v1/admin/7'] as $path) {
        $show('GET', $path);
    }
    $show('POST', '/api/v1/admin/7');
    echo plain($client->raw("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")), "\n";
});
echo preg_replace('/ in .*/s', '', preg_replace('/^.*?error: /', '', $log)), "\n";
?>
--EXPECT--
bool(true)
GET /: 200 root []  [all0]
GET /users: 200 users []  [all0]
GET /users/: 404 404 Not Found  [all0]
GET /users/7: 200 number {"id":"7"}  [all1]
GET /users/x: 200 name {"name":"x"}  [all1]
GET /users/me: 200 me []  [all0]
GET /users/a%2Fb%20%C3%BC: 200 name {"name":"a/b ü"}  [all1]
GET /files/: 200 file {"path":""}  [all1]
GET /files/a/b: 200 file {"path":"a/b"}  [all1]
GET /files: 404 404 Not Found  [all0]
GET /closed: 200 closed  [all0]
POST /users: 200 new user []  [all0]
DELETE /users/7: 200 delete {"id":"7"}  [all1]
DELETE /users/x: 405 405 Method Not Allowed Allow: GET, HEAD, OPTIONS, PATCH, PUT [all0]
PATCH /users/7: 200 change {"id":"7"}  [all1 route1]
BREW /any: 200 any []  [all0]
HEAD /users/7: 200 of 17 bytes  [all1]
HEAD /nowhere: 404 of 14 bytes  [all0]
OPTIONS /users/7: 204  Allow: DELETE, GET, HEAD, OPTIONS, PATCH, PUT [all0]
OPTIONS /nowhere: 404 404 Not Found  [all0]
GET /throws: 500 500 Internal Server Error  []
GET /api/v1: 200 version {"version":"v1"}  [all1 api1]
GET /api/v1/: 404 404 Not Found  [all0]
GET /api/x: 404 404 Not Found  [all0]
GET /api/v2/late: 200 late {"version":"v2"}  [all1 api1]
GET /api/v1/admin/7: 200 admin {"version":"v1","x":"7"}  [all2 api2 admin2 own2]
POST /api/v1/admin/7: 405 405 Method Not Allowed Allow: GET, HEAD, OPTIONS [all0 api0 admin0 own0]
HTTP/1.1 204 No Content
Server: apus
Around: all0
Allow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT
Connection: close
uncaught LogicException: of a route
