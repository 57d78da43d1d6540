#include "apus_guard.h"
#include "ext/standard/file.h"
/* A PHP that was built without an extension does not bring its headers; one that is built later goes by object then. */
#if __has_include("ext/pdo/php_pdo_driver.h")
# include "ext/pdo/php_pdo_driver.h"
# define KNOWS_PDO 1
#endif
#if __has_include("ext/mysqli/php_mysqli_structs.h")
# include "ext/mysqli/php_mysqli_structs.h"
# include "ext/mysqlnd/mysqlnd_connection.h"
# define KNOWS_MYSQLI 1
#endif

/* Which functions and methods the guard is for, and which things it knows.
 *
 * An extension declares a resource as an argument without a type, and a handle as one of its class. So a function is
 * guarded when it has such an argument, and a method when its class has native state. The lists below say only what
 * follows from no declaration: what a function does with a stream, which extensions hold plain data, and where objects
 * keep what they share. */

#define ALL    {APUS_USES_ALL, APUS_USES_ALL}
#define READS  {APUS_USES_IN, APUS_USES_IN | APUS_USES_KEEPS}
#define WRITES {APUS_USES_OUT | APUS_USES_ANSWER, APUS_USES_OUT | APUS_USES_KEEPS}
#define HOLDS  {0, APUS_USES_KEEPS}
#define SELECTS {0, APUS_USES_SELECT}

typedef struct { const char *name; apus_use uses[2]; } known_function;

/* The first and the second argument of functions (of all that share one's code) that do less than everything with
 * them. */
static const known_function FUNCTIONS[] = {
	{"fread", {READS}}, {"fgets", {READS}}, {"fgetc", {READS}}, {"fgetcsv", {READS}}, {"fscanf", {READS}}, 
	{"fpassthru", {READS}}, {"stream_get_contents", {READS}}, {"stream_get_line", {READS}},
	{"stream_socket_recvfrom", {READS}},
	{"stream_copy_to_stream", {READS, WRITES}}, {"hash_update_stream", {ALL, READS}},
	{"fwrite", {WRITES}}, {"fputcsv", {WRITES}}, {"fflush", {WRITES}}, {"ftruncate", {WRITES}}, {"fprintf", {WRITES}},
	{"vfprintf", {WRITES}}, {"stream_socket_sendto", {WRITES}},
	{"flock", {HOLDS}}, {"fsync", {HOLDS}}, {"fdatasync", {HOLDS}}, {"ftell", {HOLDS}}, {"fstat", {HOLDS}},
	{"feof", {HOLDS}},
	{"stream_get_meta_data", {HOLDS}}, {"stream_set_blocking", {HOLDS}}, {"stream_set_timeout", {HOLDS}},
	{"stream_set_write_buffer", {HOLDS}}, {"stream_set_read_buffer", {HOLDS}}, {"stream_set_chunk_size", {HOLDS}},
	{"stream_isatty", {HOLDS}}, {"socket_import_stream", {HOLDS}}, {"stream_context_get_options", {HOLDS}},
	{"stream_context_set_option", {HOLDS}}, {"stream_context_get_params", {HOLDS}},
	{"stream_context_set_params", {HOLDS}}, {"stream_is_local", {HOLDS}}, {"stream_supports_lock", {HOLDS}},
	{"stream_socket_shutdown", {HOLDS}}, {"stream_socket_get_name", {HOLDS}}, {"stream_socket_accept", {HOLDS}},
	{"proc_get_status", {HOLDS}}, {"proc_terminate", {HOLDS}},
	{"socket_read", {READS}}, {"socket_recv", {READS}}, {"socket_recvfrom", {READS}}, {"socket_recvmsg", {READS}},
	{"socket_write", {WRITES}}, {"socket_send", {WRITES}}, {"socket_sendto", {WRITES}}, {"socket_sendmsg", {WRITES}},
	{"socket_accept", {HOLDS}}, {"socket_shutdown", {HOLDS}}, {"socket_getpeername", {HOLDS}},
	{"socket_getsockname", {HOLDS}},
	{"socket_get_option", {HOLDS}}, {"socket_set_option", {HOLDS}}, {"socket_last_error", {HOLDS}},
	{"socket_clear_error", {HOLDS}}, {"socket_set_block", {HOLDS}}, {"socket_set_nonblock", {HOLDS}},
	{"curl_multi_select", {SELECTS}}, {"curl_getinfo", {HOLDS}}, {"curl_errno", {HOLDS}}, {"curl_error", {HOLDS}},
};
enum { KNOWN = sizeof(FUNCTIONS) / sizeof(*FUNCTIONS) };
static zif_handler known_handlers[KNOWN];

