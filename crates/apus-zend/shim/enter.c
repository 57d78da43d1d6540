#include "apus_fiber.h"

static zend_never_inline void begin(const apus_fiber *outer, apus_fiber *fiber)
{
	fiber->fresh = false;
	fiber->keeps_handlers = outer == NULL && !fiber->job->of_request;
	if (outer != NULL && UNEXPECTED(outer->handlers.count != 0)) {
		apus_handlers_inherit(&fiber->handlers, &outer->handlers);
	}
}

/* Lets the fiber run: where it goes on. */
static zend_always_inline zend_fiber_context *before_run(apus_fiber *fiber)
{
	fiber->handler_depth = apus_handlers_depth();
	apus_handlers_put(&fiber->handlers);
	apus_running_fiber = fiber;
	return fiber->inner != NULL ? fiber->inner : &fiber->context;
}

static zend_always_inline apus_left after_run(apus_fiber *outer, apus_fiber *fiber)
{
	apus_running_fiber = outer;
	const bool waiting = fiber->job != NULL;
	if (UNEXPECTED(apus_bailed_in_release)) {
		fiber->bailed_in_release = fiber->laden = waiting;
		apus_bailed_in_release = false;
	}
	if (!waiting) {
		if (!fiber->keeps_handlers) {
			apus_handlers_drop(fiber->handler_depth);
		}
		if (apus_swap_in_use()) {
			apus_swap_reset();
		}
		return APUS_JOB_OVER;
	}
	return EXPECTED(fiber->canary == NULL) || *fiber->canary == STACK_CANARY ? APUS_WAITS : APUS_OVERFLOWED;
}

static zend_always_inline apus_left run(apus_fiber *outer, apus_fiber *fiber)
{
	apus_switch_to(before_run(fiber));
	return after_run(outer, fiber);
}

static zend_always_inline void release_handler(apus_fiber *fiber)
{
	if (UNEXPECTED(Z_TYPE(fiber->handler) != IS_UNDEF)) {
		zval handler;
		ZVAL_COPY_VALUE(&handler, &fiber->handler);
		ZVAL_UNDEF(&fiber->handler);
		apus_zval_release(&handler);
	}
}

/* With all that the running context or the fiber may have. */
static zend_never_inline ZEND_COLD apus_left enter_laden(apus_fiber *outer, apus_fiber *fiber, uint32_t holds)
{
	apus_ambient ambient;
	apus_holdings held;
	zval none;
	held.count = 0;
	ZVAL_UNDEF(&none);
	if (outer != NULL) {
		if (holds & APUS_HOLD_THINGS) {
			apus_guard_mark(&held, outer);
		}
		apus_handlers_take(&outer->handlers, outer->handler_depth);
	}
	apus_running_fiber = fiber;
	apus_ambient_take(&ambient, outer != NULL ? &outer->handler : &none, (holds & APUS_HOLD_STATE) != 0);
	ZVAL_COPY(&fiber->handler, &EG(user_error_handler));
	apus_ambient_put(&fiber->ambient);
	if (fiber->fresh) {
		begin(outer, fiber);
	}
	apus_marks *const marks = holds & APUS_HOLD_STATE ? apus_marks_take() : NULL;
	apus_marks_put(fiber->marks);
	fiber->marks = NULL;
	fiber->laden = false;
	const bool bailed_in_release = apus_bailed_in_release;
	apus_bailed_in_release = fiber->bailed_in_release;
	fiber->bailed_in_release = false;
	const apus_left left = run(outer, fiber);
	apus_guard_unmark(&held);
	apus_bailed_in_release = bailed_in_release;
	apus_ambient_put(&ambient);
	if (outer != NULL) {
		outer->handler_depth = apus_handlers_depth();
		apus_handlers_put(&outer->handlers);
	}
	apus_marks_put(marks);
	release_handler(fiber);
	return left;
}

static zend_never_inline ZEND_COLD apus_left enter_from_destructors(apus_fiber *fiber)
{
	apus_in_destructors = false;
	const uint32_t blocks = apus_switch_open();
	const apus_left left = apus_fiber_enter(fiber);
	apus_switch_close(blocks);
	return left;
}

/* Whether the running context or the fiber has something that the other must not see; what PHP's calls hold. */
static zend_always_inline bool is_laden(apus_fiber *outer, apus_fiber *fiber, uint32_t *holds)
{
	fiber->resumer = EG(current_fiber_context);
	*holds = apus_calls_hold(&apus_fiber_function);
	bool laden = UNEXPECTED(*holds != 0) || fiber->laden || apus_bailed_in_release || apus_ambient_stays();
	if (outer != NULL) {
		/* For backtraces: one of ours that enters another, perhaps from a user's Fiber, stands here meanwhile. */
		outer->execute_data = EG(current_execute_data);
		laden |= apus_handlers_depth() > outer->handler_depth;
	}
	return laden;
}

