#include "apus_shim.h"

/* In a module that is built with AddressSanitizer, tells it which stack the program runs on, fibers' of ours and
 * users': it takes a longjmp on a stack that it does not know for one across all of memory, and then takes what the
 * left frames had on theirs for errors. */
#ifdef __has_feature
# if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#  define __SANITIZE_ADDRESS__ 1
# endif
#endif

#ifdef __SANITIZE_ADDRESS__

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/* zend_fiber_stack begins so; the whole of it is private to zend_fibers.c. */
struct stack_head { char *lowest; size_t size; };

/* The stack that the process began on; unknown until it is left first. */
static const void *own_stack;
static size_t own_size;

/* PHP maps stacks anew where others were that ended in the middle of their frames. */
static void stack_made(zend_fiber_context *context)
{
	const struct stack_head *stack = (const struct stack_head *) context->stack;
	ASAN_UNPOISON_MEMORY_REGION(stack->lowest, stack->size);
}

/* Both halves at once, since PHP is compiled without the sanitizer: between here and the switch nothing asks for the
 * stack. */
static void stack_switched(zend_fiber_context *from, zend_fiber_context *to)
{
	const struct stack_head *stack = (const struct stack_head *) to->stack;
	const void *left;
	size_t size;
	const void *lowest = stack != NULL ? stack->lowest : own_stack;
	__sanitizer_start_switch_fiber(NULL, lowest, stack != NULL ? stack->size : own_size);
	__sanitizer_finish_switch_fiber(NULL, &left, &size);
	if (from->stack == NULL) {
		own_stack = left;
		own_size = size;
	}
}

void apus_asan_startup(void)
{
	zend_observer_fiber_init_register(stack_made);
	zend_observer_fiber_switch_register(stack_switched);
}

#else

void apus_asan_startup(void)
{
}

#endif
