#include "apus_shim.h"

/* A coroutine's error handlers: those that it sets are its own until it restores what was before, or ends. What was set
 * before it was entered lies below them and is everybody's. PHP keeps the handler in force apart from a stack of those
 * before it. */

static void pop(void)
{
	EG(user_error_handler_error_reporting) = zend_stack_int_top(&EG(user_error_handlers_error_reporting));
	zend_stack_del_top(&EG(user_error_handlers_error_reporting));
	ZVAL_COPY_VALUE(&EG(user_error_handler), (zval *) zend_stack_top(&EG(user_error_handlers)));
	zend_stack_del_top(&EG(user_error_handlers));
}

static void push(const apus_error_handler *handler)
{
	zend_stack_push(&EG(user_error_handlers_error_reporting), &EG(user_error_handler_error_reporting));
	zend_stack_push(&EG(user_error_handlers), &EG(user_error_handler));
	ZVAL_COPY_VALUE(&EG(user_error_handler), &handler->handler);
	EG(user_error_handler_error_reporting) = handler->reporting;
}

void apus_handlers_take_all(apus_handlers *into, int depth)
{
	const uint32_t count = (uint32_t) (apus_handlers_depth() - depth);
	into->all = malloc(count * sizeof(*into->all));
	if (into->all == NULL) {
		return;
	}
	into->count = count;
	for (uint32_t i = count; i-- > 0;) {
		ZVAL_COPY_VALUE(&into->all[i].handler, &EG(user_error_handler));
		into->all[i].reporting = EG(user_error_handler_error_reporting);
		pop();
	}
}

void apus_handlers_put_all(apus_handlers *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		QUIETLY(push(&from->all[i]));
	}
	free(from->all);
	*from = (apus_handlers) {0};
}

void apus_handlers_inherit(apus_handlers *into, const apus_handlers *from)
{
	/* None that runs, nor that there is none. */
	if (Z_TYPE(from->all[from->count - 1].handler) == IS_UNDEF) {
		return;
	}
	into->all = malloc(sizeof(*into->all));
	if (into->all != NULL) {
		into->count = 1;
		into->all[0] = from->all[from->count - 1];
		Z_TRY_ADDREF(into->all[0].handler);
	}
}

void apus_handlers_drop_all(int depth)
{
	while (apus_handlers_depth() > depth) {
		zval last;
		ZVAL_COPY_VALUE(&last, &EG(user_error_handler));
		pop();
		apus_zval_release(&last);
	}
}
