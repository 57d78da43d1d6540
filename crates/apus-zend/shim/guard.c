#include "apus_shim.h"
#include "zend_extensions.h"
/* A PHP that was built without an extension does not bring its headers; one that is built later goes by object then. */
#if __has_include("ext/pdo/php_pdo_driver.h")
# include "ext/pdo/php_pdo_driver.h"
# define KNOWS_PDO 1
#endif
#if __has_include("ext/mysqli/php_mysqli_structs.h")
# include "ext/mysqli/php_mysqli_structs.h"
# define KNOWS_MYSQLI 1
#endif

/* One connection, one coroutine.
 *
 * A function of an extension that waits leaves its connection, stream or handle in the middle of something: whoever else
 * uses it meanwhile reads what was meant for the first, or frees what the first one's C code still points to. So the
 * functions and methods of such extensions are entered through guarded(), which refuses a call on something that another
 * coroutine waits in. While nobody waits in any, that is one comparison. */

/* What a call does with its connection: two calls that share a bit exclude each other. */
enum { USES_IN = 1, USES_OUT = 2, USES = USES_IN | USES_OUT };

/* The things that coroutines wait in: address plus bit -> id of the coroutine. The addresses are even. */
static HashTable busy;
/* Where a function's record keeps what was its handler. */
static int slot;
static apus_guard_conflict conflict;
/* The call in which a wait was broken off: until it returns, everything in it that would wait fails, so that its C code
 * gives up. No other coroutine runs meanwhile. NULL: none is. */
static const zend_execute_data *broken;
/* What broke it off, if that was an exception: the call ends with it, whatever the C code threw or cleared. */
static zend_object *cause;

typedef struct { const char *name; uint8_t use; } known_function;

static const known_function STREAM_FUNCTIONS[] = {
	{"fread", USES_IN}, {"fgets", USES_IN}, {"fgetc", USES_IN}, {"fgetcsv", USES_IN}, {"fscanf", USES_IN},
	{"fpassthru", USES_IN}, {"stream_get_contents", USES_IN}, {"stream_get_line", USES_IN},
	{"stream_copy_to_stream", USES_IN}, {"stream_socket_recvfrom", USES_IN},
	{"fwrite", USES_OUT}, {"fputs", USES_OUT}, {"fputcsv", USES_OUT}, {"fflush", USES_OUT}, {"ftruncate", USES_OUT},
	{"stream_socket_sendto", USES_OUT},
	{"fclose", USES}, {"pclose", USES}, {"proc_close", USES}, {"fseek", USES}, {"rewind", USES},
	{"stream_socket_enable_crypto", USES}, {"stream_filter_append", USES}, {"stream_filter_prepend", USES},
};

static const known_function SOCKET_FUNCTIONS[] = {
	{"socket_read", USES_IN}, {"socket_recv", USES_IN}, {"socket_recvfrom", USES_IN}, {"socket_recvmsg", USES_IN},
	{"socket_write", USES_OUT}, {"socket_send", USES_OUT}, {"socket_sendto", USES_OUT}, {"socket_sendmsg", USES_OUT},
	{"socket_close", USES}, {"socket_connect", USES},
};

/* Functions that may wait without a connection that others could use. */
static const char *const WAITING_FUNCTIONS[] = {
	"sleep", "usleep", "time_nanosleep", "time_sleep_until", "exec", "shell_exec", "system", "passthru", "popen", "proc_open",
	"mail", "flock", "fopen", "file", "readfile", "file_get_contents", "file_put_contents", "copy", "get_headers",
	"fsockopen", "pfsockopen", "stream_socket_client", "stream_socket_accept", "stream_select", "socket_select",
	"socket_accept", "gethostbyname", "gethostbynamel", "gethostbyaddr", "dns_get_record", "dns_check_record", "checkdnsrr",
	"dns_get_mx", "getmxrr", "pcntl_wait", "pcntl_waitpid", "fsync", "fdatasync", "simplexml_load_file", "get_meta_tags",
	"getimagesize", "hash_file", "md5_file", "sha1_file", "parse_ini_file",
};

/* Classes whose methods use one connection each; those that extend them, too. */
static const char *const CLASSES[] = {
	"pdo", "pdostatement", "mysqli", "mysqli_stmt", "redis", "rediscluster", "redissentinel", "memcached", "memcache",
	"sqlite3", "sqlite3stmt", "pgsql\\connection", "amqpconnection", "amqpchannel", "amqpqueue", "amqpexchange",
};

/* Modules whose functions take the connection or handle as their first argument. */
static const char *const MODULES[] = {"mysqli", "pgsql", "curl", "ftp", "ldap", "imap"};

