<?php

/** Where this run's database, files and generated classes are. */

return [
    'host' => '127.0.0.1',
    'port' => (int) '@DB_PORT@',
    // A path: the database is reached over this Unix socket. Empty: over TCP.
    'socket' => '@DB_SOCKET@',
    'name' => '@DB_NAME@',
    'user' => '@DB_USER@',
    'password' => '@DB_PASSWORD@',
    'files' => '@FILES@',
    'classes' => '@CLASSES@',
    'app' => '@APP@',
    'workers' => (int) '@WORKERS@',
    'pool' => (int) '@POOL@',
];
