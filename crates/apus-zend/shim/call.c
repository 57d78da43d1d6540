#include "apus_shim.h"
#include "SAPI.h"
#include "zend_closures.h"

void apus_stand_back(const apus_standing *standing)
{
	EG(current_execute_data) = standing->execute_data;
	/* Pages that the frames above had asked for: a frame that returns expects its own page to be the last. */
	while (EG(vm_stack) != standing->stack) {
		zend_vm_stack page = EG(vm_stack);
		EG(vm_stack) = page->prev;
		efree(page);
	}
	EG(vm_stack_top) = standing->top;
	EG(vm_stack_end) = standing->end;
	EG(error_reporting) = standing->error_reporting;
	/* Destructors block it for the time they run. */
	while (!standing->switch_blocked && zend_fiber_switch_blocked()) {
		zend_fiber_switch_unblock();
	}
	apus_ambient_revive();
}

bool apus_is_shutting_down(void)
{
	return (EG(flags) & EG_FLAGS_IN_SHUTDOWN) != 0;
}

/* Where no shutdown function was registered, what runs at shutdown is a last destructor; else it is what PHP itself has
 * called that tells. */
bool apus_is_past_shutdown_functions(void)
{
	if (!apus_is_shutting_down() || BG(user_shutdown_function_names) == NULL) {
		return apus_is_shutting_down();
	}
	const zend_execute_data *first = EG(current_execute_data);
	while (first != NULL && first->prev_execute_data != NULL) {
		first = first->prev_execute_data;
	}
	const zend_function *called = first != NULL ? first->func : NULL;
	return called != NULL && called->common.scope != NULL && called->common.scope->destructor == called;
}

/* How a guarded call ended that may have thrown. */
static apus_status ended(bool failed)
{
	return failed ? APUS_BAILED : EG(exception) != NULL ? APUS_THREW : APUS_OK;
}

uint32_t apus_num_args(const zend_execute_data *ex)
{
	return ZEND_CALL_NUM_ARGS(ex);
}

zval *apus_arg(zend_execute_data *ex, uint32_t index)
{
	zval *arg = ZEND_CALL_ARG(ex, index + 1);
	ZVAL_DEREF(arg);
	return arg;
}

zend_object *apus_this(zend_execute_data *ex)
{
	return Z_TYPE(ex->This) == IS_OBJECT ? Z_OBJ(ex->This) : NULL;
}

apus_status apus_check_arg_count(zend_execute_data *ex, uint32_t min, uint32_t max)
{
	bool failed = false;
	uint32_t count = ZEND_CALL_NUM_ARGS(ex);
	if (EXPECTED(count >= min && count <= max)) {
		return APUS_OK;
	}
	GUARDED(failed, zend_wrong_parameters_count_error(min, max == UINT32_MAX ? (uint32_t) -1 : max));
	return failed ? APUS_BAILED : APUS_THREW;
}

/* Takes what is of the right kind already. */
static bool take(zval *arg, apus_arg_kind kind, bool nullable, bool *is_null, apus_arg_value *out)
{
	const zend_uchar type = Z_TYPE_P(arg);
	*is_null = nullable && type == IS_NULL;
	switch (kind) {
		case APUS_ARG_LONG:
			out->l = type == IS_LONG ? Z_LVAL_P(arg) : 0;
			return *is_null || type == IS_LONG;
		case APUS_ARG_DOUBLE:
			out->d = type == IS_DOUBLE ? Z_DVAL_P(arg) : 0;
			return *is_null || type == IS_DOUBLE;
		case APUS_ARG_BOOL:
			out->b = type == IS_TRUE;
			return *is_null || type == IS_TRUE || type == IS_FALSE;
		case APUS_ARG_STRING:
			out->s = type == IS_STRING ? Z_STR_P(arg) : NULL;
			return *is_null || type == IS_STRING;
		case APUS_ARG_ARRAY:
			out->a = type == IS_ARRAY ? Z_ARRVAL_P(arg) : NULL;
			return *is_null || type == IS_ARRAY;
		case APUS_ARG_OBJECT:
			out->o = type == IS_OBJECT ? Z_OBJ_P(arg) : NULL;
			return *is_null || type == IS_OBJECT;
	}
	return false;
}

