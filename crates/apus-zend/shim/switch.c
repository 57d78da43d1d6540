#include "apus_switch.h"
#include <dlfcn.h>

bool apus_jumps;
void *apus_jumper;
bool apus_in_destructors;
bool apus_switch_unobserved;

/* There in a process with AddressSanitizer, PHP's own or a module's: Zend's switch tells it what is not known here. */
extern void __sanitizer_start_switch_fiber(void **, const void *, size_t) __attribute__((weak));

/* Boost's own library has a function of the same name, whose frames may be others. */
static bool is_of_php(const void *function)
{
	Dl_info its, php;
	return function != NULL && dladdr(function, &its) != 0
		&& dladdr((const void *) zend_fiber_switch_context, &php) != 0 && its.dli_fbase == php.dli_fbase;
}

/* The kernel has the processor keep return addresses twice: then only what was called may return. */
static bool has_shadow_stack(void)
{
	uint64_t pointer = 0;
#ifdef __x86_64__
	/* rdsspq %rax, which does nothing where there is none. */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a" (pointer));
#endif
	return pointer != 0;
}

void apus_switch_startup(void)
{
	/* With other contexts a handle is something else, and a debug build asserts. */
#if !defined(ZEND_FIBER_UCONTEXT) && !ZEND_DEBUG
	apus_jumps = is_of_php((const void *) jump_fcontext) && __sanitizer_start_switch_fiber == NULL;
	apus_jumper = apus_jumps && !has_shadow_stack() ? (void *) jump_fcontext : NULL;
#endif
}

/* Never a part of who calls it: the frame that it would need is one of each coroutine's. */
zend_never_inline ZEND_COLD void apus_switch_by_zend(zend_fiber_context *context)
{
	zend_fiber_transfer transfer = { .context = context };
	ZVAL_NULL(&transfer.value);
	zend_fiber_switch_context(&transfer);
}

/* PHP keeps the list of those who observe switches to itself. Objects of others are told by what they import; what was
 * linked into PHP imports nothing, and is known by its version: those of PHP's source have PHP's, and of them only the
 * module of its own tests observes. */
static bool may_observe(const zend_module_entry *module)
{
	return module->handle == NULL && strcmp(module->name, "apus") != 0
		&& (module->version == NULL || strcmp(module->version, PHP_VERSION) != 0
			|| strcmp(module->name, "zend_test") == 0);
}

void apus_switch_imported(bool imported)
{
	const zend_module_entry *module;
	/* The stack of observed frames is switched by the same function. */
	apus_switch_unobserved = !imported && zend_observer_fcall_op_array_extension == -1;
	ZEND_HASH_FOREACH_PTR(&module_registry, module) {
		apus_switch_unobserved = apus_switch_unobserved && !may_observe(module);
	} ZEND_HASH_FOREACH_END();
}

uint32_t apus_switch_open(void)
{
	uint32_t blocks = 0;
	if ((EG(flags) & EG_FLAGS_IN_SHUTDOWN) != 0 || apus_compiling != 0) {
		return 0;
	}
	while (zend_fiber_switch_blocked()) {
		zend_fiber_switch_unblock();
		blocks++;
	}
	return blocks;
}

void apus_switch_close(uint32_t blocks)
{
	while (blocks-- > 0) {
		zend_fiber_switch_block();
	}
}

/* Before 8.4 PHP blocks switching for as long as a destructor runs, since a user's Fiber that is left there may never
 * be entered again. Coroutines are, and what called the destructor, the collector too, waits on their stack. What else
 * has blocked it, a tick function or a handler of pcntl, is more than the destructors that run. */
static zend_never_inline ZEND_COLD bool blocked_by_destructors(void)
{
#if PHP_VERSION_ID >= 80400
	return false;
#else
	const uint32_t blocks = apus_switch_open();
	uint32_t destructors = 0;
	for (const zend_execute_data *ex = EG(current_execute_data); ex != NULL; ex = ex->prev_execute_data) {
		const zend_function *const called = ex->func;
		destructors += called != NULL && (ZEND_CALL_INFO(ex) & ZEND_CALL_TOP) != 0 && called->common.scope != NULL
			&& called->common.scope->destructor == called;
	}
	apus_switch_close(blocks);
	return blocks != 0 && blocks == destructors;
#endif
}

bool apus_can_switch(void)
{
	const bool blocked = zend_fiber_switch_blocked();
	apus_in_destructors = UNEXPECTED(blocked) && blocked_by_destructors();
	return apus_compiling == 0 && (EXPECTED(!blocked) || apus_in_destructors);
}

bool apus_in_fiber(void)
{
	return apus_running_fiber != NULL;
}

bool apus_returns(void)
{
	const zend_execute_data *ex = EG(current_execute_data);
	return ex != NULL && ex->func != NULL && !ZEND_USER_CODE(ex->func->type);
}

void apus_prefetch(const void *from, size_t bytes)
{
	enum { LINE = 64 };
	for (size_t at = 0; at < bytes; at += LINE) {
		__builtin_prefetch((const char *) from + at, 1);
	}
}
