#include "apus_shim.h"
#include "zend_extensions.h"

/* Standing in for the handler of an internal function, whoever else stands in for it, too. */

typedef struct { zif_handler inner; const void *row; } wrapped;

/* Where a function's record keeps what stood there before; -1: PHP has no room for it, and nothing is wrapped. */
static int slot = -1;

void apus_wrap_startup(void)
{
	slot = zend_get_resource_handle("apus state");
}

static void wrap(zend_function *function, zif_handler by, const void *row)
{
	if (function->type != ZEND_INTERNAL_FUNCTION || function->internal_function.handler == NULL
		|| function->internal_function.reserved[slot] != NULL) {
		return;
	}
	wrapped *record = pemalloc(sizeof(*record), true); /* lives as long as the function's record */
	record->inner = function->internal_function.handler;
	record->row = row;
	function->internal_function.reserved[slot] = record;
	function->internal_function.handler = by;
}

void apus_wrap_function(const char *class, const char *name, zif_handler by, const void *row)
{
	const HashTable *table = CG(function_table);
	if (slot < 0) {
		return;
	}
	if (class != NULL) {
		const zend_class_entry *ce = zend_hash_str_find_ptr(CG(class_table), class, strlen(class));
		if (ce == NULL) {
			return;
		}
		table = &ce->function_table;
	}
	zend_function *function = zend_hash_str_find_ptr(table, name, strlen(name));
	if (function != NULL) {
		wrap(function, by, row);
	}
}

void apus_wrap_module(const char *module, zif_handler by, const void *row)
{
	zend_function *function;
	if (slot < 0) {
		return;
	}
	ZEND_HASH_FOREACH_PTR(CG(function_table), function) {
		if (function->type == ZEND_INTERNAL_FUNCTION && function->internal_function.module != NULL
			&& strcmp(function->internal_function.module->name, module) == 0) {
			wrap(function, by, row);
		}
	} ZEND_HASH_FOREACH_END();
}

void apus_wrap_methods(const char *class, zif_handler by, const void *row)
{
	zend_function *method;
	zend_class_entry *ce = zend_hash_str_find_ptr(CG(class_table), class, strlen(class));
	if (slot < 0 || ce == NULL) {
		return;
	}
	ZEND_HASH_FOREACH_PTR(&ce->function_table, method) {
		wrap(method, by, row);
	} ZEND_HASH_FOREACH_END();
}

static const wrapped *record_of(const zend_execute_data *ex)
{
	return ex->func->internal_function.reserved[slot];
}

const void *apus_wrapped_row(const zend_execute_data *ex)
{
	return record_of(ex)->row;
}

bool apus_wrapped_call(INTERNAL_FUNCTION_PARAMETERS)
{
	bool bailed = false;
	zend_try {
		record_of(execute_data)->inner(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	} zend_catch {
		bailed = true;
	} zend_end_try();
	return !bailed;
}
