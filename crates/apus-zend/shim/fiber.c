#include "apus_fiber.h"
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
# define MADV_GUARD_INSTALL 102 /* Linux 6.13: a guard that costs no mapping of its own */
#endif

/* Without MADV_GUARD_INSTALL each guarded stack costs two of vm.max_map_count (65,530 by default) mappings; further
 * stacks go unguarded and are checked for overflow by a canary whenever they are left. */
#define GUARDED_STACKS_MAX 16000

/* zvals of the first piece of a VM stack. It lies on the C stack, above all that runs there: a coroutine that waits two
 * or three calls deep then has one page resident where the usual 16 KiB from the heap would be a second one. */
#define FIRST_VM_SLOTS 80

static char apus_fiber_kind; /* its address identifies our contexts */
zend_function apus_fiber_function = { ZEND_INTERNAL_FUNCTION };
apus_fiber *apus_running_fiber;
static uint32_t guarded_stacks;
static enum { GUARD_UNKNOWN, GUARD_CHEAP, GUARD_MAPPED } guard_way;

/* PHP asks for the name of the function that runs without a thought that it might have none: when a coroutine's
 * function has left and its variables are freed, that is the frame at the bottom. */
void apus_fiber_startup(void)
{
	apus_switch_startup();
	apus_fiber_function.common.function_name = zend_string_init_interned(ZEND_STRL("main"), true);
}

static apus_fiber *apus_fiber_of(zend_fiber_context *context)
{
	return (apus_fiber *) ((char *) context - offsetof(apus_fiber, context));
}

/* error_reporting as ini_set() and error_reporting() last left it; the running context's own value may be silenced by
 * `@`. */
static int base_error_reporting(void)
{
	static zend_ini_entry *entry; /* lives as long as the process */
	static zend_string *seen;
	static int level = E_ALL;
	if (UNEXPECTED(entry == NULL)) {
		entry = zend_hash_str_find_ptr(EG(ini_directives), ZEND_STRL("error_reporting"));
	}
	if (UNEXPECTED(entry == NULL) || entry->value == NULL) {
		return E_ALL;
	}
	if (entry->value != seen || entry->modified) {
		seen = entry->value;
		level = (int) ZEND_STRTOL(ZSTR_VAL(entry->value), NULL, 10);
	}
	return level;
}

/* What was thrown and not caught becomes the job's, with what came before as its previous exception. */
static void keep_exception(apus_job *job)
{
	zend_object *thrown = EG(exception);
	if (EXPECTED(thrown == NULL)) {
		return;
	}
	GC_ADDREF(thrown);
	zend_clear_exception();
	if (job->exception == NULL) {
		job->exception = thrown;
	} else if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
		OBJ_RELEASE(thrown);
	} else {
		zend_exception_set_previous(thrown, job->exception);
		job->exception = thrown;
	}
}

static void call_job_function(apus_job *job, apus_callable *callable, uint32_t argc, zval *args, zval *result)
{
	zend_fcall_info fci = {
		.size = sizeof(fci),
		.retval = result,
		.params = args, .param_count = argc,
		.object = callable->cache.object,
	};
	ZVAL_COPY_VALUE(&fci.function_name, &callable->function);
	zend_fcall_info_cache cache = callable->cache;
	zend_call_function(&fci, &cache);
	keep_exception(job);
}

/* Tells of an exception that ends the script where it is; true where there was one. */
static bool tell_of_end(apus_job *job)
{
	zend_object *thrown = job->ends_script != NULL ? job->exception : NULL;
	if (EXPECTED(thrown == NULL) || Z_TYPE(EG(user_exception_handler)) != IS_UNDEF
		|| zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown) || !job->ends_script(job, thrown)) {
		return false;
	}
	job->exception = NULL;
	(void) apus_report_uncaught(thrown);
	OBJ_RELEASE(thrown);
	return true;
}

/* The last one that was deferred. After the first one the job's context is given back, which may run destructors. */
static zend_always_inline bool next_deferred(apus_job *job, apus_callable *deferred)
{
	const bool found = job->next_deferred != NULL && job->next_deferred(job, deferred);
	keep_exception(job);
	return found;
}

/* Calls what was deferred, the last first; true where the script ends with it. */
static bool run_deferred(apus_job *job)
{
	bool ends = false;
	for (apus_callable deferred; next_deferred(job, &deferred);) {
		ends |= tell_of_end(job);
		zval ignored, *given = Z_ISUNDEF(job->result) ? &EG(uninitialized_zval) : &job->result;
		ZVAL_UNDEF(&ignored);
		/* PHP's own functions take no argument more than they declare; those of the library there are PHP code. */
		const bool takes = job->hands_on && deferred.cache.function_handler->type == ZEND_USER_FUNCTION;
		call_job_function(job, &deferred, takes, given, &ignored);
		zval_ptr_dtor(&ignored);
		apus_zval_release(&deferred.function);
		if (UNEXPECTED(tell_of_end(job))) {
			return true;
		}
	}
	return ends;
}

