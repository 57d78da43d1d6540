<?php

/** usage: php server.php PORT CONFIG */

declare(strict_types=1);

namespace Bench\Db;

use Swoole\Database\PDOConfig;
use Swoole\Database\PDOPool;
use Swoole\Http\Server;

[, $port, $file] = $argv;
$config = require $file;
require $config['app'] . '/serve.php';

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set([
    'worker_num' => $config['workers'],
    'backlog' => 4096,
    // Without it one worker takes most connections, and the pools of the others stay idle.
    'enable_reuse_port' => true,
    'hook_flags' => SWOOLE_HOOK_ALL,
    'log_level' => SWOOLE_LOG_WARNING,
]);
serve($server, $config, PDOConfig::class, PDOPool::class);
