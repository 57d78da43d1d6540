<?php
/**
 * Runs the script of a test inside a function: plainly, or in a coroutine with all hooks on, while another coroutine
 * makes noise.
 * Both ways stand in a function, so that what differs is the coroutine's doing.
 */

/** Numbers of objects and resources go on from the same ones, whoever has taken some before. */
final class differential_object
{
    public static array $held = [];

    public static function count(): void
    {
        gc_collect_cycles();
        do {
            self::$held[] = $object = new self();
        } while (spl_object_id($object) < 50);
        do {
            $resource = stream_context_create();
        } while ((int) $resource < 50);
    }
}

/** Whether the script has ended; it cannot be reached from there. */
function differential_ended(bool $says = false): bool
{
    static $ended = false;
    return $ended = $ended || $says;
}

/** Those variables of a script that its functions, or those of files beside it that it names, call global. */
function differential_globals(string $script, array &$seen = []): array
{
    $seen[$script] = true;
    $text = file_get_contents($script);
    preg_match_all('/\bglobal\s+((?:\$\w+\s*,?\s*)+);/', $text, $found);
    preg_match_all('/\$(\w+)/', implode(' ', $found[1]), $names);
    preg_match_all('~[\'"/]([\w.-]+\.(?:inc|php))[\'"]~', $text, $files);
    foreach ($files[1] as $file) {
        $file = dirname($script) . "/$file";
        if (!isset($seen[$file]) && is_file($file)) {
            array_push($names[1], ...differential_globals($file, $seen));
        }
    }
    return array_diff($names[1], ['GLOBALS', 'this']);
}

/** The script, with those variables global that shall be. */
function differential_script(): void
{
    foreach (func_get_arg(0) as $differential_name) {
        $$differential_name = &$GLOBALS[$differential_name];
    }
    unset($differential_name);
    require $_SERVER['SCRIPT_FILENAME'];
}

/** A frame below the script that looks the same both ways. */
function differential_main(): void
{
    extension_loaded('apus') && Apus\go(function () {
        while (!differential_ended()) {
            differential_noise();
            Apus\Coroutine::sleep(0.0002);
        }
    });
    $names = [...differential_globals($_SERVER['SCRIPT_FILENAME']), ...$GLOBALS['differential_before'] ?? []];
    unset($GLOBALS['differential_before']);
    differential_object::count();
    try {
        differential_script($names);
    } finally {
        differential_ended(true);
    }
}

/**
 * What leaves traces where PHP keeps state for the process. What warns comes before what waits: afterwards the script
 * may have ended, and an error handler that it left is everybody's.
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

// What makes processes, before the coroutine that cannot.
if (is_file(preg_replace('/php$/', 'before.php', $_SERVER['SCRIPT_FILENAME']))) {
    $differential_before = array_keys(get_defined_vars());
    require preg_replace('/php$/', 'before.php', $_SERVER['SCRIPT_FILENAME']);
    $differential_before = array_diff(array_keys(get_defined_vars()), $differential_before, ['differential_before']);
}
if (!extension_loaded('apus')) {
    differential_main();
    exit;
}
Apus\Coroutine::set(['hook_flags' => Apus\HOOK_ALL]);
Apus\Coroutine\run('differential_main');
exit;
