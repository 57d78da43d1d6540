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

bool apus_ini_is_known(const char *name)
{
	return zend_hash_str_exists(EG(ini_directives), name, strlen(name));
}

static void set(const apus_sapi_pair *pair, int stage)
{
	zend_string *name = zend_string_init(pair->name, pair->name_len, false);
	zend_string *value = zend_string_init(pair->value, pair->value_len, false);
	/* What PHP takes from its files alone, too. */
	zend_alter_ini_entry_ex(name, value, PHP_INI_SYSTEM, stage, true);
	zend_string_release(value);
	zend_string_release(name);
}

static void apply(const apus_sapi_pair *pairs, size_t count, int stage, bool early)
{
	for (size_t at = 0; at < count; at++) {
		/* By these PHP reads a body before it asks for settings. */
		const bool is_early = strcmp(pairs[at].name, "post_max_size") == 0
			|| strcmp(pairs[at].name, "enable_post_data_reading") == 0;
		if (is_early == early) {
			set(&pairs[at], stage);
		}
	}
}

void apus_ini_apply(const apus_sapi_request *request, bool early)
{
	apply(request->values, request->value_count, PHP_INI_STAGE_HTACCESS, early);
	/* In this stage it is the system's from then on, until the request is over. */
	apply(request->admin, request->admin_count, PHP_INI_STAGE_ACTIVATE, early);
}
