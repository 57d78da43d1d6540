#include "apus_shim.h"
#include <netinet/in.h>
#include <resolv.h>

/* What the hooks of libc calls have to know about the PHP code that led to them. */

bool apus_c_waits;

/* Does the VM itself call into C code that may wait, other than to free, compile or print something? */
static bool iterates(const zend_execute_data *ex)
{
	switch (ex->opline->opcode) {
		case ZEND_FE_RESET_R:
		case ZEND_FE_RESET_RW:
		case ZEND_FE_FETCH_R:
		case ZEND_FE_FETCH_RW:
			return true;
		default:
			return false;
	}
}

apus_hook_place apus_hook_where(bool freeing)
{
	const zend_execute_data *ex = EG(current_execute_data);
	if (ex == NULL || ex->func == NULL || !apus_can_switch()) {
		return APUS_HOOK_STAY;
	}
	if (ex->func->type != ZEND_INTERNAL_FUNCTION && !(ZEND_USER_CODE(ex->func->type) && (freeing || iterates(ex)))) {
		return APUS_HOOK_STAY;
	}
	if (EG(exception) != NULL || apus_guard_is_broken()) {
		return APUS_HOOK_FAIL;
	}
	apus_c_waits = true;
	return APUS_HOOK_WAIT;
}

void apus_running_function(const apus_fiber *fiber, const char **class, const char **function)
{
	const zend_execute_data *ex = fiber != NULL ? apus_fiber_execute_data(fiber) : EG(current_execute_data);
	const zend_function *running = ex != NULL ? ex->func : NULL;
	*class = running != NULL && running->common.scope != NULL ? ZSTR_VAL(running->common.scope->name) : NULL;
	*function = running != NULL && running->common.function_name != NULL ? ZSTR_VAL(running->common.function_name)
		: NULL;
}

void apus_resolver_failed(void *state, int error)
{
	((res_state) state)->res_h_errno = error;
}