/* Functions that may wait though they take nothing that others could use: an exception that breaks one off is not to be
 * lost. */
static const char *const WAITING_FUNCTIONS[] = {
	"sleep", "usleep", "time_nanosleep", "time_sleep_until", "exec", "shell_exec", "system", "passthru", "popen",
	"proc_open",
	"mail", "fopen", "file", "readfile", "file_get_contents", "file_put_contents", "copy", "get_headers",
	"fsockopen", "pfsockopen", "stream_socket_client", "stream_select", "socket_select",
	"gethostbyname", "gethostbynamel", "gethostbyaddr", "dns_get_record", "dns_check_record", "checkdnsrr",
	"dns_get_mx", "getmxrr", "pcntl_wait", "pcntl_waitpid", "simplexml_load_file", "get_meta_tags",
	"getimagesize", "hash_file", "md5_file", "sha1_file", "parse_ini_file", "pg_connect", "pg_pconnect",
};

/* Extensions whose objects are data, or protect themselves: any number of calls may be in one. */
static const char *const PLAIN_MODULES[] = {
	"apus", "swoole", "Core", "standard", "SPL", "date", "Reflection", "json", "random", "intl", "gmp", "bcmath",
	"mbstring", "tokenizer",
	"dom", "SimpleXML", "libxml", "FFI", "openssl", "sodium", "pcntl", "posix", "apcu", "igbinary", "msgpack", "ds",
	"decimal",
	"uri", "lexbor", "ev", "event", "uv", "protobuf", "ast", "yaml", "xdebug", "Zend OPcache", "Zend Test",
};

/* What an object shares with others, and where it keeps it. */
typedef enum {
	THING_NONE = 0, THING_OBJECT, THING_PDO, THING_PDO_STATEMENT, THING_MYSQLI, THING_MYSQLI_STATEMENT,
	THING_MYSQLI_RESULT,
	THING_FIRST_POINTER, /* the library's connection comes first in the object's own structure */
	THING_ITSELF,        /* is shared by objects of the two kinds below, which point to the whole of its structure */
	THING_OF_FIRST_POINTER,
	THING_OF_SECOND_POINTER,
	THING_CURL,
	THING_NODE, THING_SIMPLEXML, /* part of a tree of nodes, which is what is shared: see guard_tree.c */
	THING_XPATH, /* is an object, and walks through such a tree */
} thing;

/* Classes that are no plain objects though they seem so, or share something; those that extend them, too. */
static const struct { const char *name; thing kind; } CLASSES[] = {
	{"pdo", THING_PDO}, {"pdostatement", THING_PDO_STATEMENT},
	{"mysqli", THING_MYSQLI}, {"mysqli_stmt", THING_MYSQLI_STATEMENT}, {"mysqli_result", THING_MYSQLI_RESULT},
	{"pgsql\\connection", THING_FIRST_POINTER}, {"pgsql\\lob", THING_FIRST_POINTER}, {"memcached", THING_FIRST_POINTER},
	{"sqlite3", THING_ITSELF}, {"sqlite3stmt", THING_OF_SECOND_POINTER}, {"sqlite3result", THING_OF_FIRST_POINTER},
	{"curlhandle", THING_CURL}, {"splfileobject", THING_OBJECT}, {"soapclient", THING_OBJECT},
	{"soapserver", THING_OBJECT},
	{"memcache", THING_OBJECT},
	{"domnode", THING_NODE}, {"domxpath", THING_XPATH}, {"simplexmlelement", THING_SIMPLEXML},
	{"dom\\node", THING_NODE}, {"dom\\tokenlist", THING_NODE}, {"dom\\xpath", THING_XPATH},
};

/* Classes of extensions -> what they are. */
static HashTable things;

