<?php

declare(strict_types=1);

class_alias(Swoole\Process\Manager::class, Swoole\Process\ProcessManager::class);
