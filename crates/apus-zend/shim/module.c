#include "apus_shim.h"

static const apus_module_hooks *module_hooks;

PHP_INI_BEGIN()
	PHP_INI_ENTRY("apus.swoole_compat", "0", PHP_INI_SYSTEM, NULL)
PHP_INI_END()

static PHP_MINIT_FUNCTION(apus)
{
	REGISTER_INI_ENTRIES();
	apus_valgrind_startup();
	apus_asan_startup();
	apus_fiber_startup();
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
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(apus)
{
	module_hooks->deactivate();
	apus_objects_close();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(apus)
{
	php_info_print_table_start();
	module_hooks->info();
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
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
