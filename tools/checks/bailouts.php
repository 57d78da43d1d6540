<?php

declare(strict_types=1);

// What Rust calls never bails out: PHP's longjmp would leave Rust frames without their drops. So no function of the
// shim that Rust calls may call what PHP can bail out of, allocation included, but inside apus_try (or a macro made of
// it).

namespace Apus\Tools;

const SHIM = 'crates/apus-zend/shim/';
/** Functions and macros of PHP begin so; each may bail out unless it is known not to. */
const PHP_NAMES = '~^(?:_?zend_|_?php_|ZEND_|PHP_|ZVAL_|Z_PARAM|RETURN_|RETVAL_|ARRAY_|OBJ_RELEASE|GC_DTOR|e(?:m|c|re)alloc|estr|safe_|smart_str|object_|array_|add_|call_user|zval_|convert_|i_zval|rc_dtor|display_|INIT_|REGISTER_|ALLOC_)~';
/** Those that neither allocate, nor run PHP code, nor report errors. */
const HARMLESS = [
    // values and counts
    'ZVAL_UNDEF', 'ZVAL_NULL', 'ZVAL_LONG', 'ZVAL_DOUBLE', 'ZVAL_BOOL', 'ZVAL_STR', 'ZVAL_STR_COPY', 'ZVAL_INTERNED_STR', 'ZVAL_OBJ', 'ZVAL_ARR', 'ZVAL_COPY',
    'ZVAL_COPY_VALUE', 'ZVAL_COPY_DEREF', 'ZVAL_DEREF', 'zend_string_copy', 'zend_string_release', 'zend_string_hash_val', 'zend_string_equals',
    'zend_string_equals_literal', 'zend_string_equals_literal_ci', 'zend_string_equals_cstr', 'zend_get_type_by_const', 'zend_zval_type_name',
    // looking things up
    'zend_hash_find', 'zend_hash_find_known_hash', 'zend_hash_find_ptr', 'zend_hash_str_find', 'zend_hash_str_find_ptr', 'zend_hash_str_exists', 'zend_hash_index_find', 'zend_hash_exists',
    'zend_hash_num_elements', 'zend_hash_get_current_data_ex', 'zend_hash_get_current_key_ex', 'zend_hash_move_forward_ex', 'zend_symtable_str_find',
    'zend_llist_get_first_ex', 'zend_llist_get_next_ex', 'zend_hash_index_exists', 'zend_hash_index_find_ptr', 'zend_stack_top', 'zend_stack_int_top', 'zend_memnstr', 'zend_binary_strcasecmp', 'zend_iterator_unwrap', 'php_mysqli_fetch_object', 'php_pdo_stmt_fetch_object', 'php_le_stream_context', 'ZEND_ADD_CALL_FLAG',
    'ZEND_HASH_FOREACH_NUM_KEY', 'ZEND_CALL_INFO', 'ZEND_CALL_VAR', 'RT_CONSTANT', 'zend_stack_del_top', 'zend_stack_init', 'zend_stack_destroy', 'php_pdo_dbh_fetch_inner',
    'ZEND_HASH_FOREACH_PTR', 'ZEND_HASH_FOREACH_STR_KEY_PTR', 'ZEND_HASH_FOREACH_KEY_VAL_IND', 'ZEND_HASH_FOREACH_VAL', 'ZEND_HASH_FOREACH_KEY_PTR', 'ZEND_HASH_FOREACH_END',
    'ZEND_HANDLE_NUMERIC_STR', 'zend_get_closure_method_def', 'zend_get_closure_this_ptr', 'zend_fetch_resource2_ex', 'zend_get_resource_handle',
    'php_file_le_stream', 'php_file_le_pstream', 'php_stream_locate_eol', 'zend_get_executed_filename', 'zend_get_executed_lineno',
    'zend_memory_usage', 'zend_fiber_switch_block', 'zend_fiber_switch_blocked', 'zend_fiber_switch_unblock', 'zend_is_unwind_exit', 'zend_is_graceful_exit', 'zend_observer_fiber_init_register',
    'zend_observer_fiber_destroy_register', 'zend_object_is_lazy', 'zend_fiber_stack_base', 'zend_fiber_stack_limit', 'ZEND_CALL_NUM_ARGS', 'ZEND_CALL_ARG',
    // flags and constants
    'zend_end_try', 'apus_end_try', 'ZEND_ASSERT', 'ZEND_USER_CODE', 'ZEND_STRTOL', 'ZEND_STRL', 'ZEND_HAS_OOM', 'ZEND_TYPE_INIT_MASK', 'ZEND_TYPE_INIT_CLASS', 'ZEND_TYPE_INIT_CLASS_CONST_MASK',
    'ZEND_MAP_PTR_GET', 'ZEND_VM_STACK_ELEMENTS', 'zend_atomic_bool_store_ex', 'zend_atomic_bool_load_ex', 'zend_string_is_interned',
    'ZEND_TYPE_IS_SET', 'ZEND_CLASS_CONST_FLAGS',
    // what a bailout of another context comes back from by itself
    'zend_fiber_switch_context', 'zend_fiber_destroy_context', 'zend_vm_stack_destroy',
];
/** Functions that are right all the same, and why. */
const KNOWN = [
    'apus_unpack_map_index' => 'the array was made with room',
    'apus_unpack_map_text' => 'the array was made with room',
    'apus_uploaded_file_remove' => 'the elements are strings',
    'apus_swap_put' => 'what it drops is texts',
    'apus_swap_reset' => 'what it drops is texts',
    'apus_held_end_request' => 'numbers in a table of the process',
    'apus_guard_mark' => 'numbers in a table of the process',
    'apus_sapi_take_over' => 'what bails out of it ends the process: no frame of Rust is gone back to',
    'apus_sapi_run' => 'PHP catches what a request bails out of; beyond that the process ends',
    'apus_guard_unmark' => 'numbers in a table of the process',
];
/** Called once, when the module starts or all modules have: PHP ends the process if it cannot. */
const AT_START = '~^apus_(?:class_(?:register|implement|property|constant|alias|set_\w+)|functions_register|constant|module|second_module|module_loaded|info_row|\w+_(?:startup|install)|request_keys)$~';

