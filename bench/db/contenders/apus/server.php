<?php

/** usage: php server.php PORT CONFIG */

declare(strict_types=1);

namespace Bench\Db;

use Apus\Database\PDOConfig;
use Apus\Database\PDOPool;
use Apus\Http\Server;

[, $port, $file] = $argv;
$config = require $file;
require $config['app'] . '/serve.php';

$server = new Server('127.0.0.1', (int) $port);
$server->set([
    'worker_num' => $config['workers'],
    'backlog' => 4096,
    // As long as nginx and Apache wait: ab opens connections that it then has no request for.
    'header_timeout' => 60,
]);
serve($server, $config, PDOConfig::class, PDOPool::class);
