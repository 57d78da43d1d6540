--TEST--
Swoole\Http\Server: url_rewrite_rules are patterns between two ~, or what paths begin with
--INI--
apus.swoole_compat=1
--FILE--
<?php
$root = sys_get_temp_dir() . '/apus-rewrite-' . getmypid();
mkdir("$root/static/article", recursive: true);
file_put_contents("$root/static/3.html", 'three');
file_put_contents("$root/static/article/a.html", 'article');
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set([
    'worker_num' => 1,
    'document_root' => $root,
    'enable_static_handler' => true,
    'static_handler_locations' => ['/static'],
    'url_rewrite_rules' => ['~^/view/post/(\d+)$~' => '/static/$1.html', '/article/' => '/static/article/', '/$1' => '/static/$1'],
]);
$server->on('request', fn ($request, $response) => $response->end("php {$request->server['request_uri']}"));
$server->on('workerstart', fn () => go(function () use ($server) {
    foreach (['/view/post/3', '/view/post/4', '/view/post/x', '/article/a.html', '/article/b.html', '/other', '/$1.html'] as $path) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->get($path);
        echo $path, ' ', $client->statusCode, ' ', $client->statusCode === 404 ? '' : $client->body, "\n";
    }
    $server->shutdown();
}));
$server->start();
$server->set(['url_rewrite_rules' => ['/a' => 1.5]]);
array_map(unlink(...), ["$root/static/3.html", "$root/static/article/a.html"]);
array_map(rmdir(...), ["$root/static/article", "$root/static", $root]);
?>
--EXPECTF--
/view/post/3 200 three
/view/post/4 404 
/view/post/x 200 php /view/post/x
/article/a.html 200 article
/article/b.html 404 
/other 200 php /other
/$1.html 404 

Warning: %s
