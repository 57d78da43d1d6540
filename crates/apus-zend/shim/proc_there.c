/* Processes of proc_open() that coroutines wait for, for code written for Swoole: their resources have another type,
 * and a descriptor that is none is a warning, as there. The process itself is PHP's. */
#include "apus_shim.h"
#include "apus_state.h"

static bool installed, on;
static int of_php = -1, of_coroutine = -1;
static zif_handler open_own;

enum { SPEC = 2 };

/* The resource is PHP's while PHP's own functions see it. */
static void end(zend_resource *resource)
{
	zend_resource own = *resource;
	own.type = of_php;
	GC_SET_REFCOUNT(&own, 1);
	zend_list_close(&own);
}

static bool is_spec(zval *spec)
{
	zval *item;
	ZVAL_DEREF(spec);
	if (Z_TYPE_P(spec) != IS_ARRAY) {
		return true; /* PHP says what it is instead. */
	}
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(spec), item) {
		ZVAL_DEREF(item);
		if (Z_TYPE_P(item) != IS_ARRAY && Z_TYPE_P(item) != IS_RESOURCE) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

static ZEND_NAMED_FUNCTION(open_process)
{
	const bool there = on && apus_running_fiber != NULL;
	if (there && ZEND_NUM_ARGS() >= SPEC && !is_spec(ZEND_CALL_ARG(execute_data, SPEC))) {
		php_error_docref(NULL, E_WARNING, "Descriptor item must be either an array or a File-Handle");
		RETURN_FALSE;
	}
	open_own(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (there && Z_TYPE_P(return_value) == IS_RESOURCE && Z_RES_P(return_value)->type == of_php) {
		Z_RES_P(return_value)->type = of_coroutine;
	}
}

static const char *const NAMES[] = {"proc_close", "proc_terminate", "proc_get_status"};
enum { COUNT = sizeof(NAMES) / sizeof(*NAMES) };
static struct { const zend_function *function; zif_handler own; } known[COUNT];

static ZEND_NAMED_FUNCTION(use_process)
{
	uint32_t at = 0;
	while (known[at].function != execute_data->func) {
		at++;
	}
	zval *arg = ZEND_NUM_ARGS() > 0 ? ZEND_CALL_ARG(execute_data, 1) : NULL;
	if (arg == NULL || Z_TYPE_P(arg) != IS_RESOURCE || Z_RES_P(arg)->type != of_coroutine) {
		known[at].own(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zend_resource *resource = Z_RES_P(arg);
	resource->type = of_php;
	known[at].own(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (resource->type == of_php) {
		resource->type = of_coroutine;
	}
}

static zif_handler replace(const char *name, zif_handler by, const zend_function **record)
{
	zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
	if (function == NULL || function->type != ZEND_INTERNAL_FUNCTION) {
		return NULL; /* disabled by php.ini */
	}
	zif_handler own = function->internal_function.handler;
	function->internal_function.handler = by;
	*record = function;
	return own;
}

void apus_proc_startup(int module)
{
	of_php = zend_fetch_list_dtor_id("process");
	of_coroutine = zend_register_list_destructors_ex(end, NULL, "process/coroutine", module);
}

void apus_proc_there(bool wanted)
{
	if (wanted && !installed) {
		const zend_function *opens;
		installed = true;
		open_own = replace("proc_open", open_process, &opens);
		for (uint32_t at = 0; at < COUNT; at++) {
			known[at].own = replace(NAMES[at], use_process, &known[at].function);
		}
	}
	on = wanted;
}
