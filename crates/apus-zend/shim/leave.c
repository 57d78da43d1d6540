/* What modules of PHP do otherwise for the command line than for php-fpm, and have settled at their start. */
#include "apus_shim.h"

/* What the command line's PHP adds to PHP's functions. */
static void forget_functions(void)
{
	static const char *const names[] = {"dl", "cli_set_process_title", "cli_get_process_title"};
	for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
		zend_hash_str_del(CG(function_table), names[at], strlen(names[at]));
	}
}

static void settle(const char *name)
{
	zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));
	if (entry != NULL && entry->on_modify != NULL) {
		entry->on_modify(entry, entry->value, entry->mh_arg1, entry->mh_arg2, entry->mh_arg3, ZEND_INI_STAGE_STARTUP);
	}
}

/* Compiled patterns are kept from one request to the next, up to PHP's own number of them. The module's globals begin
 * anew, under the name that the SAPI has now; the cache of the last request went with it. */
static void keep_patterns(void)
{
	zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("pcre"));
	if (module == NULL || module->globals_ctor == NULL || module->globals_ptr == NULL) {
		return;
	}
	module->globals_ctor(module->globals_ptr);
	settle("pcre.backtrack_limit");
	settle("pcre.recursion_limit");
	settle("pcre.jit");
}

/* How the module's globals begin, which has no header. */
typedef struct { int restriction; bool is_cli; } ffi_beginning;

/* `ffi.enable=preload`, its default, allows FFI in preloaded scripts, and in all of the command line. */
static void restrict_ffi(void)
{
	zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("ffi"));
	if (module == NULL) {
		return;
	}
	ffi_beginning *globals = module->globals_size > sizeof(ffi_beginning) ? module->globals_ptr : NULL;
	const bool known = globals != NULL && globals->restriction >= 0 && globals->restriction <= 2;
	if (known && *(unsigned char *) &globals->is_cli == 1) {
		globals->is_cli = false;
		return;
	}
	/* They are not what they were: rather without FFI than open to everybody. */
	zend_string *name = zend_string_init(ZEND_STRL("ffi.enable"), true);
	zend_ini_entry *entry = zend_hash_find_ptr(EG(ini_directives), name);
	if (entry != NULL && entry->value != NULL && zend_string_equals_literal_ci(entry->value, "preload")) {
		zend_alter_ini_entry_chars(name, ZEND_STRL("0"), PHP_INI_SYSTEM, PHP_INI_STAGE_STARTUP);
	}
	zend_string_release(name);
}

void apus_leave_command_line(void)
{
	forget_functions();
	keep_patterns();
	restrict_ffi();
}
