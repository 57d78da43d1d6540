#include "apus_shim.h"
#include "SAPI.h"

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

bool apus_check_arg_count(zend_execute_data *ex, uint32_t min, uint32_t max)
{
	uint32_t count = ZEND_CALL_NUM_ARGS(ex);
	if (EXPECTED(count >= min && count <= max)) {
		return true;
	}
	zend_wrong_parameters_count_error(min, max == UINT32_MAX ? (uint32_t) -1 : max);
	return false;
}

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
			if (!zend_parse_arg_str(arg, &out->s, nullable, number)) {
				return false;
			}
			*is_null = out->s == NULL;
			return true;
		case APUS_ARG_ARRAY:
			*is_null = nullable && Z_TYPE_P(arg) == IS_NULL;
			out->a = Z_TYPE_P(arg) == IS_ARRAY ? Z_ARRVAL_P(arg) : NULL;
			return *is_null || out->a != NULL;
		case APUS_ARG_OBJECT:
			*is_null = nullable && Z_TYPE_P(arg) == IS_NULL;
			out->o = Z_TYPE_P(arg) == IS_OBJECT ? Z_OBJ_P(arg) : NULL;
			return *is_null || out->o != NULL;
	}
	return false;
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

bool apus_arg_convert(zend_execute_data *ex, uint32_t index, apus_arg_kind kind, bool nullable, bool *is_null, apus_arg_value *out)
{
	zval *arg = apus_arg(ex, index);
	*is_null = false;
	if (EXPECTED(convert(arg, kind, nullable, is_null, out, index + 1))) {
		return true;
	}
	if (!EG(exception)) {
		zend_wrong_parameter_type_error(index + 1, expected(kind, nullable), arg);
	}
	return false;
}

void apus_arg_type_error(uint32_t index, const char *expected, zval *arg)
{
	zend_argument_type_error(index + 1, "must be %s, %s given", expected, zend_zval_type_name(arg));
}

void apus_arg_error(zend_class_entry *ce, uint32_t index, const char *text, size_t len)
{
	zend_argument_error(ce, index + 1, "%.*s", (int) len, text);
}

void apus_throw(zend_class_entry *ce, zend_long code, const char *message, size_t len)
{
	zend_throw_exception_ex(ce, code, "%.*s", (int) len, message);
}

void apus_error(int type, const char *message, size_t len)
{
	zend_error(type, "%.*s", (int) len, message);
}

bool apus_callable_init(apus_callable *out, zval *value, char **error)
{
	memset(out, 0, sizeof(*out));
	if (!zend_is_callable_ex(value, NULL, 0, NULL, &out->cache, error)) {
		return false;
	}
	if (error != NULL && *error != NULL) {
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

void apus_callable_release(apus_callable *callable)
{
	apus_zval_release(&callable->function);
	ZVAL_UNDEF(&callable->function);
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
	ZVAL_UNDEF(ret);
	zend_try {
		zend_fcall_info fci = {
			.size = sizeof(fci), .retval = ret, .params = args, .object = callable->cache.object, .param_count = count,
		};
		ZVAL_COPY_VALUE(&fci.function_name, &callable->function);
		zend_fcall_info_cache cache = callable->cache;
		zend_call_function(&fci, &cache);
	} zend_catch {
		status = APUS_BAILED;
	} zend_end_try();
	return status == APUS_OK && EG(exception) ? APUS_THREW : status;
}

zend_object *apus_take_exception(void)
{
	zend_object *exception = EG(exception);
	if (exception != NULL) {
		GC_ADDREF(exception);
		zend_clear_exception();
	}
	return exception;
}

void apus_rethrow(zend_object *exception)
{
	zend_throw_exception_internal(exception);
}

void apus_throw_unwind_exit(void)
{
	zend_throw_unwind_exit();
}

zend_object *apus_graceful_exit_new(void)
{
	return zend_create_graceful_exit();
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
#ifdef ZEND_HAS_OOM
	/* Reported, and over with the coroutine that met it: while it stands, json_encode() and others give up. */
	if (EG(delayed_oom).state == ZEND_OOM_STATE_HANDLED) {
		EG(delayed_oom).state = ZEND_OOM_STATE_NONE;
	}
#endif
	return CG(unclean_shutdown);
}

bool apus_has_exception_handler(void)
{
	return Z_TYPE(EG(user_exception_handler)) != IS_UNDEF;
}

apus_status apus_call_exception_handler(void)
{
	apus_status status = APUS_OK;
	zend_try {
		zend_user_exception_handler();
	} zend_catch {
		status = APUS_BAILED;
	} zend_end_try();
	return status == APUS_OK && EG(exception) ? APUS_THREW : status;
}

zend_string *apus_exception_text(zend_object *exception)
{
	zend_string *volatile text = NULL;
	zend_try {
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
	} zend_end_try();
	return text;
}

zend_string *apus_ini(const char *name, size_t len)
{
	zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, len);
	return entry != NULL && entry->value != NULL ? zend_string_copy(entry->value) : NULL;
}

const char *apus_main_script(void)
{
	return SG(request_info).path_translated;
}
