#include "apus_shim.h"

/* What the hooks of libc calls have to know about the PHP code that led to them. */

static zend_op_array *(*inner_compile_file)(zend_file_handle *, int);
/* Files that are being compiled, one inside another. The compiler is one for the process, so nobody else may run meanwhile. */
static unsigned compiling;

static zend_op_array *compile(zend_file_handle *file, int type)
{
	zend_op_array *compiled = NULL;
	bool bailed = false;
	compiling++;
	zend_try {
		compiled = inner_compile_file(file, type);
	} zend_catch {
		bailed = true;
	} zend_end_try();
	compiling--;
	if (bailed) {
		zend_bailout();
	}
	return compiled;
}

void apus_hook_startup(void)
{
	inner_compile_file = zend_compile_file;
	zend_compile_file = compile;
}

bool apus_compiling(void)
{
	return compiling != 0;
}

apus_hook_place apus_hook_where(void)
{
	const zend_execute_data *ex = EG(current_execute_data);
	if (ex == NULL || ex->func == NULL || ex->func->type != ZEND_INTERNAL_FUNCTION || !apus_can_switch()) {
		return APUS_HOOK_STAY;
	}
	return EG(exception) != NULL ? APUS_HOOK_FAIL : APUS_HOOK_WAIT;
}

void apus_running_function(const apus_fiber *fiber, const char **class, const char **function)
{
	const zend_execute_data *ex = fiber != NULL ? apus_fiber_execute_data(fiber) : EG(current_execute_data);
	const zend_function *running = ex != NULL ? ex->func : NULL;
	*class = running != NULL && running->common.scope != NULL ? ZSTR_VAL(running->common.scope->name) : NULL;
	*function = running != NULL && running->common.function_name != NULL ? ZSTR_VAL(running->common.function_name) : NULL;
}
