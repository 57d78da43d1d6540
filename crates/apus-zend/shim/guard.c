#include "apus_guard.h"
#include "zend_extensions.h"

/* One connection, one coroutine.
 *
 * A function of an extension that waits leaves its connection, stream or handle in the middle of something: whoever
 * else uses it meanwhile reads what was meant for the first, or frees what the first one's C code still points to. So:
 *
 *  - Whenever a coroutine is left, for whatever reason, all things that the calls on its stack hold are marked as its
 *    own (guard_held.c): every resource, and every object with native state, that is the $this or an argument of one
 *    of them.
 *  - Functions that take such things are entered through apus_guard_enter(), which refuses a call on something that
 *    another coroutine has marked. While nothing is marked, that is one comparison. Which functions these are follows
 *    from what their arguments are declared to be (guard_known.c), so that no list of functions can have holes.
 *  - What would be freed meanwhile is freed later (guard_free.c). */

int apus_guard_slot;
uint32_t apus_guard_alert;
static apus_guard_hooks hooks;

/* The flag of a frame whose call had a wait broken off: until it returns, everything in it that would wait fails, so
 * that its C code gives up. The VM itself uses the flag in frames of PHP code only. */
#define CALL_BROKEN ZEND_CALL_NEEDS_REATTACH

/* What broke a call off, if that was an exception: the call ends with it, whatever the C code threw or cleared. */
typedef struct cause {
	const zend_execute_data *call;
	const apus_fiber *fiber;
	zend_object *exception;
	struct cause *next;
} cause;
static cause *causes;

const apus_guarded *apus_guarded_of(const zend_function *function)
{
	/* Functions that the VM makes up (Closure::__invoke) have no module, and what they have there was never set. */
	return function->type == ZEND_INTERNAL_FUNCTION && function->internal_function.module != NULL
		&& apus_guard_slot >= 0
		? function->internal_function.reserved[apus_guard_slot] : NULL;
}

/* ---- what a call holds ---- */

typedef struct { apus_each_thing each; void *context; bool deep; } walk;

static bool show_resource(const zval *value, apus_use use, const walk *walk)
{
	const uintptr_t key = apus_guard_resource_key(Z_RES_P(value));
	return key == 0 || walk->each(key, use, walk->context);
}

/* Streams that an object writes to or reads from have to stay open. */
static bool show_streams(zend_object *object, const walk *walk)
{
	zval *volatile table = NULL;
	volatile int count = 0;
	const apus_use use = {0, APUS_USES_KEEPS};
	zend_try {
		/* Makes the table of the object's properties, for which there may be no memory. */
		int found;
		object->handlers->get_gc(object, (zval **) &table, &found);
		count = found;
	} zend_end_try();
	for (int i = 0; i < count; i++) {
		if (Z_TYPE(table[i]) == IS_RESOURCE && !show_resource(&table[i], use, walk)) {
			return false;
		}
	}
	return true;
}

static bool show_object(zend_object *object, apus_use use, const walk *walk)
{
	uintptr_t tree;
	const uintptr_t key = apus_guard_keys(object, &tree);
	use.marks |= tree != 0 ? APUS_USES_TREE : 0;
	if (key != 0
		&& !(walk->each(key, use, walk->context)
		&& (!walk->deep || !apus_guard_holds_streams(object) || show_streams(object, walk)))) {
		return false;
	}
	/* What has a key of its own only walks through the tree. */
	const apus_use walks = {APUS_USES_OUT, APUS_USES_KEEPS | APUS_USES_TREE};
	return tree == 0 || walk->each(tree, key == 0 ? use : walks, walk->context);
}

static bool show(zval *value, apus_use use, const walk *walk)
{
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) == IS_RESOURCE) {
		return show_resource(value, use, walk);
	}
	return Z_TYPE_P(value) != IS_OBJECT || show_object(Z_OBJ_P(value), use, walk);
}

