<?php
// Within a coroutine.
require SAMPLES_DIRECTORY . '/application.php';
Apus\Coroutine\run(function () {
    $pool = new Apus\Database\PDOPool(database(), 2);
    $pdo = $pool->get();
    $body = 'hello';
// the sample
});
