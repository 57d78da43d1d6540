/* $_SERVER of a request. By PHP's own way each variable goes through ext/filter, which keeps a copy of it and registers
 * it by the rules for names of forms: half the instructions of a small request. Names are plain here, and nearly nobody
 * asks for the copies; ext/filter is given them when somebody does. */
#include "apus_shim.h"
#include "SAPI.h"
#include "php_variables.h"

/* What asks ext/filter for variables of a request. */
static const char *const names[] = {"filter_input", "filter_input_array", "filter_has_var"};
#define ASKING (sizeof(names) / sizeof(names[0]))
static zif_handler asks[ASKING];
/* What filtered when the module started: nobody has put something else in its place as long as it is that. */
static unsigned int (*filter)(int, const char *, char **, size_t, size_t *);
static bool all_found;

/* Names that nearly every request has: as keys of $_SERVER they need not be copied and hashed again each time. */
static const char *const usual[] = {
	"USER", "HOME", "HTTP_HOST", "HTTP_USER_AGENT", "HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_ACCEPT_LANGUAGE",
	"HTTP_AUTHORIZATION", "HTTP_CACHE_CONTROL", "HTTP_CONNECTION", "HTTP_CONTENT_LENGTH", "HTTP_CONTENT_TYPE",
	"HTTP_COOKIE", "HTTP_DNT", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_NONE_MATCH", "HTTP_ORIGIN", "HTTP_PRAGMA",
	"HTTP_PRIORITY", "HTTP_REFERER", "HTTP_SEC_CH_UA", "HTTP_SEC_CH_UA_MOBILE", "HTTP_SEC_CH_UA_PLATFORM",
	"HTTP_SEC_FETCH_DEST", "HTTP_SEC_FETCH_MODE", "HTTP_SEC_FETCH_SITE", "HTTP_SEC_FETCH_USER",
	"HTTP_UPGRADE_INSECURE_REQUESTS", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO",
	"HTTP_X_REAL_IP", "HTTP_X_REQUESTED_WITH", "REDIRECT_STATUS", "SERVER_NAME", "SERVER_PORT", "SERVER_ADDR",
	"REMOTE_USER", "REMOTE_PORT", "REMOTE_ADDR", "SERVER_SOFTWARE", "GATEWAY_INTERFACE", "HTTPS", "REQUEST_SCHEME",
	"SERVER_PROTOCOL", "DOCUMENT_ROOT", "DOCUMENT_URI", "REQUEST_URI", "SCRIPT_NAME", "CONTENT_LENGTH",
	"CONTENT_TYPE", "REQUEST_METHOD", "QUERY_STRING", "SCRIPT_FILENAME", "PATH_INFO", "FCGI_ROLE", "PHP_SELF",
};
#define PLACES 256
static zend_string *known[PLACES];

/* Where a name is looked for: it tells those above apart, but for a few. */
static size_t place_of(const char *name, size_t length)
{
	const unsigned char *text = (const unsigned char *) name;
	return (length * 7 + text[length - 1] * 31 + text[length / 2] * 13 + text[length * 3 / 4]) % PLACES;
}

/* The name as a key; NULL where it is none of those. */
static zend_string *known_name(const char *name, size_t length)
{
	if (length == 0) {
		return NULL;
	}
	for (size_t at = place_of(name, length); known[at] != NULL; at = (at + 1) % PLACES) {
		if (ZSTR_LEN(known[at]) == length && memcmp(ZSTR_VAL(known[at]), name, length) == 0) {
			return known[at];
		}
	}
	return NULL;
}

static void learn_names(void)
{
	for (size_t number = 0; number < sizeof(usual) / sizeof(usual[0]); number++) {
		const size_t length = strlen(usual[number]);
		size_t at = place_of(usual[number], length);
		while (known[at] != NULL) {
			at = (at + 1) % PLACES;
		}
		/* For the life of the process, and of those that are forked from it. */
		known[at] = zend_string_init_interned(usual[number], length, true);
		zend_string_hash_val(known[at]);
	}
}

/* The request whose variables ext/filter has not been given. */
static const apus_sapi_request *untold;

static void filter_each(const apus_sapi_request *request, zval *array)
{
	for (size_t at = 0; at < request->count; at++) {
		const apus_sapi_pair *pair = &request->pairs[at];
		char *value = (char *) pair->value;
		size_t length = pair->value_len;
		if (sapi_module.input_filter(PARSE_SERVER, pair->name, &value, length, &length)) {
			php_register_variable_safe(pair->name, value, length, array);
		}
	}
}

static void tell_filter(void)
{
	/* Filled when it is first named, which tells of the request. */
	zend_is_auto_global(ZSTR_KNOWN(ZEND_STR_AUTOGLOBAL_SERVER));
	if (untold == NULL) {
		return;
	}
	const apus_sapi_request *request = untold;
	untold = NULL;
	/* It would write into $_SERVER, too, over what the program may have changed. */
	zval *server = &PG(http_globals)[TRACK_VARS_SERVER];
	zval kept;
	ZVAL_COPY_VALUE(&kept, server);
	array_init(server);
	filter_each(request, server);
	zval_ptr_dtor(server);
	ZVAL_COPY_VALUE(server, &kept);
}

static ZEND_FUNCTION(asked)
{
	const char *name = ZSTR_VAL(EX(func)->common.function_name);
	tell_filter();
	for (size_t at = 0; at < ASKING; at++) {
		if (strcmp(name, names[at]) == 0) {
			asks[at](INTERNAL_FUNCTION_PARAM_PASSTHRU);
			return;
		}
	}
}

void apus_variables_startup(void)
{
	learn_names();
	filter = sapi_module.input_filter;
	all_found = true;
	for (size_t at = 0; at < ASKING; at++) {
		zend_function *function = zend_hash_str_find_ptr(CG(function_table), names[at], strlen(names[at]));
		if (function == NULL || function->type != ZEND_INTERNAL_FUNCTION) {
			all_found = false;
			continue;
		}
		asks[at] = function->internal_function.handler;
		function->internal_function.handler = ZEND_FN(asked);
	}
}

/* Whether ext/filter leaves values as they are, and can be told of them later. */
static bool leaves_them(void)
{
	const char *by = all_found && sapi_module.input_filter == filter ? INI_STR("filter.default") : NULL;
	return by != NULL && strcmp(by, "unsafe_raw") == 0;
}

void apus_variables_add(const apus_sapi_request *request, zval *array)
{
	if (!leaves_them()) {
		untold = NULL;
		filter_each(request, array);
		return;
	}
	untold = request;
	zend_hash_extend(Z_ARRVAL_P(array), (uint32_t) request->count + 8, false);
	for (size_t at = 0; at < request->count; at++) {
		const apus_sapi_pair *pair = &request->pairs[at];
		zval value;
		ZVAL_STRINGL_FAST(&value, pair->value, pair->value_len);
		zend_string *name = known_name(pair->name, pair->name_len);
		if (name != NULL) {
			zend_hash_update(Z_ARRVAL_P(array), name, &value);
		} else {
			zend_hash_str_update(Z_ARRVAL_P(array), pair->name, pair->name_len, &value);
		}
	}
}

/* The request is over. */
void apus_variables_forget(void)
{
	untold = NULL;
}