/* Converts by PHP's rules, which may run __toString() and error handlers. False: it cannot be converted. */
static bool convert(zval *arg, apus_arg_kind kind, bool nullable, bool *is_null, apus_arg_value *out, uint32_t number)
{
	switch (kind) {
		case APUS_ARG_LONG:
			return zend_parse_arg_long(arg, &out->l, is_null, nullable, number);
		case APUS_ARG_DOUBLE:
			return zend_parse_arg_double(arg, &out->d, is_null, nullable, number);
		case APUS_ARG_BOOL:
			return zend_parse_arg_bool(arg, &out->b, is_null, nullable, number);
		case APUS_ARG_STRING:
			return zend_parse_arg_str(arg, &out->s, nullable, number);
		default:
			return false;
	}
}

static zend_expected_type expected(apus_arg_kind kind, bool nullable)
{
	switch (kind) {
		case APUS_ARG_LONG: return nullable ? Z_EXPECTED_LONG_OR_NULL : Z_EXPECTED_LONG;
		case APUS_ARG_DOUBLE: return nullable ? Z_EXPECTED_DOUBLE_OR_NULL : Z_EXPECTED_DOUBLE;
		case APUS_ARG_BOOL: return nullable ? Z_EXPECTED_BOOL_OR_NULL : Z_EXPECTED_BOOL;
		case APUS_ARG_STRING: return nullable ? Z_EXPECTED_STRING_OR_NULL : Z_EXPECTED_STRING;
		case APUS_ARG_ARRAY: return nullable ? Z_EXPECTED_ARRAY_OR_NULL : Z_EXPECTED_ARRAY;
		case APUS_ARG_OBJECT: break;
	}
	return Z_EXPECTED_OBJECT;
}

static zend_never_inline apus_status convert_or_throw(zval *arg, uint32_t number, apus_arg_kind kind, bool nullable,
	bool *is_null,
	apus_arg_value *out)
{
	bool failed = false;
	volatile bool converted = false;
	GUARDED(failed, {
		converted = convert(arg, kind, nullable, is_null, out, number);
		if (!converted && !EG(exception)) {
			zend_wrong_parameter_type_error(number, expected(kind, nullable), arg);
		}
	});
	return failed ? APUS_BAILED : converted ? APUS_OK : APUS_THREW;
}

apus_status apus_arg_convert(zend_execute_data *ex, uint32_t index, apus_arg_kind kind, bool nullable, bool *is_null,
	apus_arg_value *out)
{
	zval *arg = apus_arg(ex, index);
	if (EXPECTED(take(arg, kind, nullable, is_null, out))) {
		return APUS_OK;
	}
	return convert_or_throw(arg, index + 1, kind, nullable, is_null, out);
}

apus_status apus_arg_type_error(uint32_t index, const char *expected, zval *arg)
{
	bool failed = false;
	GUARDED(failed, zend_argument_type_error(index + 1, "must be %s, %s given", expected, zend_zval_type_name(arg)));
	return failed ? APUS_BAILED : APUS_THREW;
}

apus_status apus_arg_error(zend_class_entry *ce, uint32_t index, const char *text, size_t len)
{
	bool failed = false;
	GUARDED(failed, zend_argument_error(ce, index + 1, "%.*s", (int) len, text));
	return failed ? APUS_BAILED : APUS_THREW;
}

apus_status apus_throw(zend_class_entry *ce, zend_long code, const char *message, size_t len)
{
	bool failed = false;
	GUARDED(failed, zend_throw_exception_ex(ce, code, "%.*s", (int) len, message));
	return failed ? APUS_BAILED : APUS_THREW;
}

/* Where no code of the program runs there is no place to tell. The program's own handlers get a name all the same: many
 * insist on a string. */
static void raise_error(int type, const char *message, size_t len)
{
	zend_string *place = zend_get_executed_filename_ex();
	if (place != NULL) {
		zend_error(type, "%.*s", (int) len, message);
		return;
	}
	place = ZSTR_INIT_LITERAL("Unknown", false);
	zend_error_at(type, place, 0, "%.*s", (int) len, message);
	zend_string_release(place);
}

apus_status apus_error(int type, const char *message, size_t len)
{
	bool failed = false;
	GUARDED(failed, raise_error(type, message, len));
	return ended(failed);
}

/* Begins with the name of the running function, as PHP's own warnings do. */
apus_status apus_docref(int type, const char *message, size_t len)
{
	bool failed = false;
	GUARDED(failed, php_error_docref(NULL, type, "%.*s", (int) len, message));
	return ended(failed);
}

