#include "apus_shim.h"
#include "php_ini.h"
#include "php_streams.h"

/* What PHP code calls, reads or writes by mistake in the handler of a request. Nothing here runs unless it does so. */

static apus_mistake_hook tell;

static void told(apus_mistake kind, const char *name, size_t len, zend_object *of)
{
	if (apus_in_fiber()) {
		tell(kind, name, len, of);
	}
}

/* ---- functions that set a head which nobody sends ---- */

static void call_in_vain(INTERNAL_FUNCTION_PARAMETERS)
{
	const zend_string *name = execute_data->func->common.function_name;
	/* Without arguments http_response_code() only asks. */
	if (ZEND_NUM_ARGS() > 0) {
		told(APUS_MISTAKE_CALL, ZSTR_VAL(name), ZSTR_LEN(name), NULL);
	}
	if (!apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU)) {
		zend_bailout();
	}
}

/* ---- superglobals that no request fills ---- */

static user_opcode_handler_t inner_fetch[256];

/* Whether this element of $_SERVER comes of a request. */
static bool is_of_request(const zend_op *next)
{
	static const char *const PREFIXES[] = {"REQUEST_", "HTTP_", "REMOTE_", "QUERY_STRING", "PATH_INFO", "CONTENT_"};
	if ((next->opcode != ZEND_FETCH_DIM_R && next->opcode != ZEND_FETCH_DIM_IS
		&& next->opcode != ZEND_ISSET_ISEMPTY_DIM_OBJ)
		|| next->op2_type != IS_CONST || Z_TYPE_P(RT_CONSTANT(next, next->op2)) != IS_STRING) {
		return false;
	}
	const zend_string *key = Z_STR_P(RT_CONSTANT(next, next->op2));
	/* PHP gives a script these, too. */
	if (zend_string_equals_literal(key, "REQUEST_TIME") || zend_string_equals_literal(key, "REQUEST_TIME_FLOAT")) {
		return false;
	}
	for (size_t i = 0; i < sizeof(PREFIXES) / sizeof(*PREFIXES); i++) {
		if (strncmp(ZSTR_VAL(key), PREFIXES[i], strlen(PREFIXES[i])) == 0) {
			return true;
		}
	}
	return false;
}

/* Whether a request could fill it; $_SERVER is asked about apart. */
static bool is_of_requests(const zend_string *name)
{
	static const char *const NAMES[] = {"_GET", "_POST", "_COOKIE", "_FILES", "_REQUEST"};
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
		if (zend_string_equals_cstr(name, NAMES[i], strlen(NAMES[i]))) {
			return true;
		}
	}
	return false;
}

static int fetch(zend_execute_data *ex)
{
	const zend_op *op = ex->opline;
	if ((op->extended_value & ZEND_FETCH_GLOBAL) && op->op1_type == IS_CONST && apus_in_fiber()
		&& !apus_own_has(APUS_OWN_SUPERGLOBALS)) {
		const zend_string *name = Z_STR_P(RT_CONSTANT(op, op->op1));
		bool is_server = zend_string_equals_literal(name, "_SERVER");
		bool writes = op->opcode == ZEND_FETCH_W || op->opcode == ZEND_FETCH_RW;
		if (writes && (is_server || is_of_requests(name))) {
			tell(APUS_MISTAKE_SHARED, ZSTR_VAL(name), ZSTR_LEN(name), NULL);
		} else if (!writes && ((is_server && is_of_request(op + 1)) || is_of_requests(name))) {
			tell(APUS_MISTAKE_SUPERGLOBAL, ZSTR_VAL(name), ZSTR_LEN(name), NULL);
		}
	}
	return inner_fetch[op->opcode] != NULL ? inner_fetch[op->opcode](ex) : ZEND_USER_OPCODE_DISPATCH;
}

/* Beside a handler of opcodes OPcache does not compile to machine code. Its own settings are registered later than this
 * runs. */
static bool is_jit_wanted(void)
{
	char *mode, *size;
	if (cfg_get_string("opcache.jit", &mode) == SUCCESS) {
		if (strcmp(mode, "disable") == 0) {
			return false;
		}
	} else if (PHP_VERSION_ID >= 80400) {
		return false;
	}
	return cfg_get_string("opcache.jit_buffer_size", &size) == SUCCESS ? strtol(size, NULL, 10) != 0
		: PHP_VERSION_ID >= 80400;
}

