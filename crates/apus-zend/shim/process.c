#include "apus_shim.h"
#include "zend_atomic.h"
#include "zend_exceptions.h"
#include <stdatomic.h>

/* Handlers of signals run where the VM can be interrupted, as those of ext/pcntl do, whose hook is called first. */

static void (*previous)(zend_execute_data *);
static bool (*handle)(void);
static atomic_bool due;

static void interrupt(zend_execute_data *execute_data)
{
	if (previous != NULL) {
		previous(execute_data);
	}
	if (!atomic_load(&due)) {
		return;
	}
	if (EG(exception) != NULL) {
		/* It is thrown first; the handlers' turn comes with the next interrupt. An exit has no next one: the VM would
		 * look for its way out past a catch block for ever, interrupted each time before it gets on. */
		if (!zend_is_unwind_exit(EG(exception)) && !zend_is_graceful_exit(EG(exception))) {
			zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
		}
		return;
	}
	atomic_store(&due, false);
	if (handle()) {
		apus_bailout();
	}
}

void apus_signal_startup(bool (*hook)(void))
{
	handle = hook;
	previous = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void apus_signal_due(void)
{
	atomic_store(&due, true);
	zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

apus_status apus_report_uncaught(zend_object *exception)
{
	volatile apus_status status = APUS_OK;
	apus_try {
		/* Zend gives back one reference when it has told of it. */
		GC_ADDREF(exception);
		zend_exception_error(exception, E_ERROR);
	} apus_catch {
		status = APUS_BAILED;
	} apus_end_try();
	return status;
}