/* May load a class, or tell of a deprecated way to name a function. */
static bool resolve(apus_callable *out, zval *value, char **error)
{
	if (!zend_is_callable_ex(value, NULL, 0, NULL, &out->cache, error)) {
		return false;
	}
	if (*error != NULL) {
		efree(*error);
		*error = NULL;
	}
	ZVAL_COPY(&out->function, value);
	/* A call through __call() has a function of its own a call, which must not be kept. */
	if (out->cache.function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) {
		zend_release_fcall_info_cache(&out->cache);
		memset(&out->cache, 0, sizeof(out->cache));
	}
	return true;
}

apus_bytes apus_callable_file(const apus_callable *callable, uint32_t *line)
{
	const zend_function *function = callable->cache.function_handler;
	if (function == NULL || !ZEND_USER_CODE(function->type)) {
		return (apus_bytes){NULL, 0};
	}
	*line = function->op_array.line_start;
	return (apus_bytes){ZSTR_VAL(function->op_array.filename), ZSTR_LEN(function->op_array.filename)};
}

int64_t apus_callable_arity(const apus_callable *callable)
{
	const zend_function *function = callable->cache.function_handler;
	return function == NULL || (function->common.fn_flags & ZEND_ACC_VARIADIC) ? -1
		: (int64_t) function->common.num_args;
}

apus_status apus_callable_init(apus_callable *out, zval *value, bool *callable, char **error)
{
	bool failed = false;
	memset(out, 0, sizeof(*out));
	*error = NULL;
	*callable = false;
	GUARDED(failed, *callable = resolve(out, value, error));
	if (UNEXPECTED(failed)) {
		*callable = false;
		return APUS_BAILED;
	}
	return *callable || EG(exception) == NULL ? APUS_OK : APUS_THREW;
}

bool apus_callable_of_closure(apus_callable *out, zval *value)
{
	if (UNEXPECTED(Z_TYPE_P(value) != IS_OBJECT || Z_OBJCE_P(value) != zend_ce_closure)) {
		return false;
	}
	zend_fcall_info_cache *const cache = &out->cache;
	zend_object *const closure = Z_OBJ_P(value);
	memset(cache, 0, sizeof(*cache));
	if (closure->handlers->get_closure(closure, &cache->calling_scope, &cache->function_handler, &cache->object, true)
			!= SUCCESS
		|| UNEXPECTED(cache->function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)) {
		return false;
	}
	cache->called_scope = cache->calling_scope;
#if PHP_VERSION_ID >= 80300
	cache->closure = closure;
#endif
	ZVAL_COPY(&out->function, value);
	return true;
}

void apus_free_message(char *message)
{
	if (message != NULL) {
		efree(message);
	}
}

apus_status apus_call(apus_callable *callable, zval *ret, uint32_t count, zval *args)
{
	apus_status status = APUS_OK;
	const bool outer = apus_bailed_in_release;
	apus_bailed_in_release = false;
	ZVAL_UNDEF(ret);
	apus_try {
		zend_fcall_info fci = {
			.size = sizeof(fci), .retval = ret, .params = args, .object = callable->cache.object, .param_count = count,
		};
		ZVAL_COPY_VALUE(&fci.function_name, &callable->function);
		zend_fcall_info_cache cache = callable->cache;
		zend_call_function(&fci, &cache);
	} apus_catch {
		status = APUS_BAILED;
	} apus_end_try();
	if (UNEXPECTED(apus_bailed_in_release)) {
		status = APUS_BAILED;
	}
	apus_bailed_in_release = outer;
	return status == APUS_OK && EG(exception) ? APUS_THREW : status;
}

/* A property that Exception or Error declares; it may be a reference. */
static zval *exception_property(zend_object *exception, const char *name, size_t len)
{
	zend_class_entry *base = instanceof_function(exception->ce, zend_ce_exception) ? zend_ce_exception : zend_ce_error;
	zend_property_info *info = zend_hash_str_find_ptr(&base->properties_info, name, len);
	zval *value = OBJ_PROP(exception, info->offset);
	ZVAL_DEREF(value);
	return value;
}

zend_long apus_exception_code(zend_object *exception)
{
	zval *code = exception_property(exception, "code", sizeof("code") - 1);
	return Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
}

