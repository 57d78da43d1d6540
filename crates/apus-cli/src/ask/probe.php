<?php
// What the command has to know of a php binary; run with `php -r`. The mark keeps it apart from whatever else is printed.
$files = array_filter([php_ini_loaded_file(), ...explode(',', (string) php_ini_scanned_files())]);
$said = array_merge([], ...array_map(fn (string $file) => parse_ini_file(trim($file), false, INI_SCANNER_RAW) ?: [], $files));
$opcache = extension_loaded('Zend OPcache') ? @opcache_get_status(false) : false;
// Past the output handlers that php.ini may name: one would compress it.
fwrite(STDOUT, "\x1eAPUS" . json_encode([
    'version' => PHP_VERSION,
    'version_id' => PHP_VERSION_ID,
    'zts' => (bool) PHP_ZTS,
    'debug' => (bool) PHP_DEBUG,
    'int_size' => PHP_INT_SIZE,
    'extension_dir' => ini_get('extension_dir'),
    'module' => phpversion('apus') ?: null,
    // Our own module by that name is no other one.
    'swoole' => ini_get('apus.swoole_compat') ? null : (phpversion('swoole') ?: null),
    'opcache' => extension_loaded('Zend OPcache'),
    'opcache_on' => $opcache !== false && $opcache['opcache_enabled'],
    'jit_on' => $opcache !== false && ($opcache['jit']['on'] ?? false),
    'xdebug' => phpversion('xdebug') ?: null,
    'xdebug_mode' => extension_loaded('xdebug') ? (getenv('XDEBUG_MODE') ?: (string) ini_get('xdebug.mode')) : '',
    // What the files say: the command line's PHP has values of its own for some.
    'ini' => [
        'directory' => PHP_CONFIG_FILE_PATH,
        'scanned' => PHP_CONFIG_FILE_SCAN_DIR,
        'values' => (object) array_filter($said, fn ($value, $key) => is_string($value) && is_string($key), ARRAY_FILTER_USE_BOTH),
    ],
    'memory_limit' => (string) ini_get('memory_limit'),
]) . "\n");
