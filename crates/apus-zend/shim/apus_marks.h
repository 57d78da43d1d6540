/* marks.c: PHP's marks against re-entrancy, and the exception that an autoloader's may follow, belong to a coroutine.
 * Included by apus_shim.h. */
#ifndef APUS_MARKS_H
#define APUS_MARKS_H

typedef struct apus_marks apus_marks;
void apus_marks_startup(void);     /* at module start */
apus_marks *apus_marks_take(void); /* lifts those of the context that runs; NULL: it has none */

/* apus_call() by a function of ours, which has a frame of its own, and has set no marks and no globals: who waits in
 * what is called needs nothing lifted for it. */
apus_status apus_call_plainly(apus_callable *callable, zval *ret, uint32_t count, zval *args);
/* The flag of such a function's frame meanwhile. The VM itself looks for it where a call begins only. */
#define APUS_CALLS_PLAINLY ZEND_CALL_MAY_HAVE_UNDEF

/* Was this frame entered by C code that goes on when it returns, other than that which runs coroutines, and that may
 * have set something? */
static zend_always_inline bool apus_called_by_c(const zend_execute_data *ex)
{
	const zend_execute_data *caller = ex->prev_execute_data;
	if (EXPECTED(!(ZEND_CALL_INFO(ex) & ZEND_CALL_TOP)) || caller == NULL || caller->func == NULL) {
		return false;
	}
	return ZEND_USER_CODE(caller->func->type)
		|| (caller->prev_execute_data != NULL && !(ZEND_CALL_INFO(caller) & APUS_CALLS_PLAINLY));
}

void apus_marks_put_all(apus_marks *marks); /* sets them again */
static zend_always_inline void apus_marks_put(apus_marks *marks)
{
	if (UNEXPECTED(marks != NULL)) {
		apus_marks_put_all(marks);
	}
}
bool apus_class_is_hidden(zend_string *lc_name); /* a coroutine that waits is declaring it */

#endif