static thing thing_of(const zend_class_entry *ce)
{
	while (ce != NULL && ce->type != ZEND_INTERNAL_CLASS) {
		ce = ce->parent;
	}
	const zval *kind = ce != NULL ? zend_hash_index_find(&things, (uintptr_t) ce) : NULL;
	return kind != NULL ? (thing) Z_LVAL_P(kind) : THING_NONE;
}

static bool is_node(thing kind)
{
	return kind == THING_NODE || kind == THING_SIMPLEXML;
}

/* ---- keys ---- */

static const void *pdo_connection(zend_object *object, thing kind)
{
#ifdef KNOWS_PDO
	return kind == THING_PDO ? php_pdo_dbh_fetch_inner(object) : php_pdo_stmt_fetch_object(object)->dbh;
#else
	return NULL;
#endif
}

static const void *mysqli_connection(zend_object *object, thing kind)
{
#ifdef KNOWS_MYSQLI
	const MYSQLI_RESOURCE *resource = php_mysqli_fetch_object(object)->ptr;
	if (resource == NULL || resource->ptr == NULL) {
		return NULL;
	}
	if (kind == THING_MYSQLI_RESULT) {
		/* What was stored needs its connection no more. */
		const MYSQL_RES *result = resource->ptr;
		return result->unbuf != NULL ? result->conn : NULL;
	}
	if (kind == THING_MYSQLI_STATEMENT) {
		const MYSQL_STMT *statement = ((const MY_STMT *) resource->ptr)->stmt;
		return statement != NULL && statement->data != NULL ? statement->data->conn : NULL;
	}
	const MYSQL *link = ((const MY_MYSQL *) resource->ptr)->mysql;
	return link != NULL ? link->data : NULL;
#else
	return NULL;
#endif
}

bool apus_guard_is_idle(zend_object *object)
{
#ifdef KNOWS_MYSQLI
	const thing kind = thing_of(object->ce);
	const MYSQLND_CONN_DATA *connection = NULL;
	if (kind == THING_MYSQLI || kind == THING_MYSQLI_STATEMENT) {
		connection = mysqli_connection(object, kind);
	}
# ifdef KNOWS_PDO
	if (kind == THING_PDO || kind == THING_PDO_STATEMENT) {
		connection = apus_mysqlnd_of_pdo(pdo_connection(object, kind));
	}
# endif
	return connection == NULL || GET_CONNECTION_STATE(&connection->state) == CONN_READY;
#else
	return true;
#endif
}

static const void *shared_by(zend_object *object, thing kind)
{
	void **own = (void **) ((char *) object - object->handlers->offset);
	switch (kind) {
		case THING_PDO:
		case THING_PDO_STATEMENT:
			return pdo_connection(object, kind);
		case THING_MYSQLI:
		case THING_MYSQLI_STATEMENT:
		case THING_MYSQLI_RESULT:
			return mysqli_connection(object, kind);
		case THING_FIRST_POINTER:
		case THING_OF_FIRST_POINTER:
			return own[0];
		case THING_OF_SECOND_POINTER:
			return own[1];
		case THING_ITSELF:
			return own;
		default:
			return NULL;
	}
}

static uintptr_t key_of(zend_object *object, thing kind)
{
	if (kind == THING_NONE || is_node(kind)) {
		return 0;
	}
	const void *shared = shared_by(object, kind);
	return (uintptr_t) (shared != NULL ? shared : object);
}

static uintptr_t tree_of(zend_object *object, thing kind)
{
	switch (kind) {
		case THING_NODE:
		case THING_XPATH:
			return apus_tree_of_node(object);
		case THING_SIMPLEXML:
			return apus_tree_of_simplexml(object);
		default:
			return 0;
	}
}

uintptr_t apus_guard_object_key(zend_object *object)
{
	return key_of(object, thing_of(object->ce));
}

uintptr_t apus_guard_tree_key(zend_object *object)
{
	return tree_of(object, thing_of(object->ce));
}

uintptr_t apus_guard_keys(zend_object *object, uintptr_t *tree)
{
	const thing kind = thing_of(object->ce);
	*tree = tree_of(object, kind);
	return key_of(object, kind);
}

bool apus_guard_holds_streams(const zend_object *object)
{
	return thing_of(object->ce) == THING_CURL;
}

