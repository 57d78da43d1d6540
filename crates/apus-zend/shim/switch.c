#include "apus_switch.h"
#include <dlfcn.h>

bool apus_jumps;
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

void apus_switch_startup(void)
{
	/* With other contexts a handle is something else, and a debug build asserts. */
#if !defined(ZEND_FIBER_UCONTEXT) && !ZEND_DEBUG
	apus_jumps = is_of_php((const void *) jump_fcontext) && __sanitizer_start_switch_fiber == NULL;
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
