<?php

declare(strict_types=1);

// An advertising platform: an API, a dashboard and a click redirector on one port; README.md says how it is used.

namespace Apus\Ads;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;
use Apus\Process;

require_once __DIR__ . '/src/autoload.php';

$config = new Config(getenv());
$spool = $config->text('ADS_SPOOL');
if (!is_dir($spool) && !mkdir($spool, 0700, true)) {
    fwrite(STDERR, "no folder $spool\n");
    exit(1);
}
$server = new Server($config->text('ADS_HOST'), (int) ($argv[1] ?? $config->number('ADS_PORT')));
$server->set([
    'process_title' => 'apus-ads',
    'task_worker_num' => 1,
    'package_max_length' => '1M',
    // fdatasync() on a thread: other requests go on meanwhile.
    'hook_flags' => \Apus\HOOK_ALL | \Apus\HOOK_FILE,
]);
if ($config->number('ADS_WORKERS') > 0) {
    $server->set(['worker_num' => $config->number('ADS_WORKERS')]);
}

$shared = new Shared;
$server->addProcess(new Process(static fn () => (new Loader($config, new Segments($spool), $shared->waiting))->run(), false, 0));

$worker = new \stdClass;
$server->on('workerstart', static function (Server $server, int $id) use ($config, $shared, $worker): void {
    if ($server->taskworker) {
        $worker->reports = new Reports(new Database($config));
        return;
    }
    $worker->application = new Application($server, $config, $shared);
    if ($id === 0) {
        $server->taskCron($config->text('ADS_CRON'), 'refresh', 'refresh', 'UTC');
    }
});
$server->on('workerexit', static fn () => isset($worker->application) && $worker->application->leave());
$server->on('task', static fn (): int => $worker->reports->refresh());
$server->on('finish', static fn () => null);

// Three hosts. Files of the dashboard, and who may ask the API from a page, are settled before PHP is entered.
[$api, $site] = [$config->text('ADS_API_HOST'), $config->text('ADS_SITE_HOST')];
$server->host(
    $api,
    ['cors_origins' => ["http://$site", "https://$site", "http://$site:$server->port"], 'cors_headers' => ['Authorization', 'Content-Type']],
    static fn (Request $request, Response $response) => ($worker->application->api)($request, $response),
);
$server->host(
    $site,
    ['document_root' => __DIR__ . '/public', 'response_headers' => [
        'Content-Security-Policy' => "default-src 'self'; connect-src 'self' http://$api:* https://$api:*; frame-ancestors 'none'",
    ]],
    static fn (Request $request, Response $response) => Site::answer($request, $response, $api),
);
$server->host(
    $config->text('ADS_CLICK_HOST'),
    ['response_headers' => ['Cache-Control' => 'no-store']],
    static fn (Request $request, Response $response) => ($worker->application->clicks)($request, $response),
);
$server->on('request', static fn (Request $request, Response $response) => (new Answer(421, ['error' => 'there is no such host here']))->send($response));

$server->start();