static void install_fetch(void)
{
	/* The instructions for variables whose name stands in no slot: superglobals, and names made at run time. */
	static const zend_uchar FETCHES[] = {ZEND_FETCH_R, ZEND_FETCH_IS, ZEND_FETCH_FUNC_ARG, ZEND_FETCH_W,
		ZEND_FETCH_RW};
	if (is_jit_wanted()) {
		return;
	}
	for (size_t i = 0; i < sizeof(FETCHES); i++) {
		inner_fetch[FETCHES[i]] = zend_get_user_opcode_handler(FETCHES[i]);
		zend_set_user_opcode_handler(FETCHES[i], fetch);
	}
}

/* ---- php://input ---- */

static const php_stream_wrapper *inner_wrapper;
static php_stream_wrapper_ops ops;
static php_stream_wrapper wrapper;

static php_stream *open_php(php_stream_wrapper *of, const char *path, const char *mode, int options,
	zend_string **opened,
	php_stream_context *context STREAMS_DC)
{
	const char *name = strncasecmp(path, "php://", 6) == 0 ? path + 6 : path;
	if (strcasecmp(name, "input") == 0) {
		told(APUS_MISTAKE_INPUT, name, 5, NULL);
	}
	return inner_wrapper->wops->stream_opener(of, path, mode, options, opened, context STREAMS_REL_CC);
}

static void install_input(void)
{
	inner_wrapper = zend_hash_str_find_ptr(php_stream_get_url_stream_wrappers_hash_global(), ZEND_STRL("php"));
	if (inner_wrapper == NULL || php_unregister_url_stream_wrapper("php") != SUCCESS) {
		return;
	}
	ops = *inner_wrapper->wops;
	ops.stream_opener = open_php;
	wrapper = *inner_wrapper;
	wrapper.wops = &ops;
	php_register_url_stream_wrapper("php", &wrapper);
}

/* ---- properties that mean nothing ---- */

zval *apus_write_property(zend_object *object, zend_string *name, zval *value, void **cache_slot)
{
	if (zend_hash_find_ptr(&object->ce->properties_info, name) == NULL) {
		told(APUS_MISTAKE_PROPERTY, ZSTR_VAL(name), ZSTR_LEN(name), object);
	}
	return zend_std_write_property(object, name, value, cache_slot);
}

/* ---- functions that were not imported ---- */

static void (*inner_throw)(zend_object *exception);

/* The function that is meant, with its namespace; NULL: none of ours. */
static const zend_string *function_meant(const char *name, size_t len)
{
	static const char *const SPACES[] = {"apus\\", "apus\\coroutine\\"};
	char full[128];
	for (size_t i = 0; i < sizeof(SPACES) / sizeof(*SPACES); i++) {
		int written = snprintf(full, sizeof(full), "%s%.*s", SPACES[i], (int) len, name);
		if (written > 0 && (size_t) written < sizeof(full)) {
			const zend_function *found = zend_hash_str_find_ptr_lc(EG(function_table), full, (size_t) written);
			if (found != NULL) {
				return found->common.function_name;
			}
		}
	}
	return NULL;
}

static void explain(zend_object *error)
{
	static const char BEGIN[] = "Call to undefined function ";
	zval room;
	const zval *message = zend_read_property_ex(zend_ce_error, error, ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &room);
	if (Z_TYPE_P(message) != IS_STRING || !zend_string_starts_with_literal(Z_STR_P(message), BEGIN)) {
		return;
	}
	const char *name = Z_STRVAL_P(message) + sizeof(BEGIN) - 1;
	const char *slash = strrchr(name, '\\');
	const char *last = slash != NULL ? slash + 1 : name;
	const zend_string *meant = function_meant(last, strcspn(last, "("));
	if (meant != NULL) {
		zend_string *text = zend_strpprintf(0, "%s: import it with \"use function %s;\"", Z_STRVAL_P(message),
			ZSTR_VAL(meant));
		zend_update_property_str(zend_ce_error, error, ZEND_STRL("message"), text);
		zend_string_release(text);
	}
}

static void thrown(zend_object *exception)
{
	if (exception != NULL && exception->ce == zend_ce_error) {
		explain(exception);
	}
	if (inner_throw != NULL) {
		inner_throw(exception);
	}
}

/* ---- */

void apus_mistakes_startup(apus_mistake_hook hook)
{
	static const char *const IN_VAIN[] = {"header", "setcookie", "setrawcookie", "http_response_code"};
	tell = hook;
	for (size_t i = 0; i < sizeof(IN_VAIN) / sizeof(*IN_VAIN); i++) {
		apus_wrap_function(NULL, IN_VAIN[i], call_in_vain, NULL);
	}
	install_fetch();
	install_input();
	inner_throw = zend_throw_exception_hook;
	zend_throw_exception_hook = thrown;
}
