#include "apus_guard.h"
#if __has_include("ext/pdo/php_pdo_driver.h")
# include "ext/pdo/php_pdo_driver.h"
# define KNOWS_PDO 1
#endif

#ifdef KNOWS_PDO
/* ---- persistent PDO connections: one to a coroutine at a time ----
 *
 * PDO gives every object with the same DSN and user the one persistent connection. In a coroutine each object that
 * lives gets one of its own: an idle one, or a new one. PDO itself tells them apart by the text that ATTR_PERSISTENT
 * may be. */

static HashTable opening;

/* Is there no such connection, or one that no object uses and that nobody is opening? */
static bool is_free(zend_string *key)
{
	if (zend_hash_exists(&opening, key)) {
		return false;
	}
	const zend_resource *kept = zend_hash_find_ptr(&EG(persistent_list), key);
	return kept == NULL || ((const pdo_dbh_t *) kept->ptr)->refcount <= 1;
}

/* The text under which PDO keeps the connection that the arguments ask for, with ours at its end. */
static zend_string *persistent_key(zend_execute_data *ex, unsigned number, zend_string **id)
{
	const char *parts[3] = {"", "", ""};
	for (uint32_t i = 0; i < 3 && i < ZEND_CALL_NUM_ARGS(ex); i++) {
		const zval *arg = ZEND_CALL_ARG(ex, i + 1);
		ZVAL_DEREF(arg);
		parts[i] = Z_TYPE_P(arg) == IS_STRING ? Z_STRVAL_P(arg) : "";
	}
	*id = zend_strpprintf(0, "apus-%u", number);
	return zend_strpprintf(0, "PDO:DBH:DSN=%s:%s:%s:%s", parts[0], parts[1], parts[2], ZSTR_VAL(*id));
}

static void construct_pdo(INTERNAL_FUNCTION_PARAMETERS)
{
	const zif_handler handler = apus_guarded_of(execute_data->func)->handler;
	zval *options = ZEND_CALL_NUM_ARGS(execute_data) >= 4 ? ZEND_CALL_ARG(execute_data, 4) : NULL;
	const zval *wish = options != NULL && Z_TYPE_P(options) == IS_ARRAY
		? zend_hash_index_find(Z_ARRVAL_P(options), PDO_ATTR_PERSISTENT) : NULL;
	if (wish == NULL || !apus_in_fiber()
		|| !(Z_TYPE_P(wish) == IS_TRUE || (Z_TYPE_P(wish) == IS_LONG && Z_LVAL_P(wish) != 0))) {
		apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zend_string *id = NULL, *key = NULL;
	for (unsigned number = 1; key == NULL; number++) {
		key = persistent_key(execute_data, number, &id);
		if (!is_free(key)) {
			zend_string_release(key);
			zend_string_release(id);
			key = NULL;
		}
	}
	ZEND_ADD_CALL_FLAG(execute_data, APUS_CALL_GUARDED);
	zval value;
	ZVAL_STR(&value, id);
	SEPARATE_ARRAY(options);
	zend_hash_index_update(Z_ARRVAL_P(options), PDO_ATTR_PERSISTENT, &value);
	zend_hash_add_empty_element(&opening, key);
	handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	zend_hash_del(&opening, key);
	zend_string_release(key);
	apus_guard_returned(execute_data);
}
#endif

/* ---- connections that PHP keeps under their text: in a coroutine each call opens one that nobody else has ----
 *
 * Coroutines that connect at once would each keep theirs under the same text, and so free each other's; and two that
 * share one share its transactions. */

static zend_internal_function pg_connect, fsockopen;

static void connect_pgsql(INTERNAL_FUNCTION_PARAMETERS)
{
	enum { FORCE_NEW = 1 << 1 }; /* PGSQL_CONNECT_FORCE_NEW */
	if (pg_connect.handler == NULL || !apus_in_fiber()) {
		apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zend_string *text;
	zend_long type = 0;
	if (zend_parse_parameters(ZEND_CALL_NUM_ARGS(execute_data), "S|l", &text, &type) == FAILURE) {
		apus_guard_returned(execute_data);
		return;
	}
	ZEND_ADD_CALL_FLAG(execute_data, APUS_CALL_GUARDED);
	zval args[2];
	ZVAL_STR(&args[0], text);
	ZVAL_LONG(&args[1], type | FORCE_NEW);
	zend_call_known_function((zend_function *) &pg_connect, NULL, NULL, return_value, 2, args, NULL);
	if (Z_TYPE_P(return_value) == IS_UNDEF) {
		ZVAL_FALSE(return_value);
	}
	apus_guard_returned(execute_data);
}

static void open_socket(INTERNAL_FUNCTION_PARAMETERS)
{
	if (fsockopen.handler == NULL || !apus_in_fiber()) {
		apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	ZEND_ADD_CALL_FLAG(execute_data, APUS_CALL_GUARDED);
	fsockopen.handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	apus_guard_returned(execute_data);
}

static void copy_plain(const char *name, zend_internal_function *plain)
{
	const zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
	if (function != NULL && function->type == ZEND_INTERNAL_FUNCTION) {
		*plain = function->internal_function;
	}
}

void apus_guard_find_connects(void)
{
	copy_plain("pg_connect", &pg_connect);
	copy_plain("fsockopen", &fsockopen);
#ifdef KNOWS_PDO
	zend_hash_init(&opening, 8, NULL, NULL, true);
#endif
}

zif_handler apus_guard_connecting(const zend_function *function)
{
	const char *name = ZSTR_VAL(function->common.function_name);
	if (function->common.scope != NULL) {
#ifdef KNOWS_PDO
		if (strcmp(name, "__construct") == 0 && zend_string_equals_literal_ci(function->common.scope->name, "pdo")) {
			return construct_pdo;
		}
#endif
		return NULL;
	}
	if (strcmp(name, "pg_connect") == 0 || strcmp(name, "pg_pconnect") == 0) {
		return connect_pgsql;
	}
	return strcmp(name, "pfsockopen") == 0 ? open_socket : NULL;
}
