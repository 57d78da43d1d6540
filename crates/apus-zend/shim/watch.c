#include "apus_shim.h"
#include "zend_atomic.h"
#include <stdatomic.h>

/* The VM looks at EG(vm_interrupt) at every call and backward jump, JIT code too: the way to stop PHP code from another
 * thread for a moment, at a place where its stack can be read. */

static void (*previous)(zend_execute_data *);
static void (*look)(void);
static atomic_bool wanted;

static void interrupt(zend_execute_data *execute_data)
{
	if (atomic_exchange(&wanted, false)) {
		look();
	}
	if (previous != NULL) {
		previous(execute_data);
	}
}

void apus_watch_startup(void (*hook)(void))
{
	look = hook;
	previous = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void apus_watch_interrupt(void)
{
	atomic_store(&wanted, true);
	zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

void apus_watch_cancel(void)
{
	atomic_store(&wanted, false);
}

bool apus_watch_take_signal(void)
{
	if (EXPECTED(!zend_atomic_bool_load_ex(&EG(vm_interrupt))) || atomic_load(&wanted) || zend_atomic_bool_load_ex(&EG(timed_out))) {
		return false;
	}
	zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
	return true;
}
