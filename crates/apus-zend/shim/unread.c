#include "apus_guard.h"
#if __has_include("ext/pdo/php_pdo_driver.h") && __has_include("ext/mysqlnd/mysqlnd_connection.h")
# include "ext/pdo/php_pdo_driver.h"
# include "ext/mysqlnd/mysqlnd.h"
# include "ext/mysqlnd/mysqlnd_structs.h"
# include "ext/mysqlnd/mysqlnd_connection.h"
# define KNOWS_PDO_MYSQL 1
#endif

#ifdef KNOWS_PDO_MYSQL
/* It may have been built with another client library, whose structures differ. */
static bool is_built_with_mysqlnd(void)
{
	static int is = -1;
	const zend_module_entry *module = is < 0 ? zend_hash_str_find_ptr(&module_registry, ZEND_STRL("pdo_mysql")) : NULL;
	if (module != NULL) {
		is = false;
		for (const zend_module_dep *dep = module->deps; dep != NULL && dep->name != NULL; dep++) {
			is |= strcmp(dep->name, "mysqlnd") == 0;
		}
	}
	return is == true;
}

const struct st_mysqlnd_connection_data *apus_mysqlnd_of_pdo(const struct _pdo_dbh_t *dbh)
{
	if (dbh == NULL || dbh->driver == NULL || dbh->driver_data == NULL || strcmp(dbh->driver->driver_name, "mysql") != 0
		|| !is_built_with_mysqlnd()) {
		return NULL;
	}
	/* The first member of pdo_mysql's own record. */
	const MYSQLND *mysql = *(MYSQLND *const *) dbh->driver_data;
	return mysql != NULL ? mysql->data : NULL;
}
#endif

bool apus_pdo_leaves_unread(const zval *value)
{
#ifdef KNOWS_PDO_MYSQL
	const MYSQLND_CONN_DATA *connection = apus_mysqlnd_of_pdo(php_pdo_dbh_fetch_inner(Z_OBJ_P(value)));
	if (connection == NULL) {
		return false;
	}
	const enum mysqlnd_connection_state state = GET_CONNECTION_STATE(&connection->state);
	return state == CONN_QUERY_SENT || state == CONN_FETCHING_DATA || state == CONN_NEXT_RESULT_PENDING;
#else
	return false;
#endif
}

bool apus_pdo_is_at_rest(const zval *value)
{
#ifdef KNOWS_PDO_MYSQL
	const pdo_dbh_t *dbh = php_pdo_dbh_fetch_inner(Z_OBJ_P(value));
	const MYSQLND_CONN_DATA *connection = apus_mysqlnd_of_pdo(dbh);
	/* While a statement is being prepared the connection says that it is ready, too. */
	const uintptr_t key = (uintptr_t) dbh;
	const bool taken = apus_held_by_other(key, APUS_USES_ALL) != NULL || apus_freed_by_other(key);
	if (connection == NULL || taken || GET_CONNECTION_STATE(&connection->state) != CONN_READY || dbh->is_closed) {
		return false;
	}
	/* What PDO::errorCode() tells. */
	const char *error = dbh->query_stmt != NULL ? dbh->query_stmt->error_code : dbh->error_code;
	return strcmp(error, "HY000") != 0
		&& !(UPSERT_STATUS_GET_SERVER_STATUS(connection->upsert_status) & SERVER_STATUS_IN_TRANS);
#else
	return false;
#endif
}