uintptr_t apus_guard_resource_key(zend_resource *resource)
{
	if (resource->type == php_le_stream_context()) {
		return 0; /* options, which any number of streams share */
	}
	if (resource->type == php_file_le_stream_filter() && resource->ptr != NULL) {
		const php_stream_filter *filter = resource->ptr;
		const php_stream *stream = filter->chain != NULL ? filter->chain->stream : NULL;
		return (uintptr_t) (stream != NULL ? stream->res : resource);
	}
	return (uintptr_t) resource;
}

/* ---- which ---- */

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

static thing listed_class(const zend_class_entry *ce)
{
	for (size_t i = 0; i < sizeof(CLASSES) / sizeof(*CLASSES); i++) {
		if (strcasecmp(ZSTR_VAL(ce->name), CLASSES[i].name) == 0) {
			return CLASSES[i].kind;
		}
	}
	return THING_NONE;
}

static thing find_thing(const zend_class_entry *ce)
{
	for (const zend_class_entry *at = ce; at != NULL; at = at->parent) {
		const thing kind = listed_class(at);
		if (kind != THING_NONE) {
			return kind;
		}
	}
	const zend_module_entry *module = ce->info.internal.module;
	const bool plain = ce->create_object == NULL || module == NULL || LISTED(module->name, PLAIN_MODULES)
		|| instanceof_function(ce, zend_ce_throwable);
	return plain ? THING_NONE : THING_OBJECT;
}

/* Is the argument declared as something that is guarded? Without a type: a resource, perhaps; any object: a
 * document. */
static bool is_guarded_type(zend_type type, bool plain)
{
	const zend_type *one;
	if (!ZEND_TYPE_IS_SET(type)) {
		return true;
	}
	if (plain || !ZEND_TYPE_IS_COMPLEX(type)) {
		return !plain && (ZEND_TYPE_PURE_MASK(type) & ~MAY_BE_NULL) == MAY_BE_OBJECT;
	}
	ZEND_TYPE_FOREACH(type, one) {
		const zend_class_entry *ce = ZEND_TYPE_HAS_NAME(*one)
			? zend_lookup_class_ex(ZEND_TYPE_NAME(*one), NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD) : NULL;
		if (ce != NULL && thing_of(ce) != THING_NONE) {
			return true;
		}
	} ZEND_TYPE_FOREACH_END();
	return false;
}

static const known_function *known_function_of(const zend_function *function)
{
	for (size_t i = 0; i < KNOWN && function->common.scope == NULL; i++) {
		if (known_handlers[i] == function->internal_function.handler) {
			return &FUNCTIONS[i];
		}
	}
	return NULL;
}

static zif_handler stand_in(const zend_function *function, const apus_guarded *guarded)
{
	const char *name = ZSTR_VAL(function->common.function_name);
	const zif_handler connecting = apus_guard_connecting(function);
	if (connecting != NULL) {
		return connecting;
	}
	if (function->common.scope == NULL && strcmp(name, "proc_open") == 0) {
		return apus_guard_open_process;
	}
	if (strncmp(name, "curl_multi_", strlen("curl_multi_")) == 0 && guarded->args[0].excludes != 0) {
		return apus_guard_change;
	}
	if (guarded->tree) {
		return apus_guard_enter_tree;
	}
	switch (guarded->talk) {
		case APUS_TALK_READS:
			return apus_guard_read;
		case APUS_TALK_WRITES:
			return apus_guard_write;
		default:
			return apus_guard_enter;
	}
}

/* Which arguments hold something; false: none does. */
static bool look_at_arguments(const zend_function *function, bool plain, apus_guarded *guarded)
{
	const apus_use all = ALL;
	bool any = false;
	const uint32_t count = function->common.num_args + ((function->common.fn_flags & ZEND_ACC_VARIADIC) != 0);
	for (uint32_t i = 0; i < APUS_GUARD_ARGS && i < count; i++) {
		if (is_guarded_type(function->common.arg_info[i].type, plain)) {
			guarded->args[i] = all;
			any = true;
		}
	}
	const known_function *known = known_function_of(function);
	for (int i = 0; known != NULL && i < 2; i++) {
		if (known->uses[i].marks != 0) {
			guarded->args[i] = known->uses[i];
			any = true;
		}
	}
	if (known != NULL && plain) {
		const uint8_t marks = known->uses[0].marks;
		guarded->args[0].marks |= APUS_USES_TALK;
		guarded->talk = marks & APUS_USES_IN ? APUS_TALK_READS
			: marks & APUS_USES_OUT ? APUS_TALK_WRITES : APUS_TALK_NONE;
	}
	return any;
}

