<?php
// A program that serves in a coroutine, beside one that asks it to stop.
Apus\go(function () {
    while (@file_get_contents('http://127.0.0.1:8080' . '/stop') === false) {
        Apus\Coroutine::sleep(0.01);
    }
});
// the sample