/** C without comments and with empty literals, of the same lines. */
function bare_c(string $text): string
{
    return (string) preg_replace_callback(
        '~/\*.*?\*/|//[^\n]*|"(?:\\\\.|[^"\\\\])*"|\'(?:\\\\.|[^\'\\\\])*\'~s',
        static fn (array $match): string => ($match[0][0] === '/' ? ' ' : '""')
            . str_repeat("\n", substr_count($match[0], "\n")),
        $text,
    );
}

/** The place after the bracket that closes the one at $at. */
function closing(string $text, int $at): int
{
    for ($depth = 0, $end = strlen($text); $at < $end; $at++) {
        $depth += match ($text[$at]) {
            '(', '{' => 1,
            ')', '}' => -1,
            default => 0,
        };
        if ($depth === 0) {
            return $at + 1;
        }
    }
    return $at;
}

/** The body without what is guarded. */
function unguarded(string $body): string
{
    while (preg_match('~\b(?:apus_try|zend_try)\s*(\{)|\b(?:GUARDED|QUIETLY|GUARDED_STATUS)\s*(\()~', $body, $match, PREG_OFFSET_CAPTURE) === 1) {
        $bracket = end($match)[1];
        $body = substr_replace($body, '', $match[0][1], closing($body, $bracket) - $match[0][1]);
    }
    return $body;
}

/**
 * @return array<string, array{static: bool, calls: list<string>, file: string}> every function of the shim, and what it
 * calls without a guard
 */
function shim_functions(array $sources): array
{
    $functions = [];
    foreach ($sources as $path => $text) {
        if (!str_starts_with($path, SHIM) || !str_ends_with($path, '.c')) {
            continue;
        }
        $text = (string) preg_replace('~^[ \t]*#(?:.*\\\\\n)*.*$~m', '', bare_c($text));
        preg_match_all('~^(?<head>[A-Za-z_][\w \t*]*?[ \t*])(?<name>\w+)\([^;{}]*\)\s*\n(?<open>\{)~m', $text, $found, PREG_SET_ORDER | PREG_OFFSET_CAPTURE);
        foreach ($found as $match) {
            $body = substr($text, $match['open'][1], closing($text, $match['open'][1]) - $match['open'][1]);
            preg_match_all('~\b([A-Za-z_]\w*)\s*\(~', unguarded($body), $calls);
            $static = str_contains($match['head'][0], 'static');
            $functions[($static ? "$path:" : '') . $match['name'][0]] = [
                'static' => $static,
                'calls' => array_values(array_unique($calls[1])),
                'file' => $path,
            ];
        }
    }
    return $functions;
}

/** @return array<string, true> the functions that Rust calls, or gives to others by name */
function called_by_rust(array $sources): array
{
    $called = [];
    foreach ($sources as $path => $text) {
        if (str_ends_with($path, '.rs')) {
            preg_match_all('~\bsys::(\w+)~', $text, $names);
            $called += array_fill_keys($names[1], true);
        }
    }
    return $called;
}

/** @return list<string> */
function bailouts(array $sources): array
{
    $functions = shim_functions($sources);
    /** @var array<string, string> what bails out, by way of what */
    $bails = [];
    do {
        $before = count($bails);
        foreach ($functions as $key => $function) {
            foreach ($function['calls'] as $call) {
                $inner = isset($functions["{$function['file']}:$call"]) ? "{$function['file']}:$call" : $call;
                $way = isset($bails[$inner]) ? "$call() -> {$bails[$inner]}" : "$call()";
                $known = isset($functions[$inner]);
                if (!isset($bails[$key]) && !isset(KNOWN[$key])
                    && ($known ? isset($bails[$inner])
                        : preg_match(PHP_NAMES, $call) === 1 && !in_array($call, HARMLESS, true))) {
                    $bails[$key] = $way;
                }
            }
        }
    } while (count($bails) > $before);
    $called = called_by_rust($sources);
    $complaints = [];
    foreach ($bails as $key => $way) {
        if (isset($called[$key]) && $key !== 'apus_bailout' && preg_match(AT_START, $key) !== 1) {
            $complaints[] = "$key() calls $way, which may bail out, outside apus_try";
        }
    }
    sort($complaints);
    return $complaints;
}