static void guard(zend_function *function, const apus_guarded *how)
{
	apus_guarded *kept = malloc(sizeof(*kept)); /* lives as long as the function, which is the process */
	if (kept == NULL) {
		return;
	}
	*kept = *how;
	kept->handler = function->internal_function.handler;
	function->internal_function.reserved[apus_guard_slot] = kept;
	function->internal_function.handler = stand_in(function, kept);
}

static bool may_guard(const zend_function *function)
{
	return function->type == ZEND_INTERNAL_FUNCTION && function->internal_function.handler != NULL
		&& function->internal_function.module != NULL && function->internal_function.reserved[apus_guard_slot] == NULL;
}

static void find_handlers(void)
{
	for (size_t i = 0; i < KNOWN; i++) {
		const zend_function *function = zend_hash_str_find_ptr(CG(function_table), FUNCTIONS[i].name,
			strlen(FUNCTIONS[i].name));
		known_handlers[i] = function != NULL && function->type == ZEND_INTERNAL_FUNCTION
			? function->internal_function.handler : NULL;
	}
}

void apus_guard_find_functions(void)
{
	zend_function *function;
	find_handlers();
	ZEND_HASH_FOREACH_PTR(CG(function_table), function) {
		if (!may_guard(function)) {
			continue;
		}
		const char *name = ZSTR_VAL(function->common.function_name), *module = function->internal_function.module->name;
		const bool standard = strcmp(module, "standard") == 0;
		apus_guarded how = {0};
		bool guarded = false;
		if (standard || !LISTED(module, PLAIN_MODULES)) {
			guarded = look_at_arguments(function, standard, &how);
			how.default_link = guarded && strcmp(module, "pgsql") == 0;
		}
		if (strcmp(name, "file_put_contents") == 0) {
			how.args[1] = (apus_use) READS;
		} else if (strncmp(name, "iterator_", strlen("iterator_")) == 0) {
			how.args[0] = (apus_use) ALL; /* they fetch rows, as foreach does */
			guarded = true;
		} else if (strcmp(name, "mysqli_poll") == 0) {
			how.args[0] = how.args[1] = how.args[2] = (apus_use) ALL;
			how.lists = guarded = true;
		} else if (strcmp(name, "stream_select") == 0) {
			/* It asks its streams anew when something has happened; their own code may be asked for a descriptor. */
			how.args[0] = how.args[1] = how.args[2] = (apus_use) HOLDS;
			how.lists = how.outside = true;
		}
		if (guarded || LISTED(name, WAITING_FUNCTIONS)) {
			guard(function, &how);
		}
	} ZEND_HASH_FOREACH_END();
}

static void guard_methods(zend_class_entry *ce)
{
	const thing kind = thing_of(ce);
	zend_function *method;
	ZEND_HASH_FOREACH_PTR(&ce->function_table, method) {
		if (may_guard(method) && !(method->common.fn_flags & ZEND_ACC_STATIC)) {
			apus_guarded how = {.self = ALL, .tree = is_node(kind) || kind == THING_XPATH};
			look_at_arguments(method, false, &how);
			if (how.tree) {
				apus_tree_refine(method, kind == THING_XPATH, &how);
			}
			guard(method, &how);
		}
	} ZEND_HASH_FOREACH_END();
}

void apus_guard_find_classes(void)
{
	zend_class_entry *ce;
	zend_hash_init(&things, 64, NULL, NULL, true);
	ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
		const thing kind = ce->type == ZEND_INTERNAL_CLASS ? find_thing(ce) : THING_NONE;
		if (kind != THING_NONE) {
			zval value;
			ZVAL_LONG(&value, kind);
			zend_hash_index_update(&things, (uintptr_t) ce, &value);
		}
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
		const thing kind = ce->type == ZEND_INTERNAL_CLASS ? thing_of(ce) : THING_NONE;
		if (kind != THING_NONE) {
			guard_methods(ce);
		}
		if (is_node(kind)) {
			apus_tree_watch(ce, kind == THING_SIMPLEXML);
		}
	} ZEND_HASH_FOREACH_END();
}
