/* Where closures stand: see apus_closure.h.
 *
 * The compiler keeps the closures written in a function with that function, in the order in which they are written.
 * Whoever has loaded the same code finds them by the function's name and that order. */

#include "apus_shim.h"
#include "zend_closures.h"

static zend_op_array *main_script;

void apus_closure_main(void)
{
	main_script = NULL;
	for (zend_execute_data *ex = EG(current_execute_data); ex; ex = ex->prev_execute_data) {
		if (ex->func && ZEND_USER_CODE(ex->func->type)) {
			main_script = &ex->func->op_array;
		}
	}
}

/* Counts the closures in `in` up to the one that runs `opcodes`; true when it is there. */
static bool count_to(const zend_op_array *in, const zend_op *opcodes, uint32_t *number)
{
	for (uint32_t n = 0; n < in->num_dynamic_func_defs; n++) {
		const zend_op_array *def = in->dynamic_func_defs[n];
		if (def->opcodes == opcodes) {
			return true;
		}
		(*number)++;
		if (count_to(def, opcodes, number)) {
			return true;
		}
	}
	return false;
}

static zend_op_array *nth(const zend_op_array *in, uint32_t *number)
{
	for (uint32_t n = 0; n < in->num_dynamic_func_defs; n++) {
		zend_op_array *def = in->dynamic_func_defs[n];
		if (*number == 0) {
			return def;
		}
		(*number)--;
		zend_op_array *found = nth(def, number);
		if (found) {
			return found;
		}
	}
	return NULL;
}

static apus_bytes bytes_of(const zend_string *string)
{
	return string ? (apus_bytes){ZSTR_VAL(string), ZSTR_LEN(string)} : (apus_bytes){"", 0};
}

static bool is_in(const zend_op_array *in, const zend_op_array *closure, apus_closure_place *place)
{
	uint32_t number = 0;
	bool same_file = in->filename == closure->filename || zend_string_equals(in->filename, closure->filename);
	if (!same_file || !count_to(in, closure->opcodes, &number)) {
		return false;
	}
	place->number = number;
	return true;
}

static bool is_in_table(HashTable *functions, const zend_op_array *closure, apus_closure_place *place)
{
	zend_string *name;
	zend_function *function;
	ZEND_HASH_FOREACH_STR_KEY_PTR(functions, name, function) {
		if (name && function->type == ZEND_USER_FUNCTION && is_in(&function->op_array, closure, place)) {
			place->function = bytes_of(name);
			return true;
		}
	} ZEND_HASH_FOREACH_END();
	return false;
}

static bool is_in_class(zend_class_entry *ce, const zend_op_array *closure, apus_closure_place *place)
{
	if (ce->type != ZEND_USER_CLASS || !is_in_table(&ce->function_table, closure, place)) {
		return false;
	}
	place->scope = bytes_of(ce->name);
	return true;
}

apus_closure_kind apus_closure_find(zval *closure, apus_closure_place *place)
{
	const zend_function *function = zend_get_closure_method_def(Z_OBJ_P(closure));
	zend_class_entry *scope = function->common.scope;
	memset(place, 0, sizeof *place);
	place->scope = place->function = place->bound = bytes_of(NULL);
	if (function->common.fn_flags & ZEND_ACC_FAKE_CLOSURE) {
		place->function = bytes_of(function->common.function_name);
		place->scope = bytes_of(scope ? scope->name : NULL);
		return APUS_CLOSURE_NAMED;
	}
	if (function->type != ZEND_USER_FUNCTION) {
		return APUS_CLOSURE_UNKNOWN;
	}
	const zend_op_array *code = &function->op_array;
	place->first_line = code->line_start;
	place->last_line = code->line_end;
	place->bound = bytes_of(scope && scope != zend_ce_closure ? scope->name : NULL);
	if (scope && is_in_class(scope, code, place)) {
		return APUS_CLOSURE_WRITTEN;
	}
	if (main_script && is_in(main_script, code, place)) {
		return APUS_CLOSURE_WRITTEN;
	}
	if (is_in_table(EG(function_table), code, place)) {
		return APUS_CLOSURE_WRITTEN;
	}
	zend_class_entry *ce;
	ZEND_HASH_FOREACH_PTR(EG(class_table), ce) {
		if (is_in_class(ce, code, place)) {
			return APUS_CLOSURE_WRITTEN;
		}
	} ZEND_HASH_FOREACH_END();
	return APUS_CLOSURE_UNKNOWN;
}

zval *apus_closure_this(zval *closure)
{
	zval *self = zend_get_closure_this_ptr(closure);
	return Z_TYPE_P(self) == IS_OBJECT ? self : NULL;
}

static zend_class_entry *class_of(apus_bytes name)
{
	if (name.len == 0) {
		return NULL;
	}
	zend_string *string = zend_string_init(name.bytes, name.len, 0);
	zend_class_entry *ce = zend_lookup_class(string);
	zend_string_release(string);
	return ce;
}

static zend_op_array *code_at(const apus_closure_place *place)
{
	zend_op_array *in = main_script;
	uint32_t number = place->number;
	if (place->function.len > 0) {
		HashTable *functions = EG(function_table);
		if (place->scope.len > 0) {
			zend_class_entry *ce = class_of(place->scope);
			if (!ce) {
				return NULL;
			}
			functions = &ce->function_table;
		}
		zend_function *function = zend_hash_str_find_ptr(functions, place->function.bytes, place->function.len);
		in = function && function->type == ZEND_USER_FUNCTION ? &function->op_array : NULL;
	}
	zend_op_array *code = in ? nth(in, &number) : NULL;
	/* Another version of the code is another closure. */
	bool same = code && code->line_start == place->first_line && code->line_end == place->last_line;
	return same ? code : NULL;
}

apus_status apus_closure_make(const apus_closure_place *place, zval *self, zval *out)
{
	apus_status status = APUS_OK;
	ZVAL_UNDEF(out);
	apus_try {
		zend_op_array *code = code_at(place);
		zend_class_entry *bound = EG(exception) ? NULL : class_of(place->bound);
		if (code && !EG(exception) && (bound || place->bound.len == 0)) {
			zend_class_entry *called = self ? Z_OBJCE_P(self) : bound;
			zend_create_closure(out, (zend_function *)code, bound, called, self);
		}
	} apus_catch {
		status = APUS_BAILED;
	} apus_end_try();
	return status == APUS_OK && EG(exception) ? APUS_THREW : status;
}

apus_status apus_closure_bind(zval *closure, const char *name, size_t len, zval *value)
{
	apus_status status = APUS_OK;
	const zend_function *function = zend_get_closure_method_def(Z_OBJ_P(closure));
	apus_try {
		/* Those of this very closure, in which the compiler keeps what it uses. */
		HashTable *variables = ZEND_MAP_PTR_GET(function->op_array.static_variables_ptr);
		if (variables) {
			zend_hash_str_update(variables, name, len, value);
		} else {
			zval_ptr_dtor(value);
		}
	} apus_catch {
		status = APUS_BAILED;
	} apus_end_try();
	return status;
}
