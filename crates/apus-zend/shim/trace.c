#include "apus_shim.h"

static apus_status fetch(const apus_fiber *fiber, bool skip_last, zend_long options, zend_long limit, zval *out)
{
	apus_status status = APUS_OK;
	zend_execute_data *current = EG(current_execute_data);
	if (fiber != NULL) {
		EG(current_execute_data) = apus_fiber_execute_data(fiber);
	}
	apus_try {
		zend_fetch_debug_backtrace(out, skip_last, (int) options, (int) limit);
	} apus_catch {
		status = APUS_BAILED;
	} apus_end_try();
	EG(current_execute_data) = current;
	return status;
}

apus_status apus_backtrace(const apus_fiber *fiber, zend_long options, zend_long limit, zval *out)
{
	/* The running code is a native function that asks: its own frame is left out, as debug_backtrace() does. */
	return fetch(fiber, fiber == NULL, options, limit, out);
}

zend_string *apus_trace_text(const apus_fiber *fiber, uint32_t most, bool *cut)
{
	zval trace;
	zend_string *volatile text = NULL;
	ZVAL_UNDEF(&trace);
	/* One more than is shown tells whether there are more; a limit also bounds the walk. */
	if (fetch(fiber, false, DEBUG_BACKTRACE_IGNORE_ARGS, (zend_long) most + 1, &trace) != APUS_OK) {
		return NULL;
	}
	*cut = zend_hash_num_elements(Z_ARRVAL(trace)) > most;
	apus_try {
		if (*cut) {
			zend_hash_index_del(Z_ARRVAL(trace), most);
		}
		text = zend_trace_to_string(Z_ARRVAL(trace), false);
		zval_ptr_dtor(&trace);
	} apus_catch {
	} apus_end_try();
	return text;
}

void apus_position(const char **file, uint32_t *line)
{
	*file = zend_get_executed_filename();
	*line = zend_get_executed_lineno();
}