zend_string *apus_exception_message(zend_object *exception)
{
	zval *message = exception_property(exception, "message", sizeof("message") - 1);
	return Z_TYPE_P(message) == IS_STRING ? zend_string_copy(Z_STR_P(message)) : NULL;
}

zend_object *apus_take_exception(void)
{
	bool failed = false;
	zend_object *exception = EG(exception);
	if (exception != NULL) {
		GC_ADDREF(exception);
		/* One that it pushed aside is given back, and what that holds. */
		GUARDED(failed, zend_clear_exception());
		apus_bailed_in_release |= failed;
	}
	return exception;
}

apus_status apus_rethrow(zend_object *exception)
{
	bool failed = false;
	GUARDED(failed, zend_throw_exception_internal(exception));
	return failed ? APUS_BAILED : APUS_THREW;
}

apus_status apus_throw_unwind_exit(void)
{
	bool failed = false;
	GUARDED(failed, zend_throw_unwind_exit());
	return failed ? APUS_BAILED : APUS_THREW;
}

apus_status apus_throw_graceful_exit(void)
{
	bool failed = false;
	GUARDED(failed, zend_throw_exception_internal(zend_create_graceful_exit()));
	return failed ? APUS_BAILED : APUS_THREW;
}

int apus_exit_status(void)
{
	return EG(exit_status);
}

void apus_set_exit_status(int status)
{
	EG(exit_status) = status;
}

bool apus_after_fatal(void)
{
	return CG(unclean_shutdown);
}

bool apus_told_fatal(void)
{
	return PG(last_error_message) != NULL && (PG(last_error_type) & E_FATAL_ERRORS) != 0;
}

bool apus_take_memory_exit(void)
{
#ifdef ZEND_HAS_OOM
	/* Reported, and over with the coroutine that met it: while it stands, json_encode() and others give up. */
	if (EG(delayed_oom).state == ZEND_OOM_STATE_HANDLED) {
		EG(delayed_oom).state = ZEND_OOM_STATE_NONE;
		return true;
	}
#endif
	return false;
}

bool apus_has_exception_handler(void)
{
	return Z_TYPE(EG(user_exception_handler)) != IS_UNDEF;
}

apus_status apus_call_exception_handler(void)
{
	apus_status status = APUS_OK;
	apus_try {
		zend_user_exception_handler();
	} apus_catch {
		status = APUS_BAILED;
		/* It is set aside for the time it runs. */
		zval *handler = zend_stack_top(&EG(user_exception_handlers));
		if (Z_TYPE(EG(user_exception_handler)) == IS_UNDEF && handler != NULL) {
			ZVAL_COPY_VALUE(&EG(user_exception_handler), handler);
			zend_stack_del_top(&EG(user_exception_handlers));
		}
	} apus_end_try();
	if (UNEXPECTED(apus_take_memory_exit())) {
		/* PHP has dropped the unwinding with whatever the handler threw. */
		status = APUS_BAILED;
	}
	return status == APUS_OK && EG(exception) ? APUS_THREW : status;
}

zend_string *apus_exception_text(zend_object *exception)
{
	zend_string *volatile text = NULL;
	apus_try {
		zval ret;
		ZVAL_UNDEF(&ret);
		zend_call_method_with_0_params(exception, exception->ce, &exception->ce->__tostring, "__tostring", &ret);
		if (EG(exception)) {
			zend_clear_exception();
		}
		if (Z_TYPE(ret) == IS_STRING) {
			text = Z_STR(ret);
		} else {
			zval_ptr_dtor(&ret);
			text = zend_string_copy(exception->ce->name);
		}
	} apus_catch {
	} apus_end_try();
	return text;
}

zend_string *apus_ini(const char *name, size_t len)
{
	zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, len);
	return entry != NULL && entry->value != NULL ? zend_string_copy(entry->value) : NULL;
}

zend_string *apus_constant_text(const char *name, size_t len)
{
	zend_string *volatile text = NULL;
	apus_try {
		zval *value = zend_get_constant_str(name, len);
		text = value != NULL && Z_TYPE_P(value) == IS_STRING ? zend_string_copy(Z_STR_P(value)) : NULL;
	} apus_catch {
	} apus_end_try();
	return text;
}

const char *apus_main_script(void)
{
	return SG(request_info).path_translated;
}