static zend_always_inline void before_plain(apus_fiber *outer, apus_fiber *fiber)
{
	if (UNEXPECTED(Z_TYPE(EG(user_error_handler)) != IS_UNDEF)) {
		ZVAL_COPY(&fiber->handler, &EG(user_error_handler));
	}
	if (UNEXPECTED(fiber->fresh)) {
		begin(outer, fiber);
	}
}

static zend_always_inline apus_left after_plain(apus_fiber *outer, apus_fiber *fiber, apus_left left)
{
	if (outer != NULL) {
		outer->handler_depth = apus_handlers_depth();
	}
	release_handler(fiber);
	return left;
}

apus_left apus_fiber_enter(apus_fiber *fiber)
{
	if (UNEXPECTED(apus_in_destructors)) {
		return enter_from_destructors(fiber);
	}
	apus_fiber *const outer = apus_running_fiber;
	uint32_t holds;
	if (UNEXPECTED(is_laden(outer, fiber, &holds))) {
		return enter_laden(outer, fiber, holds);
	}
	before_plain(outer, fiber);
	return after_plain(outer, fiber, run(outer, fiber));
}

void *apus_fiber_entering(apus_fiber *fiber, apus_switching *switching)
{
	apus_fiber *const outer = switching->outer = apus_running_fiber;
	uint32_t holds;
	if (UNEXPECTED(apus_in_destructors || apus_jumper == NULL) || UNEXPECTED(is_laden(outer, fiber, &holds))) {
		return NULL;
	}
	before_plain(outer, fiber);
	return apus_switch_begin(switching, before_run(fiber));
}

apus_left apus_fiber_entered(apus_fiber *fiber, apus_switching *switching, apus_jumped jumped)
{
	apus_switch_end(switching, jumped);
	return after_plain(switching->outer, fiber, after_run(switching->outer, fiber));
}

static zend_never_inline ZEND_COLD void leave_laden(apus_fiber *fiber, uint32_t holds)
{
	apus_holdings held;
	held.count = 0;
	bool amidst = (holds & APUS_HOLD_STATE) != 0;
	if (apus_c_waits) {
		apus_c_waits = false;
		amidst = true;
		holds |= EG(prev_exception) != NULL ? APUS_HOLD_STATE : 0;
	}
	/* First: what a call holds may be part of the state that is taken. */
	if (holds & APUS_HOLD_THINGS) {
		apus_guard_mark(&held, fiber);
	}
	if (holds & APUS_HOLD_STATE) {
		fiber->marks = apus_marks_take();
	}
	apus_handlers_take(&fiber->handlers, fiber->handler_depth);
	apus_ambient_take(&fiber->ambient, &fiber->handler, amidst);
	fiber->laden = fiber->marks != NULL || fiber->handlers.count != 0 || fiber->ambient.taken;
	apus_switch_to(fiber->resumer);
	apus_guard_unmark(&held);
}

static zend_never_inline ZEND_COLD void leave_destructors(apus_fiber *fiber)
{
	apus_in_destructors = false;
	const uint32_t blocks = apus_switch_open();
	apus_fiber_leave(fiber);
	apus_switch_close(blocks);
}

static zend_always_inline bool leaves_laden(apus_fiber *fiber, uint32_t *holds)
{
	fiber->inner = EG(current_fiber_context);
	fiber->execute_data = EG(current_execute_data);
	*holds = apus_calls_hold(&apus_fiber_function);
	return UNEXPECTED(*holds != 0) || UNEXPECTED(apus_c_waits) || apus_ambient_stays()
		|| UNEXPECTED(apus_handlers_depth() > fiber->handler_depth);
}

void apus_fiber_leave(apus_fiber *fiber)
{
	if (UNEXPECTED(apus_in_destructors)) {
		leave_destructors(fiber);
		return;
	}
	uint32_t holds;
	if (leaves_laden(fiber, &holds)) {
		leave_laden(fiber, holds);
	} else {
		apus_switch_to(fiber->resumer);
	}
}

void *apus_fiber_leaving(apus_fiber *fiber, apus_switching *switching)
{
	uint32_t holds;
	if (UNEXPECTED(apus_in_destructors || apus_jumper == NULL) || leaves_laden(fiber, &holds)) {
		return NULL;
	}
	return apus_switch_begin(switching, fiber->resumer);
}

void apus_fiber_back(apus_switching *switching, apus_jumped jumped)
{
	apus_switch_end(switching, jumped);
}