static bool show_list(zval *value, apus_use use, const walk *walk)
{
	zval *one;
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) != IS_ARRAY) {
		return show(value, use, walk);
	}
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(value), one) {
		if (!show(one, use, walk)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

bool apus_guard_things(zend_execute_data *ex, bool deep, apus_each_thing each, void *context)
{
	const apus_guarded *known = apus_guarded_of(ex->func);
	const walk walk = {each, context, deep};
	if (known->outside && !(deep && ex != EG(current_execute_data))) {
		return true;
	}
	if (known->self.marks != 0 && Z_TYPE(ex->This) == IS_OBJECT && !show_object(Z_OBJ(ex->This), known->self, &walk)) {
		return false;
	}
	const uint32_t count = MIN(ZEND_CALL_NUM_ARGS(ex), APUS_GUARD_ARGS);
	zend_object *link = known->default_link ? apus_own_pgsql() : NULL;
	for (uint32_t i = 0; i < count; i++) {
		const apus_use use = known->args[i];
		zval *arg = ZEND_CALL_ARG(ex, i + 1);
		if (Z_TYPE_P(arg) == IS_OBJECT) {
			link = NULL;
		}
		if (use.marks != 0 && !(known->lists ? show_list(arg, use, &walk) : show(arg, use, &walk))) {
			return false;
		}
	}
	return link == NULL || show_object(link, (apus_use) {APUS_USES_ALL, APUS_USES_ALL}, &walk);
}

/* ---- entering ---- */

/* A stream that the running coroutine has only ever written to is one that others only read: it may write on. */
static bool is_allowed(zend_execute_data *ex, const apus_held *other, uintptr_t key, apus_use use)
{
	const bool by_answer = (other->uses & use.excludes) == APUS_USES_ANSWER;
	const apus_fiber *fiber = apus_running_fiber;
	return by_answer && fiber != NULL && ex->func != NULL && apus_talk_only_writes(fiber, (const zend_resource *) key);
}

/* True: an exception is pending. */
static bool conflicts(const apus_held *other)
{
	return hooks.conflict(apus_fiber_coroutine(other->fiber), (other->uses & APUS_USES_TREE) != 0);
}

/* Turns, of a millisecond each after the first, that those who are in the midst of something get to leave what is
 * being closed. */
enum { LEAVING_TURNS = 1000 };

/* A call that is about to begin; how many turns others had to leave what it closes; one was told to. */
typedef struct { zend_execute_data *ex; uint32_t turns; bool told; } beginning;

static bool check(uintptr_t key, apus_use use, void *context)
{
	beginning *call = context;
	const apus_held *other = use.excludes != 0 ? apus_held_by_other(key, use.excludes) : NULL;
	if (other == NULL || is_allowed(call->ex, other, key, use)) {
		return true;
	}
	if (call->turns != LEAVING_TURNS && hooks.ends_wait(apus_fiber_coroutine(other->fiber))) {
		call->told = true;
		return false;
	}
	return !conflicts(other);
}

bool apus_guard_refuses(uintptr_t key, apus_use use)
{
	const apus_held *other = apus_held_by_other(key, use.excludes);
	return other != NULL && conflicts(other);
}

/* Whoever has asked and may not read the answer leaves it to the one who reads: rather nobody gets anything. */
static void end_talk(zend_execute_data *ex)
{
	zval *stream = ZEND_CALL_NUM_ARGS(ex) != 0 ? ZEND_CALL_ARG(ex, 1) : NULL;
	if (apus_guarded_of(ex->func)->talk != APUS_TALK_READS || stream == NULL || apus_running_fiber == NULL) {
		return;
	}
	ZVAL_DEREF(stream);
	if (Z_TYPE_P(stream) == IS_RESOURCE && apus_talk_awaits(apus_running_fiber, Z_RES_P(stream))) {
		apus_talk_end(Z_RES_P(stream));
	}
}

static bool is_free(uintptr_t key, apus_use use, void *context)
{
	return use.excludes == 0 || !apus_freed_by_other(key);
}

/* Those that wait for something to be freed. */
static uint32_t awaiting;

void apus_guard_freed(void)
{
	if (UNEXPECTED(awaiting != 0)) {
		hooks.freed();
	}
}

/* True: another coroutine is in the midst of something there, which an exception says. */
static zend_never_inline ZEND_COLD bool refuse(zend_execute_data *ex)
{
	while (apus_frees() && !apus_guard_things(ex, false, is_free, NULL)) {
		awaiting++;
		const bool waited = hooks.await_free();
		awaiting--;
		if (!waited) {
			return true;
		}
	}
	beginning call = {ex, 0, false};
	while (!apus_guard_things(ex, false, check, &call)) {
		if (!call.told) {
			end_talk(ex);
			return true;
		}
		call.told = false;
		/* It uses nothing while it waits for others to leave. */
		ZEND_DEL_CALL_FLAG(ex, APUS_CALL_GUARDED);
		const bool waited = hooks.await_turn(call.turns++ != 0);
		ZEND_ADD_CALL_FLAG(ex, APUS_CALL_GUARDED);
		if (!waited) {
			return true;
		}
	}
	if (apus_parked != 0) {
		apus_guard_drain(ex);
	}
	return false;
}

static zend_never_inline ZEND_COLD void end_broken(const zend_execute_data *ex)
{
	for (cause **at = &causes; *at != NULL; at = &(*at)->next) {
		cause *found = *at;
		if (found->call != ex) {
			continue;
		}
		zend_object *theirs = EG(exception);
		EG(exception) = found->exception;
		*at = found->next;
		free(found);
		if (theirs != NULL) {
			OBJ_RELEASE(theirs);
		}
		return;
	}
}

void apus_guard_returned(zend_execute_data *ex)
{
	if (UNEXPECTED(ZEND_CALL_INFO(ex) & CALL_BROKEN)) {
		end_broken(ex);
	}
	if (UNEXPECTED(apus_parked != 0)) {
		apus_guard_drain(ex);
	}
}

/* Calls the function that is guarded, unless there is something to look at (`alert`) and that forbids it. */
static zend_always_inline void enter(INTERNAL_FUNCTION_PARAMETERS, bool alert)
{
	const apus_guarded *known = execute_data->func->internal_function.reserved[apus_guard_slot];
	ZEND_ADD_CALL_FLAG(execute_data, APUS_CALL_GUARDED);
	if (UNEXPECTED(alert) && refuse(execute_data)) {
		return;
	}
	known->handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	apus_guard_returned(execute_data);
}

void apus_guard_enter(INTERNAL_FUNCTION_PARAMETERS)
{
	enter(INTERNAL_FUNCTION_PARAM_PASSTHRU, apus_guard_alert != 0);
}

void apus_guard_enter_tree(INTERNAL_FUNCTION_PARAMETERS)
{
	enter(INTERNAL_FUNCTION_PARAM_PASSTHRU, apus_trees_held != 0);
}

static bool wake(uintptr_t key, apus_use use, void *context)
{
	const apus_held *other = apus_held_by_other(key, APUS_USES_SELECT);
	for (; other != NULL; other = other->next) {
		if (other->uses & APUS_USES_SELECT) {
			hooks.wake(apus_fiber_coroutine(other->fiber));
		}
	}
	return true;
}

void apus_guard_change(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (UNEXPECTED(apus_guard_alert != 0)) {
		apus_guard_things(execute_data, false, wake, NULL);
	}
}

void apus_guard_startup(const apus_guard_hooks *given)
{
	apus_guard_slot = zend_get_resource_handle("apus");
	hooks = *given;
	apus_held_startup();
	apus_frees_startup();
}

void apus_guard_install(void)
{
	if (apus_guard_slot < 0) {
		return; /* other extensions have taken all of PHP's room */
	}
	apus_guard_find_connects();
	apus_guard_find_classes();
	apus_guard_find_functions();
	apus_guard_find_frees();
	apus_guard_find_iterators();
}

void apus_guard_end_request(void)
{
	apus_held_end_request();
	apus_frees_end_request();
	apus_guard_forget(NULL);
}

/* ---- calls that were broken off ---- */

void apus_guard_broken_off(void)
{
	zend_execute_data *ex = EG(current_execute_data);
	if (ex == NULL || ex->func == NULL || ex->func->type != ZEND_INTERNAL_FUNCTION) {
		return;
	}
	const bool again = ZEND_CALL_INFO(ex) & CALL_BROKEN;
	ZEND_ADD_CALL_FLAG(ex, CALL_BROKEN);
	cause *kept = !again && EG(exception) != NULL && apus_guarded_of(ex->func) != NULL ? malloc(sizeof(*kept)) : NULL;
	if (kept != NULL) {
		*kept = (cause) {ex, apus_running_fiber, EG(exception), causes};
		GC_ADDREF(kept->exception);
		causes = kept;
	}
}

void apus_guard_forget(const apus_fiber *fiber)
{
	for (cause **at = &causes; *at != NULL;) {
		cause *found = *at;
		if (fiber != NULL && found->fiber != fiber) {
			at = &found->next;
			continue;
		}
		*at = found->next;
		zend_try {
			OBJ_RELEASE(found->exception);
		} zend_end_try();
		free(found);
	}
}

/* Is the broken call one on a connection whose answer is still to come, so that the next call would take it for its
 * own? */
bool apus_guard_leaves_answer(void)
{
	const zend_execute_data *ex = EG(current_execute_data);
	const zend_function *function = ex != NULL ? ex->func : NULL;
	if (function == NULL || apus_guarded_of(function) == NULL) {
		return false;
	}
	if (function->common.scope != NULL) {
		/* A notification that did not come is nobody's answer. */
		return !zend_string_equals_literal_ci(function->common.function_name, "pgsqlGetNotify");
	}
	const char *module = function->internal_function.module->name;
	return strcmp(module, "pgsql") == 0 || strcmp(module, "mysqli") == 0;
}

bool apus_guard_is_broken(void)
{
	const zend_execute_data *ex = EG(current_execute_data);
	return ex != NULL && ex->func != NULL && ex->func->type == ZEND_INTERNAL_FUNCTION
		&& (ZEND_CALL_INFO(ex) & CALL_BROKEN);
}