static void run_job(apus_fiber *fiber)
{
	apus_job *job = fiber->job;
	EG(jit_trace_num) = 0;
	EG(error_reporting) = base_error_reporting();
	EG(active_fiber) = NULL;
	if (UNEXPECTED(*apus_libxml_errors != NULL)) {
		/* Its errors are not to come between those of the script. */
		apus_own_touch(APUS_OWN_LIBXML);
	}
	call_job_function(job, &job->callable, job->argc, job->args, &job->result);
	const bool ends = run_deferred(job);
	if (UNEXPECTED(OG(handlers).elements != NULL)) {
		/* A buffer that the job left open is flushed, as at the end of a script. */
		php_output_end_all();
		keep_exception(job);
	}
	if (UNEXPECTED(apus_own_current != NULL)) {
		apus_own_end();
		keep_exception(job);
	}
	/* A fatal error that nobody has told of: in a destructor, or with an unwinding that C code has dropped. */
	if (UNEXPECTED(ends || apus_bailed_in_release) || (job->exception == NULL && UNEXPECTED(apus_take_memory_exit()))) {
		zend_bailout();
	}
	job->ran = job->exception != NULL ? APUS_RAN_THREW : APUS_RAN;
}

/* Makes this memory the first piece of the running context's VM stack. */
static void start_vm_stack(zend_vm_stack stack, size_t size)
{
	stack->top = ZEND_VM_STACK_ELEMENTS(stack);
	stack->end = (zval *) ((char *) stack + size);
	stack->prev = NULL;
	EG(vm_stack) = stack;
	EG(vm_stack_top) = stack->top + ZEND_CALL_FRAME_SLOT;
	EG(vm_stack_end) = stack->end;
	EG(vm_stack_page_size) = ZEND_FIBER_VM_STACK_SIZE;

	/* The frame at the bottom: an internal function without a caller, so that nothing unwinds past it. */
	zend_execute_data *bottom = (zend_execute_data *) stack->top;
	memset(bottom, 0, sizeof(*bottom));
	bottom->func = &apus_fiber_function;
	EG(current_execute_data) = bottom;
}

/* Its job has needed more than the first piece holds: the next ones are like it, and would take and give back a further
 * piece with each call at the edge. Only where the piece on the C stack is left for another does PHP note its top. */
static zend_always_inline void enlarge_vm_stack(apus_fiber *fiber, zend_vm_stack first)
{
	if (EG(vm_stack) == first && UNEXPECTED(first->top != ZEND_VM_STACK_ELEMENTS(first))) {
		start_vm_stack((zend_vm_stack) emalloc(ZEND_FIBER_VM_STACK_SIZE), ZEND_FIBER_VM_STACK_SIZE);
		fiber->bottom = apus_stand();
	}
}

static void fiber_cleanup(zend_fiber_context *context)
{
	zend_vm_stack current = EG(vm_stack);
	EG(vm_stack) = apus_fiber_of(context)->vm_stack;
	zend_vm_stack_destroy();
	EG(vm_stack) = current;
}

/* Runs one job after another; returns (and so ends the context) when entered without one, or after a bailout. */
static ZEND_STACK_ALIGNED void fiber_main(zend_fiber_transfer *transfer)
{
	apus_fiber *fiber = apus_fiber_of(EG(current_fiber_context));
	zval slots[FIRST_VM_SLOTS];
	const zend_vm_stack first = (zend_vm_stack) slots;
	EG(vm_stack) = NULL;
	zend_first_try {
#ifdef ZEND_CHECK_STACK_LIMIT
		EG(stack_base) = zend_fiber_stack_base(fiber->context.stack);
		EG(stack_limit) = EG(max_allowed_stack_size) == ZEND_MAX_ALLOWED_STACK_SIZE_UNCHECKED ? NULL
			: zend_fiber_stack_limit(fiber->context.stack);
#endif
		start_vm_stack(first, sizeof(slots));
		fiber->bottom = apus_stand();
		while (fiber->job != NULL) {
			run_job(fiber);
			enlarge_vm_stack(fiber, first);
			fiber->job = NULL;
			apus_switch_to(fiber->resumer);
		}
	} zend_catch {
		if (fiber->bottom.stack != NULL) {
			apus_stand_back(&fiber->bottom);
			apus_ambient_abandon(&fiber->handler);
		}
		apus_guard_forget(fiber);
		apus_own_abandon();
		fiber->job->ran = APUS_RAN_BAILED;
		fiber->job = NULL;
	} zend_end_try();

	fiber->vm_stack = EG(vm_stack) == first ? NULL : EG(vm_stack);
	fiber->context.cleanup = fiber_cleanup;
	transfer->context = fiber->resumer;
	transfer->flags = 0;
	ZVAL_NULL(&transfer->value);
}