static zend_class_entry *pdo, *pdo_statement, *mysqli_link, *mysqli_statement, *pgsql_link, *memcached;

static const known_function *find_function(const char *name, const known_function *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(table[i].name, name) == 0) {
			return &table[i];
		}
	}
	return NULL;
}
#define FIND(name, table) find_function(name, table, sizeof(table) / sizeof(*(table)))

static const void *pdo_connection(zend_object *object)
{
#ifdef KNOWS_PDO
	if (pdo != NULL && instanceof_function(object->ce, pdo)) {
		return php_pdo_dbh_fetch_inner(object);
	}
	if (pdo_statement != NULL && instanceof_function(object->ce, pdo_statement)) {
		return php_pdo_stmt_fetch_object(object)->dbh;
	}
#endif
	return NULL;
}

static const void *mysqli_connection(zend_object *object)
{
#ifdef KNOWS_MYSQLI
	const bool is_statement = mysqli_statement != NULL && instanceof_function(object->ce, mysqli_statement);
	if (!is_statement && (mysqli_link == NULL || !instanceof_function(object->ce, mysqli_link))) {
		return NULL;
	}
	const MYSQLI_RESOURCE *resource = php_mysqli_fetch_object(object)->ptr;
	if (resource == NULL || resource->ptr == NULL) {
		return NULL;
	}
	if (is_statement) {
		const MYSQL_STMT *statement = ((const MY_STMT *) resource->ptr)->stmt;
		return statement != NULL && statement->data != NULL ? statement->data->conn : NULL;
	}
	const MYSQL *link = ((const MY_MYSQL *) resource->ptr)->mysql;
	return link != NULL ? link->data : NULL;
#else
	return NULL;
#endif
}

/* What two objects share that use one connection; else the object itself. */
static uintptr_t connection_of(zend_object *object)
{
	const void *shared = pdo_connection(object);
	if (shared == NULL) {
		shared = mysqli_connection(object);
	}
	if ((pgsql_link != NULL && object->ce == pgsql_link) || (memcached != NULL && instanceof_function(object->ce, memcached))) {
		/* Both keep the library's connection, which persistent objects share, first in their own structure. */
		shared = *(void **) ((char *) object - object->handlers->offset);
	}
	return (uintptr_t) (shared != NULL ? shared : object);
}

/* The connection that a call uses, and how; 0 for none. */
static uintptr_t used_by(zend_execute_data *ex, uint8_t *use)
{
	*use = USES;
	if (Z_TYPE(ex->This) == IS_OBJECT) {
		return connection_of(Z_OBJ(ex->This));
	}
	if (ZEND_CALL_NUM_ARGS(ex) == 0) {
		return 0;
	}
	zval *first = ZEND_CALL_ARG(ex, 1);
	ZVAL_DEREF(first);
	const char *name = ZSTR_VAL(ex->func->common.function_name);
	if (Z_TYPE_P(first) == IS_RESOURCE) {
		const known_function *known = FIND(name, STREAM_FUNCTIONS);
		*use = known != NULL ? known->use : 0;
		return known != NULL ? (uintptr_t) Z_RES_P(first) : 0;
	}
	if (Z_TYPE_P(first) != IS_OBJECT) {
		return 0;
	}
	const known_function *known = FIND(name, SOCKET_FUNCTIONS);
	*use = known != NULL ? known->use : USES;
	return connection_of(Z_OBJ_P(first));
}

/* Who waits in a connection, in a way that excludes `use`; 0: nobody. */
static int64_t waits_in(uintptr_t connection, uint8_t use)
{
	for (uint8_t bit = USES_IN; bit <= USES_OUT; bit <<= 1) {
		const zval *cid = use & bit ? zend_hash_index_find(&busy, connection | bit >> 1) : NULL;
		if (cid != NULL) {
			return Z_LVAL_P(cid);
		}
	}
	return 0;
}

/* The end of the broken call. */
static void end_broken(void)
{
	zend_object *what = cause;
	broken = NULL;
	cause = NULL;
	if (what == NULL) {
		return;
	}
	zend_object *theirs = EG(exception);
	EG(exception) = what;
	if (theirs != NULL) {
		OBJ_RELEASE(theirs);
	}
}

static void guarded(INTERNAL_FUNCTION_PARAMETERS)
{
	const zif_handler handler = (zif_handler) execute_data->func->internal_function.reserved[slot];
	if (UNEXPECTED(zend_hash_num_elements(&busy) != 0)) {
		uint8_t use;
		const uintptr_t connection = used_by(execute_data, &use);
		const int64_t other = connection != 0 ? waits_in(connection, use) : 0;
		if (other != 0 && conflict(other)) {
			return;
		}
	}
	handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (UNEXPECTED(broken == execute_data)) {
		end_broken();
	}
}

