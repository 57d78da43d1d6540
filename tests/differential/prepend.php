<?php
/**
 * Runs the script of a test inside a function: plainly, or in a coroutine with all hooks on, while another coroutine makes noise.
 * Both ways stand in a function, so that what differs is the coroutine's doing.
 */

/** Numbers of objects and resources go on from the same ones, whoever has taken some before. */
function differential_numbers(): array
{
    gc_collect_cycles();
    do {
        $held[] = $object = new stdClass();
    } while (spl_object_id($object) < 50);
    do {
        $resource = stream_context_create();
    } while ((int) $resource < 50);
    return $held;
}

/** The script, with those variables global that its functions call global; `$differential_...` are ours. */
function differential_script(): void
{
    preg_match_all('/\bglobal\s+((?:\$\w+\s*,?\s*)+);/', file_get_contents($_SERVER['SCRIPT_FILENAME']), $found);
    foreach (preg_match_all('/\$(\w+)/', implode(' ', $found[1]), $names) ? $names[1] : [] as $name) {
        if ($name !== 'GLOBALS' && $name !== 'this') {
            $$name = &$GLOBALS[$name];
        }
    }
    unset($found, $names, $name);
    $differential_ended = !extension_loaded('apus');
    $differential_ended || Apus\go(function () use (&$differential_ended) {
        while (!$differential_ended) {
            differential_noise();
            Apus\Coroutine::sleep(0.0002);
        }
    });
    $differential_held = differential_numbers();
    try {
        require $_SERVER['SCRIPT_FILENAME'];
    } finally {
        $differential_ended = true;
    }
}

/**
 * What leaves traces where PHP keeps state for the process. What warns comes before what waits: afterwards the script may have ended, and an error
 * handler that it left is everybody's.
 */
function differential_noise(): void
{
    // A fatal error flushes all buffers: this one shows nothing.
    ob_start(fn () => '');
    echo 'noise';
    $words = ['c' => 3, 'a' => 1, 'b' => 2];
    uasort($words, fn ($one, $two) => $one <=> $two);
    @unserialize(serialize($words) . 'x');
    json_decode('{', true);
    preg_match('/(noise)/', 'some noise', $found);
    file_exists('/nonexistent/noise');
    error_clear_last();
    array_map(fn ($word) => Apus\Coroutine::sleep(0), $words);
    // Not to be opened any more after a chroot() of the script's.
    if ($stream = @fopen(__FILE__, 'r')) {
        fread($stream, 100);
        fclose($stream);
    }
    ob_end_clean();
}

if (!extension_loaded('apus')) {
    differential_script();
    exit;
}
Apus\Coroutine::set(['hook_flags' => Apus\HOOK_ALL]);
Apus\Coroutine\run('differential_script');
exit;