/* The guard page of a fresh stack lies right below it. */
static void arrange_guard(apus_fiber *fiber, bool merge_guard)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	char *stack = *(char **) fiber->context.stack; /* zend_fiber_stack's first member: its lowest usable byte */
	char *guard = stack - ZEND_FIBER_GUARD_PAGES * page;
	if (!merge_guard || ZEND_FIBER_GUARD_PAGES == 0) {
		return;
	}
	if (guard_way == GUARD_MAPPED && guarded_stacks < GUARDED_STACKS_MAX) {
		guarded_stacks++;
		fiber->guarded = true;
		return;
	}
	if (mprotect(guard, page, PROT_READ | PROT_WRITE) != 0) {
		return;
	}
	if (guard_way != GUARD_MAPPED) {
		if (madvise(guard, page, MADV_GUARD_INSTALL) == 0) {
			guard_way = GUARD_CHEAP;
			return;
		}
		guard_way = GUARD_MAPPED;
		if (mprotect(guard, page, PROT_NONE) == 0) {
			guarded_stacks++;
			fiber->guarded = true;
			return;
		}
	}
	fiber->canary = (uint64_t *) guard;
	*fiber->canary = STACK_CANARY;
}

const char *apus_running_stack(void)
{
	const apus_fiber *fiber = apus_running_fiber;
	return fiber != NULL && fiber->context.stack != NULL ? *(char **) fiber->context.stack : NULL;
}

apus_fiber *apus_fiber_new(size_t stack_size, bool merge_guard)
{
	apus_fiber *fiber = calloc(1, sizeof(*fiber));
	if (fiber == NULL) {
		return NULL;
	}
	volatile bool made = false;
	apus_watch_overflow();
	apus_try {
		/* Its result is a bool in some versions and a zend_result (0 is success) in others; the stack tells. */
		(void) zend_fiber_init_context(&fiber->context, &apus_fiber_kind, fiber_main, stack_size);
		made = fiber->context.stack != NULL;
	} apus_catch {
	} apus_end_try();
	if (!made) {
		free(fiber);
		return NULL;
	}
	/* A huge page would make all of a stack resident at its first use. */
	madvise(*(char **) fiber->context.stack, stack_size, MADV_NOHUGEPAGE);
	arrange_guard(fiber, merge_guard);
	return fiber;
}

void apus_fiber_abandon(apus_fiber *fiber)
{
	free(fiber->marks);
	free(fiber->handlers.all);
	guarded_stacks -= fiber->guarded;
	free(fiber);
}

void apus_fiber_destroy(apus_fiber *fiber)
{
	if (fiber->context.status == ZEND_FIBER_STATUS_INIT) {
		zend_fiber_destroy_context(&fiber->context);
	} else if (fiber->context.status == ZEND_FIBER_STATUS_SUSPENDED) {
		fiber->job = NULL;
		fiber->inner = NULL;
		fiber->resumer = EG(current_fiber_context);
		apus_switch_to(&fiber->context);
	}
	apus_fiber_abandon(fiber);
}

void apus_fiber_assign(apus_fiber *fiber, apus_job *job)
{
	fiber->job = job;
	fiber->inner = NULL;
	apus_ambient_start(&fiber->ambient, EXPECTED(apus_own_current == NULL) ? NULL : apus_own_inherit());
	fiber->laden = fiber->ambient.taken;
	fiber->fresh = true;
	fiber->talks.count = 0;
	fiber->talks.next = 0;
}

void apus_fiber_name(apus_fiber *fiber, int64_t coroutine)
{
	fiber->coroutine = coroutine;
}

int64_t apus_fiber_coroutine(const apus_fiber *fiber)
{
	return fiber->coroutine;
}

void apus_fiber_give(apus_fiber *fiber, apus_own *own)
{
	apus_ambient_start(&fiber->ambient, own);
	fiber->laden = true;
}

bool apus_vm_alone(void)
{
	const apus_job *job = apus_running_job();
	const zend_execute_data *ex = EG(current_execute_data);
	while (ex != NULL && ex->func != NULL && ZEND_USER_CODE(ex->func->type) && !(ZEND_CALL_INFO(ex) & ZEND_CALL_TOP)) {
		ex = ex->prev_execute_data;
	}
	/* C code has called it: the coroutine's own function at the bottom, or what C code waits for. A destructor of what
	 * that function held may stand at the bottom, too. */
	return job != NULL && ex != NULL && ex->func == job->callable.cache.function_handler
		&& ex->prev_execute_data != NULL && ex->prev_execute_data->func == &apus_fiber_function;
}

void apus_fiber_prefetch(const apus_fiber *fiber, bool stack)
{
	/* What is returned through, and the VM's frame with those before and behind it. */
	enum { FRAMES = 768, BEFORE = 256, BEHIND = 128 };
	if (!stack) {
		apus_prefetch(fiber, sizeof(*fiber));
		return;
	}
	apus_prefetch(fiber->context.handle, FRAMES);
	apus_prefetch((const char *) fiber->execute_data - BEFORE, BEFORE + BEHIND);
}

apus_talks *apus_fiber_talks(apus_fiber *fiber)
{
	return &fiber->talks;
}

const apus_job *apus_running_job(void)
{
	return apus_running_fiber != NULL ? apus_running_fiber->job : NULL;
}

zend_execute_data *apus_fiber_execute_data(const apus_fiber *fiber)
{
	return fiber->execute_data;
}
