#include "apus_shim.h"

/* Under valgrind, tells it where the stacks of fibers are, ours and users': it takes them for errors otherwise. */
#ifdef __has_include
# if __has_include(<valgrind/valgrind.h>)
#  include <valgrind/valgrind.h>
# endif
#endif

#ifdef VALGRIND_STACK_REGISTER

/* zend_fiber_stack begins so; the whole of it is private to zend_fibers.c. */
struct stack_head { char *lowest; size_t size; };
struct known { const zend_fiber_context *context; unsigned id; struct known *next; };
static struct known *all;

static void stack_made(zend_fiber_context *context)
{
	const struct stack_head *stack = (const struct stack_head *) context->stack;
	struct known *known = malloc(sizeof(*known));
	if (known != NULL) {
		known->context = context;
		known->id = VALGRIND_STACK_REGISTER(stack->lowest, stack->lowest + stack->size - 1);
		known->next = all;
		all = known;
	}
}

static void stack_gone(zend_fiber_context *context)
{
	for (struct known **link = &all; *link != NULL; link = &(*link)->next) {
		struct known *known = *link;
		if (known->context == context) {
			VALGRIND_STACK_DEREGISTER(known->id);
			*link = known->next;
			free(known);
			return;
		}
	}
}

void apus_valgrind_startup(void)
{
	if (RUNNING_ON_VALGRIND) {
		zend_observer_fiber_init_register(stack_made);
		zend_observer_fiber_destroy_register(stack_gone);
	}
}

#else

void apus_valgrind_startup(void)
{
}

#endif
