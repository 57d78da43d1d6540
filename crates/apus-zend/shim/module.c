#include "apus_shim.h"
#include "apus_state.h"

static const apus_module_hooks *module_hooks;

PHP_INI_BEGIN()
	PHP_INI_ENTRY("apus.config", "", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apus.serve", "0", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apus.xdebug_start", "", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apus.swoole_compat", "0", PHP_INI_SYSTEM, NULL)
PHP_INI_END()

static PHP_MINIT_FUNCTION(apus)
{
	REGISTER_INI_ENTRIES();
	apus_valgrind_startup();
	apus_asan_startup();
	apus_fiber_startup();
	if (apus_sapi_wanted()) {
		apus_sapi_startup();
	}
	return module_hooks->startup(module_number) ? SUCCESS : FAILURE;
}

static PHP_MSHUTDOWN_FUNCTION(apus)
{
	module_hooks->shutdown();
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RINIT_FUNCTION(apus)
{
	apus_objects_open();
	module_hooks->activate();
	apus_library_open();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(apus)
{
	module_hooks->deactivate();
	apus_objects_close();
	apus_reader_close();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(apus)
{
	php_info_print_table_start();
	module_hooks->info();
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static bool (*second_startup)(int module_number);
static void (*second_info)(void);

#define SWITCH(name, on, when) PHP_INI_ENTRY_EX("swoole." name, on, when, NULL, zend_ini_boolean_displayer_cb)

static const zend_ini_entry_def second_entries[] = {
	SWITCH("enable_library", "On", PHP_INI_ALL)
	SWITCH("enable_fiber_mock", "Off", PHP_INI_ALL)
	SWITCH("enable_preemptive_scheduler", "Off", PHP_INI_ALL)
	SWITCH("display_errors", "On", PHP_INI_ALL)
	SWITCH("use_shortname", "On", PHP_INI_SYSTEM)
	PHP_INI_ENTRY("swoole.socket_buffer_size", "8388608", PHP_INI_ALL, NULL)
	SWITCH("blocking_detection", "Off", PHP_INI_SYSTEM)
	PHP_INI_ENTRY("swoole.blocking_threshold", "100000", PHP_INI_SYSTEM, NULL)
	SWITCH("profile", "Off", PHP_INI_SYSTEM)
	SWITCH("leak_detection", "Off", PHP_INI_SYSTEM)
	{0}
};

static PHP_MINIT_FUNCTION(second)
{
	zend_register_ini_entries(second_entries, module_number);
	return second_startup(module_number) && apus_there_startup(module_number) ? SUCCESS : FAILURE;
}

static PHP_MSHUTDOWN_FUNCTION(second)
{
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(second)
{
	php_info_print_table_start();
	second_info();
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static zend_module_entry second_module = {
	STANDARD_MODULE_HEADER,
	"swoole",
	NULL,
	PHP_MINIT(second),
	PHP_MSHUTDOWN(second),
	NULL,
	NULL,
	PHP_MINFO(second),
	NULL,
	STANDARD_MODULE_PROPERTIES
};

bool apus_module_loaded(const char *name)
{
	return zend_hash_str_exists(&module_registry, name, strlen(name));
}

bool apus_second_module(const char *version, bool (*startup)(int module_number), void (*info)(void))
{
	zend_module_entry *first = EG(current_module);
	zend_module_entry *second;
	if (apus_module_loaded(second_module.name)) {
		zend_error(E_CORE_WARNING,
			"apus.swoole_compat cannot be switched on while another module named swoole is loaded");
		return false;
	}
	second_startup = startup;
	second_info = info;
	second_module.version = version;
	second = zend_register_internal_module(&second_module);
	bool started = second != NULL && zend_startup_module_ex(second) == SUCCESS;
	EG(current_module) = first;
	return started;
}

void apus_info_row(const char *name, const char *value)
{
	php_info_print_table_row(2, name, value);
}

static const zend_module_dep dependencies[] = {
	ZEND_MOD_REQUIRED("spl")
	ZEND_MOD_REQUIRED("standard")
	ZEND_MOD_END
};

static zend_module_entry module = {
	STANDARD_MODULE_HEADER_EX,
	NULL,
	dependencies,
	"apus",
	NULL,
	PHP_MINIT(apus),
	PHP_MSHUTDOWN(apus),
	PHP_RINIT(apus),
	PHP_RSHUTDOWN(apus),
	PHP_MINFO(apus),
	NULL,
	STANDARD_MODULE_PROPERTIES
};

zend_module_entry *apus_module(const char *version, const apus_module_hooks *hooks)
{
	module_hooks = hooks;
	module.version = version;
	return &module;
}
