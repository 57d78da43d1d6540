<?php
// An error of memory on purpose: the module is given a text that is freed. tests/lib/watched.py expects that its
// watcher says so.

$php = FFI::cdef('typedef struct { void *value; } zval; zval *zend_get_constant_str(const char *name, size_t length); void free(void *memory);');
define('FREED', str_repeat('x', 100));
$php->free($php->zend_get_constant_str('FREED', 5)->value);
(new Apus\Coroutine\Channel(1))->push(FREED, 0.001);
echo "nobody has seen it\n";
