/* PHP's functions that are others for code written for Swoole: those of the library with `swoole_` before the name,
 * while that is switched on, or one of the shim. What the library itself calls is PHP's. */
#include "apus_shim.h"
#include "apus_state.h"
#include "php_network.h"
#include "php_streams.h"
#include <netinet/tcp.h>

#define PREFIX "swoole_"
/* How the files of the library are called. */
#define LIBRARY "@swoole/library/"

/* When a function is another. */
typedef bool (*wanted)(const zend_execute_data *ex);

static apus_stand_ins on;

static bool is_class(const zend_execute_data *ex, const char *name)
{
	if (ZEND_CALL_NUM_ARGS(ex) == 0) {
		return false;
	}
	const zval *arg = ZEND_CALL_ARG(ex, 1);
	ZVAL_DEREF(arg);
	return Z_TYPE_P(arg) == IS_OBJECT && strcmp(ZSTR_VAL(Z_OBJCE_P(arg)->name), name) == 0;
}

static bool in_coroutine(void)
{
	return apus_running_fiber != NULL;
}

/* All but those that are given a socket of ext/sockets, which only its own functions take. */
static bool sockets(const zend_execute_data *ex)
{
	return on.sockets && in_coroutine() && !is_class(ex, "Socket");
}

static bool makes_curl(const zend_execute_data *ex)
{
	(void) ex;
	return on.curl;
}

static bool takes_curl(const zend_execute_data *ex)
{
	return is_class(ex, "Swoole\\Curl\\Handler");
}

static bool streams(const zend_execute_data *ex)
{
	(void) ex;
	return on.streams && in_coroutine();
}

/* Whether this side of a TCP connection has said that nothing more comes. */
static bool has_ended(zval *arg)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	php_socket_t fd;
	ZVAL_DEREF(arg);
	php_stream *stream = Z_TYPE_P(arg) == IS_RESOURCE
		? zend_fetch_resource2(Z_RES_P(arg), NULL, php_file_le_stream(), php_file_le_pstream()) : NULL;
	const int as = PHP_STREAM_AS_SOCKETD | PHP_STREAM_CAST_INTERNAL;
	if (stream == NULL || php_stream_cast(stream, as, (void *) &fd, 0) != SUCCESS
		|| getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) {
		return false;
	}
	switch (info.tcpi_state) {
		case TCP_FIN_WAIT1: case TCP_FIN_WAIT2: case TCP_CLOSING: case TCP_LAST_ACK: case TCP_TIME_WAIT:
			return true;
		default:
			return false;
	}
}

/* stream_socket_shutdown() of a side that was shut down before. */
static bool ends_again(const zend_execute_data *ex)
{
	enum { BOTH_ARGUMENTS = 2 };
	return streams(ex) && ZEND_CALL_NUM_ARGS(ex) == BOTH_ARGUMENTS && Z_TYPE_P(ZEND_CALL_ARG(ex, 2)) == IS_LONG
		&& Z_LVAL_P(ZEND_CALL_ARG(ex, 2)) != STREAM_SHUT_RD && has_ended(ZEND_CALL_ARG(ex, 1));
}

static ZEND_NAMED_FUNCTION(no)
{
	RETURN_FALSE;
}

/* `by`: NULL for the library's. */
static const struct { const char *name; wanted when; zif_handler by; } ROWS[] = {
	{"socket_create", sockets, NULL}, {"socket_create_listen", sockets, NULL}, {"socket_create_pair", sockets, NULL},
	{"socket_connect", sockets, NULL}, {"socket_write", sockets, NULL}, {"socket_read", sockets, NULL},
	{"socket_send", sockets, NULL}, {"socket_recv", sockets, NULL}, {"socket_sendto", sockets, NULL},
	{"socket_recvfrom", sockets, NULL}, {"socket_bind", sockets, NULL}, {"socket_listen", sockets, NULL},
	{"socket_accept", sockets, NULL}, {"socket_getpeername", sockets, NULL}, {"socket_getsockname", sockets, NULL},
	{"socket_getopt", sockets, NULL}, {"socket_get_option", sockets, NULL}, {"socket_setopt", sockets, NULL},
	{"socket_set_option", sockets, NULL}, {"socket_set_block", sockets, NULL}, {"socket_set_nonblock", sockets, NULL},
	{"socket_shutdown", sockets, NULL}, {"socket_close", sockets, NULL}, {"socket_clear_error", sockets, NULL},
	{"socket_last_error", sockets, NULL}, {"socket_import_stream", sockets, NULL},
	{"curl_init", makes_curl, NULL}, {"curl_setopt", takes_curl, NULL}, {"curl_setopt_array", takes_curl, NULL},
	{"curl_exec", takes_curl, NULL}, {"curl_getinfo", takes_curl, NULL}, {"curl_errno", takes_curl, NULL},
	{"curl_error", takes_curl, NULL}, {"curl_reset", takes_curl, NULL}, {"curl_close", takes_curl, NULL},
	{"curl_multi_getcontent", takes_curl, NULL},
	{"stream_select", streams, NULL}, {"stream_socket_shutdown", ends_again, no},
};
enum { COUNT = sizeof(ROWS) / sizeof(*ROWS) };

/* The records of internal functions live as long as the process. */
static struct { const zend_function *function; zif_handler own; } known[COUNT];
static bool installed;

static zend_function *of_library(const char *name)
{
	char wanted[sizeof(PREFIX) + 32];
	const int len = snprintf(wanted, sizeof(wanted), PREFIX "%s", name);
	return zend_hash_str_find_ptr(EG(function_table), wanted, (size_t) len);
}

static bool library_calls(const zend_execute_data *ex)
{
	const zend_execute_data *caller = ex->prev_execute_data;
	return caller != NULL && caller->func != NULL && ZEND_USER_CODE(caller->func->type)
		&& strncmp(ZSTR_VAL(caller->func->op_array.filename), LIBRARY, sizeof(LIBRARY) - 1) == 0;
}

static ZEND_NAMED_FUNCTION(stand_in)
{
	uint32_t at = 0;
	while (known[at].function != execute_data->func) {
		at++;
	}
	if (!ROWS[at].when(execute_data) || library_calls(execute_data)) {
		known[at].own(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zend_function *by = ROWS[at].by == NULL ? of_library(ROWS[at].name) : NULL;
	if (by == NULL) {
		(ROWS[at].by != NULL ? ROWS[at].by : known[at].own)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zend_call_known_function(by, NULL, NULL, return_value, ZEND_NUM_ARGS(), ZEND_CALL_ARG(execute_data, 1), NULL);
}

static void install(void)
{
	for (uint32_t at = 0; at < COUNT; at++) {
		zend_function *function = zend_hash_str_find_ptr(CG(function_table), ROWS[at].name, strlen(ROWS[at].name));
		if (function == NULL || function->type != ZEND_INTERNAL_FUNCTION) {
			continue;
		}
		known[at].function = function;
		known[at].own = function->internal_function.handler;
		function->internal_function.handler = stand_in;
	}
}

void apus_stand_in(apus_stand_ins wanted)
{
	if (!installed && (wanted.sockets || wanted.curl || wanted.streams)) {
		installed = true;
		install();
	}
	on = wanted;
	apus_proc_there(wanted.processes);
}
