#include "apus_shim.h"
#include "zend_atomic.h"
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

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
	if (EXPECTED(!zend_atomic_bool_load_ex(&EG(vm_interrupt))) || atomic_load(&wanted)
		|| zend_atomic_bool_load_ex(&EG(timed_out))) {
		return false;
	}
	zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
	return true;
}

/* Copies memory that another thread may be changing or giving back meanwhile: the kernel refuses what is not mapped. */
static bool peek(void *to, const void *from, size_t size)
{
	const struct iovec local = {to, size}, remote = {(void *) from, size};
	return from != NULL && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t) size;
}

size_t apus_watch_function(char *name, size_t size)
{
	zend_execute_data ex;
	zend_internal_function function;
	zend_string text;
	if (!peek(&ex, EG(current_execute_data), sizeof(ex)) || !peek(&function, ex.func, sizeof(function))
		|| function.type != ZEND_INTERNAL_FUNCTION
		|| !peek(&text, function.function_name, offsetof(zend_string, val)) || text.len > size
		|| !peek(name, ZSTR_VAL(function.function_name), text.len)) {
		return 0;
	}
	return text.len;
}
