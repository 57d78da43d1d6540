/* Catching a bailout (the longjmp by which PHP reports a fatal error) so that PHP can go on: the only way in this
 * directory.
 *
 *   apus_try { ... } apus_catch { ... } apus_end_try();
 *
 * PHP's own zend_try leaves what the frames that are gone had set: no current frame, a VM stack whose top is theirs,
 * the silence of
 * an `@`, and switching blocked by a destructor. That is enough to end a process, not to go on in it, so all of it is
 * put back. Locals that the body writes and that
 * are read after it must be volatile. */
#ifndef APUS_TRY_H
#define APUS_TRY_H

/* Where the VM stands. */
typedef struct {
	zend_execute_data *execute_data;
	zend_vm_stack stack;
	zval *top, *end;
	int error_reporting;
	bool switch_blocked;
} apus_standing;

static zend_always_inline apus_standing apus_stand(void)
{
	const apus_standing standing = {
		EG(current_execute_data), EG(vm_stack), EG(vm_stack_top), EG(vm_stack_end), EG(error_reporting),
		zend_fiber_switch_blocked(),
	};
	return standing;
}

void apus_stand_back(const apus_standing *standing); /* after a bailout, in the context that stood there */

#define apus_try { const apus_standing apus_stood = apus_stand(); zend_try
#define apus_catch zend_catch apus_stand_back(&apus_stood);
#define apus_end_try() zend_end_try() }

/* Runs `body`; a bailout in it sets `failed`. */
#define GUARDED(failed, body) \
	apus_try { body; } apus_catch { (failed) = true; } apus_end_try()
/* The same where the result tells the failure by itself, or nobody asks. */
#define QUIETLY(body) \
	apus_try { body; } apus_catch { } apus_end_try()

/* A destructor met a fatal error while Rust gave something back, which cannot be told at once. It ends the native
 * function that gave it back (call::enter looks at its end); on the loop's own stack, where there is none, the loop
 * asks. Each context has its own (fiber.c), and each call of PHP code (apus_call): what happened elsewhere ends
 * nobody. */
extern bool apus_bailed_in_release;

#endif