#ifdef KNOWS_PDO
/* ---- persistent PDO connections: one to a coroutine at a time ----
 *
 * PDO gives every object with the same DSN and user the one persistent connection. In a coroutine each object that lives gets
 * one of its own: an idle one, or a new one. PDO itself tells them apart by the text that ATTR_PERSISTENT may be. */

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
	const zif_handler handler = (zif_handler) execute_data->func->internal_function.reserved[slot];
	zval *options = ZEND_CALL_NUM_ARGS(execute_data) >= 4 ? ZEND_CALL_ARG(execute_data, 4) : NULL;
	const zval *wish = options != NULL && Z_TYPE_P(options) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(options), PDO_ATTR_PERSISTENT) : NULL;
	if (wish == NULL || !apus_in_fiber() || !(Z_TYPE_P(wish) == IS_TRUE || (Z_TYPE_P(wish) == IS_LONG && Z_LVAL_P(wish) != 0))) {
		guarded(INTERNAL_FUNCTION_PARAM_PASSTHRU);
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
	zval value;
	ZVAL_STR(&value, id);
	SEPARATE_ARRAY(options);
	zend_hash_index_update(Z_ARRVAL_P(options), PDO_ATTR_PERSISTENT, &value);
	zend_hash_add_empty_element(&opening, key);
	handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	zend_hash_del(&opening, key);
	zend_string_release(key);
	if (UNEXPECTED(broken == execute_data)) {
		end_broken();
	}
}
#endif

/* ---- connections that PHP keeps under their text: in a coroutine each call opens one that nobody else has ----
 *
 * Coroutines that connect at once would each keep theirs under the same text, and so free each other's; and two that share one
 * share its transactions. */

static zend_internal_function pg_connect, fsockopen;

static void connect_pgsql(INTERNAL_FUNCTION_PARAMETERS)
{
	enum { FORCE_NEW = 1 << 1 }; /* PGSQL_CONNECT_FORCE_NEW */
	const uint32_t count = ZEND_CALL_NUM_ARGS(execute_data);
	if (pg_connect.handler == NULL || count == 0 || !apus_in_fiber()) {
		guarded(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zval args[2];
	ZVAL_COPY_VALUE(&args[0], ZEND_CALL_ARG(execute_data, 1));
	ZVAL_LONG(&args[1], (count > 1 ? zval_get_long(ZEND_CALL_ARG(execute_data, 2)) : 0) | FORCE_NEW);
	zend_call_known_function((zend_function *) &pg_connect, NULL, NULL, return_value, 2, args, NULL);
	if (Z_TYPE_P(return_value) == IS_UNDEF) {
		ZVAL_FALSE(return_value);
	}
	if (UNEXPECTED(broken == execute_data)) {
		end_broken();
	}
}

static void open_socket(INTERNAL_FUNCTION_PARAMETERS)
{
	if (fsockopen.handler == NULL || !apus_in_fiber()) {
		guarded(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	fsockopen.handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (UNEXPECTED(broken == execute_data)) {
		end_broken();
	}
}

static void copy_plain(const char *name, zend_internal_function *plain)
{
	const zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
	if (function != NULL && function->type == ZEND_INTERNAL_FUNCTION) {
		*plain = function->internal_function;
	}
}

/* What stands in for a function's handler. */
static zif_handler stand_in(const zend_function *function)
{
	const char *name = ZSTR_VAL(function->common.function_name);
	if (function->common.scope != NULL) {
#ifdef KNOWS_PDO
		if (function->common.scope == pdo && strcmp(name, "__construct") == 0) {
			return construct_pdo;
		}
#endif
		return guarded;
	}
	if (strcmp(name, "pg_connect") == 0 || strcmp(name, "pg_pconnect") == 0) {
		return connect_pgsql;
	}
	return strcmp(name, "pfsockopen") == 0 ? open_socket : guarded;
}

static void guard(zend_function *function)
{
	if (function->type != ZEND_INTERNAL_FUNCTION || function->internal_function.handler == NULL
		|| function->internal_function.reserved[slot] != NULL) {
		return;
	}
	function->internal_function.reserved[slot] = (void *) function->internal_function.handler;
	function->internal_function.handler = stand_in(function);
}

static bool is_listed(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i], name) == 0) {
			return true;
		}
	}
	return false;
}
#define LISTED(name, list) is_listed(name, list, sizeof(list) / sizeof(*(list)))

