/* exit() that throws an exception where the process is to go on. */
#include "apus_shim.h"

static zend_class_entry *exception_class;
/* Where the running code is; 0 where exit() is PHP's own. */
static zend_long (*place)(void);

static void throw_exit(zend_long where, zval *status)
{
	zend_object *thrown = zend_throw_exception(exception_class, "swoole exit", 0);
	zend_update_property_long(exception_class, thrown, ZEND_STRL("flags"), where);
	zend_update_property(exception_class, thrown, ZEND_STRL("status"), status);
}

#if PHP_VERSION_ID < 80400
static user_opcode_handler_t previous;

static int exit_handler(zend_execute_data *execute_data)
{
	const zend_op *opline = EX(opline);
	zend_long where = place();
	zval status;
	if (where == 0) {
		return previous != NULL ? previous(execute_data) : ZEND_USER_OPCODE_DISPATCH;
	}
	ZVAL_NULL(&status);
	if (opline->op1_type == IS_CONST) {
		ZVAL_COPY(&status, RT_CONSTANT(opline, opline->op1));
	} else if (opline->op1_type != IS_UNUSED) {
		zval *given = EX_VAR(opline->op1.var);
		if (Z_TYPE_P(given) != IS_UNDEF) {
			ZVAL_COPY_DEREF(&status, given);
		}
		/* What only this operation uses is given back by it. */
		if (opline->op1_type & (IS_TMP_VAR | IS_VAR)) {
			zval_ptr_dtor_nogc(given);
		}
	}
	throw_exit(where, &status);
	zval_ptr_dtor(&status);
	return ZEND_USER_OPCODE_CONTINUE;
}

static void replace(void)
{
	previous = zend_get_user_opcode_handler(ZEND_EXIT);
	zend_set_user_opcode_handler(ZEND_EXIT, exit_handler);
}
#else
static zif_handler previous;

static ZEND_NAMED_FUNCTION(exit_function)
{
	zend_long where = place();
	zend_string *message = NULL;
	zend_long code = 0;
	zval status;
	if (where == 0) {
		previous(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_LONG(message, code)
	ZEND_PARSE_PARAMETERS_END();
	if (message != NULL) {
		ZVAL_STR(&status, message);
	} else {
		ZVAL_LONG(&status, code);
	}
	throw_exit(where, &status);
}

static void replace(void)
{
	zend_function *function = zend_hash_str_find_ptr(CG(function_table), ZEND_STRL("exit"));
	if (function != NULL) {
		previous = function->internal_function.handler;
		function->internal_function.handler = exit_function;
	}
}
#endif

void apus_exit_install(zend_class_entry *thrown, zend_long (*where)(void))
{
	exception_class = thrown;
	place = where;
	replace();
}

void apus_exit_property(zend_object *thrown, const char *name, zval *into)
{
	ZVAL_NULL(into);
	apus_try {
		zval kept;
		ZVAL_COPY_DEREF(into, zend_read_property(exception_class, thrown, name, strlen(name), true, &kept));
	} apus_catch {
	} apus_end_try();
}
