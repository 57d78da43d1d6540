#include "apus_shim.h"
#include "php_network.h"
#include "php_streams.h"

/* What PHP's own streams and functions are for code written for Swoole. */

static const char PREFIX[] = "async.";

/* A file by the name of there. Files wait in coroutines whatever they are called. */
static php_stream *open_file(php_stream_wrapper *wrapper, const char *path, const char *mode, int options,
	zend_string **opened, php_stream_context *context STREAMS_DC)
{
	static const char SCHEME[] = "async.file://";
	(void) wrapper;
	if (strncasecmp(path, SCHEME, strlen(SCHEME)) == 0) {
		path += strlen(SCHEME);
	}
	/* It asks open_basedir itself. */
	return php_plain_files_wrapper.wops->stream_opener((php_stream_wrapper *) &php_plain_files_wrapper, path, mode,
		options, opened, context STREAMS_REL_CC);
}

static const php_stream_wrapper_ops file_ops = {.stream_opener = open_file, .label = "async.file"};
static const php_stream_wrapper file_wrapper = {.wops = &file_ops};

/* The transport whose name has no prefix. */
static php_stream *open_socket(const char *proto, size_t protolen, const char *resource, size_t resourcelen,
	const char *persistent_id, int options, int flags, struct timeval *timeout, php_stream_context *context STREAMS_DC)
{
	const char *name = proto + strlen(PREFIX);
	const size_t len = protolen - strlen(PREFIX);
	php_stream_transport_factory factory = zend_hash_str_find_ptr(php_stream_xport_get_hash(), name, len);
	return factory == NULL ? NULL : factory(name, len, resource, resourcelen, persistent_id, options, flags, timeout,
		context STREAMS_REL_CC);
}

/* PHP's own TCP. */
static php_stream_transport_factory own_tcp;

/* Where a connection is to come from: no address, or 0, is any. PHP takes the one for a mistake, and forgets the port
 * of the other. */
static void name_any_address(php_stream_context *context)
{
	const zval *from = context != NULL ? php_stream_context_get_option(context, "socket", "bindto") : NULL;
	if (from == NULL || Z_TYPE_P(from) != IS_STRING) {
		return;
	}
	const char *port = Z_STRVAL_P(from);
	if (*port == '0') {
		port++;
	}
	if (*port == ':' && port[1] >= '0' && port[1] <= '9') {
		zval any;
		ZVAL_STR(&any, zend_strpprintf(0, "0.0.0.0%s", port));
		php_stream_context_set_option(context, "socket", "bindto", &any);
		zval_ptr_dtor(&any);
	}
}

static php_stream *open_tcp(const char *proto, size_t protolen, const char *resource, size_t resourcelen,
	const char *persistent_id, int options, int flags, struct timeval *timeout, php_stream_context *context STREAMS_DC)
{
	if (apus_in_fiber() && (flags & STREAM_XPORT_SERVER) == 0) {
		name_any_address(context);
	}
	return own_tcp(proto, protolen, resource, resourcelen, persistent_id, options, flags, timeout,
		context STREAMS_REL_CC);
}

/* A coroutine cannot make a process: all that runs there would go on in both. The text is that of there. */
static void fork_refused(INTERNAL_FUNCTION_PARAMETERS)
{
	if (apus_in_fiber()) {
		zend_error(E_WARNING, "%s() has been disabled for security reasons",
			ZSTR_VAL(execute_data->func->common.function_name));
		RETURN_FALSE;
	}
	if (!apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU)) {
		zend_bailout();
	}
}

bool apus_there_startup(int module)
{
	static const char *const TRANSPORTS[] = {"tcp", "udp", "unix", "udg", "ssl", "tls"};
	char name[sizeof(PREFIX) + 4];
	for (size_t i = 0; i < sizeof(TRANSPORTS) / sizeof(*TRANSPORTS); i++) {
		snprintf(name, sizeof(name), "%s%s", PREFIX, TRANSPORTS[i]);
		if (php_stream_xport_register(name, open_socket) != SUCCESS) {
			return false;
		}
	}
	own_tcp = zend_hash_str_find_ptr(php_stream_xport_get_hash(), ZEND_STRL("tcp"));
	if (own_tcp == NULL || php_stream_xport_register("tcp", open_tcp) != SUCCESS) {
		return false;
	}
	apus_proc_startup(module);
	apus_wrap_function(NULL, "pcntl_fork", fork_refused, NULL);
	return php_register_url_stream_wrapper("async.file", &file_wrapper) == SUCCESS;
}
