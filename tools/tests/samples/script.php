<?php
// Within a script, outside of coroutines.
require SAMPLES_DIRECTORY . '/application.php';
$lock = new Apus\Lock();
$path = 'a.png';
$value = ['order' => new Order()];
$order = ['id' => 1];
// the sample
