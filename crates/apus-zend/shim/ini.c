/* Entries of php.ini as a pool of php-fpm sets them (php_value, php_admin_value), and for a host of ours. */
#include "apus_shim.h"
#include "SAPI.h"

/* For the process, outside of all requests: the value is what requests begin with. */
bool apus_ini_begin_with(const char *name, const char *value)
{
	zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));
	if (entry == NULL) {
		return false;
	}
	zend_string *text = zend_string_init(value, strlen(value), true);
	if (entry->on_modify != NULL && entry->on_modify(entry, text, entry->mh_arg1, entry->mh_arg2, entry->mh_arg3,
			PHP_INI_STAGE_STARTUP) != SUCCESS) {
		zend_string_release_ex(text, true);
		return false;
	}
	entry->value = text;
	return true;
}