static void guard_functions(void)
{
	zend_function *function;
	ZEND_HASH_FOREACH_PTR(CG(function_table), function) {
		if (function->type != ZEND_INTERNAL_FUNCTION) {
			continue;
		}
		const char *name = ZSTR_VAL(function->common.function_name);
		const zend_module_entry *module = function->internal_function.module;
		if (FIND(name, STREAM_FUNCTIONS) != NULL || FIND(name, SOCKET_FUNCTIONS) != NULL || LISTED(name, WAITING_FUNCTIONS)
			|| (module != NULL && LISTED(module->name, MODULES))) {
			guard(function);
		}
	} ZEND_HASH_FOREACH_END();
}

static bool has_connection(const zend_class_entry *ce)
{
	for (; ce != NULL; ce = ce->parent) {
		zend_string *name = zend_string_tolower(ce->name);
		const bool listed = LISTED(ZSTR_VAL(name), CLASSES);
		zend_string_release(name);
		if (listed) {
			return true;
		}
	}
	return false;
}

static void guard_classes(void)
{
	zend_class_entry *ce;
	zend_function *method;
	ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
		if (ce->type != ZEND_INTERNAL_CLASS || !has_connection(ce)) {
			continue;
		}
		ZEND_HASH_FOREACH_PTR(&ce->function_table, method) {
			if (!(method->common.fn_flags & ZEND_ACC_STATIC)) {
				guard(method);
			}
		} ZEND_HASH_FOREACH_END();
	} ZEND_HASH_FOREACH_END();
}

void apus_guard_startup(apus_guard_conflict on_conflict)
{
	slot = zend_get_resource_handle("apus");
	conflict = on_conflict;
	zend_hash_init(&busy, 64, NULL, NULL, true);
#ifdef KNOWS_PDO
	zend_hash_init(&opening, 8, NULL, NULL, true);
#endif
}

void apus_guard_install(void)
{
	pdo = apus_class_find("PDO");
	pdo_statement = apus_class_find("PDOStatement");
	mysqli_link = apus_class_find("mysqli");
	mysqli_statement = apus_class_find("mysqli_stmt");
	pgsql_link = apus_class_find("PgSql\\Connection");
	memcached = apus_class_find("Memcached");
	copy_plain("pg_connect", &pg_connect);
	copy_plain("fsockopen", &fsockopen);
	guard_functions();
	guard_classes();
}

static bool is_guarded(const zend_execute_data *ex)
{
	return ex->func != NULL && ex->func->type == ZEND_INTERNAL_FUNCTION && ex->func->internal_function.reserved[slot] != NULL;
}

static void mark(apus_guard_marks *marks, uintptr_t connection, uint8_t use, int64_t cid)
{
	for (uint8_t bit = USES_IN; bit <= USES_OUT && marks->count < APUS_GUARD_MARKS; bit <<= 1) {
		zval value;
		ZVAL_LONG(&value, cid);
		if ((use & bit) && zend_hash_index_add(&busy, connection | bit >> 1, &value) != NULL) {
			marks->keys[marks->count++] = connection | bit >> 1;
		}
	}
}

void apus_guard_mark(apus_guard_marks *marks, int64_t cid)
{
	/* Frames that are looked at: callbacks of an extension are never nested deeper in practice. */
	enum { FRAMES = 32 };
	zend_execute_data *ex = EG(current_execute_data);
	marks->count = 0;
	for (unsigned i = 0; ex != NULL && i < FRAMES; ex = ex->prev_execute_data, i++) {
		if (!is_guarded(ex)) {
			continue;
		}
		uint8_t use;
		const uintptr_t connection = used_by(ex, &use);
		if (connection != 0) {
			mark(marks, connection, use, cid);
		}
	}
}

void apus_guard_unmark(const apus_guard_marks *marks)
{
	for (uint32_t i = 0; i < marks->count; i++) {
		zend_hash_index_del(&busy, marks->keys[i]);
	}
}

void apus_guard_broken_off(void)
{
	if (broken == NULL) {
		broken = EG(current_execute_data);
		while (broken != NULL && !is_guarded(broken)) {
			broken = broken->prev_execute_data;
		}
	}
	if (broken != NULL && cause == NULL && EG(exception) != NULL) {
		cause = EG(exception);
		GC_ADDREF(cause);
	}
}

/* Is the broken call one on a connection whose answer is still to come, so that the next call would take it for its own? */
bool apus_guard_leaves_answer(void)
{
	if (broken == NULL) {
		return false;
	}
	const zend_function *function = broken->func;
	if (function->common.scope != NULL) {
		/* A notification that did not come is nobody's answer. */
		return !zend_string_equals_literal_ci(function->common.function_name, "pgsqlGetNotify");
	}
	const zend_module_entry *module = function->internal_function.module;
	return module != NULL && (strcmp(module->name, "pgsql") == 0 || strcmp(module->name, "mysqli") == 0);
}

bool apus_guard_is_broken(void)
{
	return broken != NULL;
}
