/* The switch between two contexts: what zend_fiber_switch_context() does, without a frame of its own, and without the
 * value that a user's Fiber hands over with it. Both speak to the same assembler, so that a context which one of them
 * has left may be entered by the other: a user's Fiber that runs inside a coroutine is. */
#ifndef APUS_SWITCH_H
#define APUS_SWITCH_H

#include "apus_shim.h"

typedef struct {
	void *handle; /* of the context that was left */
	zend_fiber_transfer *transfer;
} apus_jumped;

#ifdef __has_attribute
# if __has_attribute(indirect_return)
#  define APUS_INDIRECT_RETURN __attribute__((indirect_return))
# endif
#endif
#ifndef APUS_INDIRECT_RETURN
# define APUS_INDIRECT_RETURN
#endif

/* PHP's, of boost.context. NULL in a build that does not export it. */
extern APUS_INDIRECT_RETURN apus_jumped jump_fcontext(void *to, zend_fiber_transfer *transfer) __attribute__((weak));

extern bool apus_jumps;            /* whether this process may switch so */
extern bool apus_switch_unobserved; /* nobody wants to hear of switches */
/* Whether apus_can_switch() has found that destructors alone block switching: what is entered then, or left to, is not
 * blocked by them. */
extern bool apus_in_destructors;
void apus_switch_startup(void);

static zend_always_inline void apus_jump(zend_fiber_context *to)
{
	zend_fiber_transfer transfer = { .context = EG(current_fiber_context) };
	zend_fiber_context *const from = transfer.context;
	ZVAL_NULL(&transfer.value);
	if (UNEXPECTED(!apus_switch_unobserved)) {
		zend_observer_fiber_switch_notify(from, to);
	}

	zval *const vm_stack_top = EG(vm_stack_top);
	zval *const vm_stack_end = EG(vm_stack_end);
	const zend_vm_stack vm_stack = EG(vm_stack);
	const size_t vm_stack_page_size = EG(vm_stack_page_size);
	zend_execute_data *const execute_data = EG(current_execute_data);
	const int error_reporting = EG(error_reporting);
	const uint32_t jit_trace_num = EG(jit_trace_num);
	JMP_BUF *const bailout = EG(bailout);
	zend_fiber *const active_fiber = EG(active_fiber);
#ifdef ZEND_CHECK_STACK_LIMIT
	void *const stack_base = EG(stack_base);
	void *const stack_limit = EG(stack_limit);
#endif

	to->status = ZEND_FIBER_STATUS_RUNNING;
	if (EXPECTED(from->status == ZEND_FIBER_STATUS_RUNNING)) {
		from->status = ZEND_FIBER_STATUS_SUSPENDED;
	}
	EG(current_fiber_context) = to;
	const apus_jumped jumped = jump_fcontext(to->handle, &transfer);
	zend_fiber_context *const left = jumped.transfer->context;
	left->handle = jumped.handle;
	EG(current_fiber_context) = from;

	EG(vm_stack_top) = vm_stack_top;
	EG(vm_stack_end) = vm_stack_end;
	EG(vm_stack) = vm_stack;
	EG(vm_stack_page_size) = vm_stack_page_size;
	EG(current_execute_data) = execute_data;
	EG(error_reporting) = error_reporting;
	EG(jit_trace_num) = jit_trace_num;
	EG(bailout) = bailout;
	EG(active_fiber) = active_fiber;
#ifdef ZEND_CHECK_STACK_LIMIT
	EG(stack_base) = stack_base;
	EG(stack_limit) = stack_limit;
#endif
	if (UNEXPECTED(left->status == ZEND_FIBER_STATUS_DEAD)) {
		zend_fiber_destroy_context(left);
	}
}

void apus_switch_by_zend(zend_fiber_context *context);

static zend_always_inline void apus_switch_to(zend_fiber_context *context)
{
	if (EXPECTED(apus_jumps)) {
		apus_jump(context);
	} else {
		apus_switch_by_zend(context);
	}
}

#endif
