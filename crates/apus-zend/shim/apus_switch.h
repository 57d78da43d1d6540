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

/* What a context that is left finds again. */
typedef struct {
	zend_fiber_transfer transfer; /* first: the record that is handed over is known by the same address */
	zend_fiber_context *from;
	zval *vm_stack_top;
	zval *vm_stack_end;
	zend_vm_stack vm_stack;
	size_t vm_stack_page_size;
	zend_execute_data *execute_data;
	JMP_BUF *bailout;
	zend_fiber *active_fiber;
	int error_reporting;
	uint32_t jit_trace_num;
#ifdef ZEND_CHECK_STACK_LIMIT
	void *stack_base;
	void *stack_limit;
#endif
	apus_fiber *outer; /* what ran when a fiber was entered */
} apus_switching;

/* Enters the fiber from whatever context runs now; returns when it leaves. */
apus_left apus_fiber_enter(apus_fiber *fiber);
/* The same in two halves: where to jump by jump_fcontext() with the record, and what comes after. NULL: there is more
 * to it, so apus_fiber_enter() is to do all. */
void *apus_fiber_entering(apus_fiber *fiber, apus_switching *switching);
apus_left apus_fiber_entered(apus_fiber *fiber, apus_switching *switching, apus_jumped jumped);
/* Leaves the running fiber towards whoever entered it; returns when it is entered again. */
void apus_fiber_leave(apus_fiber *fiber);
/* In two halves as above. */
void *apus_fiber_leaving(apus_fiber *fiber, apus_switching *switching);
void apus_fiber_back(apus_switching *switching, apus_jumped jumped);
/* Some loaded object that is not PHP's imports what registers observers of switches, or none does: before the first
 * fiber is made, and whenever one comes that does. */
void apus_switch_imported(bool imported);

extern bool apus_jumps;            /* whether this process may switch so */
extern void *apus_jumper;          /* jump_fcontext() where apus_jump_inline() is to be used, or NULL */
extern bool apus_switch_unobserved; /* nobody wants to hear of switches */
/* Whether apus_can_switch() has found that destructors alone block switching: what is entered then, or left to, is not
 * blocked by them. */
extern bool apus_in_destructors;
void apus_switch_startup(void);

/* jump_fcontext() as a part of who switches. The processor foretells where functions return to by a stack of its own,
 * and this one is called but returns by a jump: that stack would be one off from then on, for every return up to the
 * event loop, and each that is foretold wrongly costs as much as fifty instructions. src/fiber.rs has the same lines,
 * where a function less is returned through. Nothing lies below the stack pointer (build.rs). */
#ifdef __x86_64__
static zend_always_inline apus_jumped apus_jump_inline(void *to, zend_fiber_transfer *transfer)
{
	apus_jumped jumped = { apus_jumper, NULL };
	__asm__ volatile(
		"leaq 2f(%%rip), %%rdx\n\t"
		"pushq %%rdx\n\t"
		"jmp *%%rax\n"
		"2:"
		: "+a" (jumped.handle), "=d" (jumped.transfer), "+D" (to), "+S" (transfer)
		:
		: "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
		  "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
	return jumped;
}
#else
# define apus_jump_inline jump_fcontext
#endif

/* The running context becomes `to`; where to jump. */
static zend_always_inline void *apus_switch_begin(apus_switching *left, zend_fiber_context *to)
{
	zend_fiber_context *const from = EG(current_fiber_context);
	left->transfer.context = from;
	ZVAL_NULL(&left->transfer.value);
	left->transfer.flags = 0;
	if (UNEXPECTED(!apus_switch_unobserved)) {
		zend_observer_fiber_switch_notify(from, to);
	}
	left->from = from;
	left->vm_stack_top = EG(vm_stack_top);
	left->vm_stack_end = EG(vm_stack_end);
	left->vm_stack = EG(vm_stack);
	left->vm_stack_page_size = EG(vm_stack_page_size);
	left->execute_data = EG(current_execute_data);
	left->error_reporting = EG(error_reporting);
	left->jit_trace_num = EG(jit_trace_num);
	left->bailout = EG(bailout);
	left->active_fiber = EG(active_fiber);
#ifdef ZEND_CHECK_STACK_LIMIT
	left->stack_base = EG(stack_base);
	left->stack_limit = EG(stack_limit);
#endif

	to->status = ZEND_FIBER_STATUS_RUNNING;
	if (EXPECTED(from->status == ZEND_FIBER_STATUS_RUNNING)) {
		from->status = ZEND_FIBER_STATUS_SUSPENDED;
	}
	EG(current_fiber_context) = to;
	return to->handle;
}

static zend_always_inline void apus_switch_end(const apus_switching *left, apus_jumped jumped)
{
	zend_fiber_context *const other = jumped.transfer->context;
	other->handle = jumped.handle;
	EG(current_fiber_context) = left->from;

	EG(vm_stack_top) = left->vm_stack_top;
	EG(vm_stack_end) = left->vm_stack_end;
	EG(vm_stack) = left->vm_stack;
	EG(vm_stack_page_size) = left->vm_stack_page_size;
	EG(current_execute_data) = left->execute_data;
	EG(error_reporting) = left->error_reporting;
	EG(jit_trace_num) = left->jit_trace_num;
	EG(bailout) = left->bailout;
	EG(active_fiber) = left->active_fiber;
#ifdef ZEND_CHECK_STACK_LIMIT
	EG(stack_base) = left->stack_base;
	EG(stack_limit) = left->stack_limit;
#endif
	if (UNEXPECTED(other->status == ZEND_FIBER_STATUS_DEAD)) {
		zend_fiber_destroy_context(other);
	}
}

void apus_switch_by_zend(zend_fiber_context *context);

static zend_always_inline void apus_switch_to(zend_fiber_context *context)
{
	if (EXPECTED(apus_jumps)) {
		apus_switching left;
		void *const to = apus_switch_begin(&left, context);
		apus_switch_end(&left, EXPECTED(apus_jumper != NULL) ? apus_jump_inline(to, &left.transfer)
			: jump_fcontext(to, &left.transfer));
	} else {
		apus_switch_by_zend(context);
	}
}

#endif
