/* ext/sockets over sockets of the library: in coroutines its functions are those of the same name with `swoole_` before
 * it, while that is switched on. */
#include "apus_shim.h"

#define PREFIX "swoole_"

static const char *const NAMES[] = {
	"socket_create", "socket_create_listen", "socket_create_pair", "socket_connect", "socket_write", "socket_read",
	"socket_send", "socket_recv", "socket_sendto", "socket_recvfrom", "socket_bind", "socket_listen", "socket_accept",
	"socket_getpeername", "socket_getsockname", "socket_getopt", "socket_get_option", "socket_setopt",
	"socket_set_option", "socket_set_block", "socket_set_nonblock", "socket_shutdown", "socket_close",
	"socket_clear_error", "socket_last_error", "socket_import_stream",
};
enum { COUNT = sizeof(NAMES) / sizeof(*NAMES) };

/* The records of internal functions live as long as the process. */
static struct { const zend_function *function; zif_handler own; } known[COUNT];
static bool installed, on;

/* A socket of ext/sockets, which only its own functions take. */
static bool takes_own(const zend_execute_data *ex)
{
	if (ZEND_CALL_NUM_ARGS(ex) == 0) {
		return false;
	}
	const zval *arg = ZEND_CALL_ARG(ex, 1);
	ZVAL_DEREF(arg);
	return Z_TYPE_P(arg) == IS_OBJECT && Z_OBJCE_P(arg)->type == ZEND_INTERNAL_CLASS
		&& zend_string_equals_literal(Z_OBJCE_P(arg)->name, "Socket");
}

static zend_function *of_library(const char *name)
{
	char wanted[sizeof(PREFIX) + 32];
	const int len = snprintf(wanted, sizeof(wanted), PREFIX "%s", name);
	return zend_hash_str_find_ptr(EG(function_table), wanted, (size_t) len);
}

static ZEND_NAMED_FUNCTION(stand_in)
{
	uint32_t at = 0;
	while (known[at].function != execute_data->func) {
		at++;
	}
	zend_function *by = on && apus_running_fiber != NULL && !takes_own(execute_data) ? of_library(NAMES[at]) : NULL;
	if (by == NULL) {
		known[at].own(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	zend_call_known_function(by, NULL, NULL, return_value, ZEND_NUM_ARGS(), ZEND_CALL_ARG(execute_data, 1), NULL);
}

static void install(void)
{
	for (uint32_t at = 0; at < COUNT; at++) {
		zend_function *function = zend_hash_str_find_ptr(CG(function_table), NAMES[at], strlen(NAMES[at]));
		if (function == NULL || function->type != ZEND_INTERNAL_FUNCTION) {
			continue;
		}
		known[at].function = function;
		known[at].own = function->internal_function.handler;
		function->internal_function.handler = stand_in;
	}
}

void apus_sockets_by_library(bool wanted)
{
	if (wanted && !installed) {
		installed = true;
		install();
	}
	on = wanted;
}
