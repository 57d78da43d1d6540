/* A script that stays and serves one request after the other: of php_request_shutdown() and php_request_startup(), what
 * is a request's and not the script's. */
#include "apus_shim.h"
#include "SAPI.h"
#include "php_main.h"
#include "php_variables.h"

/* The session of the script, while a request has its own. */
static apus_session *session_of_script;

/* ext/filter keeps what came in a request; it has nothing to do when one begins. */
static void end_filter(void)
{
	static zend_module_entry *filter;
	static bool is_looked_for;
	if (!is_looked_for) {
		is_looked_for = true;
		filter = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("filter"));
	}
	if (filter != NULL && filter->request_shutdown_func != NULL) {
		filter->request_shutdown_func(filter->type, filter->module_number);
	}
}

/* php://input as the script has it open: it reads from the body of a request that is over. */
static bool reads_body(const zval *resource)
{
	if (Z_RES_P(resource)->type != php_file_le_stream() || Z_RES_P(resource)->ptr == NULL) {
		return false;
	}
	const php_stream *stream = Z_RES_P(resource)->ptr;
	return stream->ops->label != NULL && strcmp(stream->ops->label, "Input") == 0;
}

static void close_body(void)
{
	zval *resource;
	ZEND_HASH_FOREACH_VAL(&EG(regular_list), resource) {
		if (reads_body(resource)) {
			zend_list_close(Z_RES_P(resource));
		}
	} ZEND_HASH_FOREACH_END();
	if (SG(request_info).request_body != NULL) {
		php_stream_close(SG(request_info).request_body);
		SG(request_info).request_body = NULL;
		SG(post_read) = 1;
	}
}

static void end_session(void)
{
	if (session_of_script == NULL) {
		return;
	}
	apus_session_close();
	apus_session_exchange(session_of_script);
	apus_session_release(session_of_script);
	free(session_of_script);
	session_of_script = NULL;
}

static void begin_session(void)
{
	apus_session *record = apus_session_is_known() ? malloc(apus_session_size()) : NULL;
	if (record != NULL) {
		apus_session_touch(record);
		session_of_script = record;
	}
}

/* The timer of max_execution_time counts the process's own time. It is set anew for a request only where a part of the
 * limit has passed since it was last set: until then a request may have that much less, and two calls of the kernel are
 * saved. The time is that of the clock, for what the process has used itself cannot be more. */
#define PART 60
static uint64_t timer_set_at;
static zend_long timer_seconds = -1;

static uint64_t milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* The signal's handler is set by the first of them, and stays. */
static void begin_time(zend_long seconds)
{
	static bool is_set;
	const uint64_t now = milliseconds();
	if (is_set && seconds == timer_seconds && (now - timer_set_at) * PART < (uint64_t) seconds * 1000) {
		return;
	}
	zend_set_timeout(seconds, !is_set);
	is_set = true;
	timer_seconds = seconds;
	timer_set_at = now;
}

/* Of the script that stays, as it had it when it first asked for a request. */
static zend_long own_limit = -1;

/* A limit that the request gave itself is gone with it; the script's goes on, while the process uses no time. */
static void end_time(void)
{
	if (own_limit < 0) {
		own_limit = EG(timeout_seconds);
	}
	if (EG(timeout_seconds) != own_limit) {
		zend_string *name = zend_string_init(ZEND_STRL("max_execution_time"), false);
		zend_string *value = zend_long_to_str(own_limit);
		zend_alter_ini_entry(name, value, PHP_INI_USER, PHP_INI_STAGE_RUNTIME);
		zend_string_release(value);
		zend_string_release(name);
	} else if (own_limit == timer_seconds && !zend_atomic_bool_load_ex(&EG(timed_out))) {
		return;
	}
	zend_unset_timeout();
	timer_seconds = -1;
}

bool apus_stay_end(void)
{
	bool failed = false;
	/* Each by itself: what comes after a fatal error in an output handler is done all the same. */
	GUARDED(failed, php_output_end_all());
	GUARDED(failed, end_session());
	GUARDED(failed, end_time());
	GUARDED(failed, end_filter());
	GUARDED(failed, php_output_deactivate());
	GUARDED(failed, close_body());
	GUARDED(failed, sapi_deactivate());
	/* It frees these and leaves them as they are. */
	SG(request_info).auth_user = SG(request_info).auth_password = SG(request_info).auth_digest = NULL;
	SG(request_info).content_type_dup = SG(request_info).current_user = NULL;
	if (PG(last_error_message) != NULL) {
		zend_string_release(PG(last_error_message));
		PG(last_error_message) = NULL;
	}
	return !failed;
}

/* As php_request_startup() has it. */
static void begin_output(void)
{
	if (PG(expose_php)) {
		sapi_add_header(SAPI_PHP_VERSION_HEADER, sizeof(SAPI_PHP_VERSION_HEADER) - 1, true);
	}
	if (PG(output_handler) != NULL && PG(output_handler)[0] != '\0') {
		zval handler;
		ZVAL_STRING(&handler, PG(output_handler));
		php_output_start_user(&handler, 0, PHP_OUTPUT_HANDLER_STDFLAGS);
		zval_ptr_dtor(&handler);
	} else if (PG(output_buffering)) {
		const zend_long size = PG(output_buffering);
		php_output_start_user(NULL, size > 1 ? (size_t) size : 0, PHP_OUTPUT_HANDLER_STDFLAGS);
	} else if (PG(implicit_flush)) {
		php_output_set_implicit_flush(true);
	}
}

/* Code that is compiled already does not ask again for what PHP fills when it is first named, so these are filled
 * where the script has named them. $_ENV is the process's. */
static void fill_superglobals(void)
{
	zval *files = &PG(http_globals)[TRACK_VARS_FILES];
	zval_ptr_dtor_nogc(files);
	ZVAL_UNDEF(files);
	zend_auto_global *global;
	ZEND_HASH_MAP_FOREACH_PTR(CG(auto_globals), global) {
		const bool is_server = zend_string_equals_literal(global->name, "_SERVER");
		const bool is_request = zend_string_equals_literal(global->name, "_REQUEST");
		if (zend_string_equals_literal(global->name, "_ENV") || global->auto_global_callback == NULL
			|| (global->jit && !is_server && !(is_request && zend_hash_exists(&EG(symbol_table), global->name)))) {
			continue;
		}
		global->armed = global->auto_global_callback(global->name);
	} ZEND_HASH_FOREACH_END();
}

static bool is_triggered(void)
{
	static const char *const TRIGGERS[] = {"XDEBUG_SESSION", "XDEBUG_SESSION_START", "XDEBUG_TRIGGER"};
	static const int WHERE[] = {TRACK_VARS_GET, TRACK_VARS_POST, TRACK_VARS_COOKIE};
	for (size_t in = 0; in < sizeof(WHERE) / sizeof(*WHERE); in++) {
		const zval *all = &PG(http_globals)[WHERE[in]];
		const bool any = Z_TYPE_P(all) == IS_ARRAY && zend_hash_num_elements(Z_ARRVAL_P(all)) > 0;
		for (size_t at = 0; any && at < sizeof(TRIGGERS) / sizeof(*TRIGGERS); at++) {
			if (zend_hash_str_exists(Z_ARRVAL_P(all), TRIGGERS[at], strlen(TRIGGERS[at]))) {
				return true;
			}
		}
	}
	return false;
}

/* Xdebug looks for what asks for it where a request of PHP begins, which here is the script's own start. It does
 * nothing where it is connected already. */
static void begin_debugger(void)
{
	if (zend_hash_str_exists(EG(function_table), ZEND_STRL("xdebug_connect_to_client")) && is_triggered()) {
		zval function, result;
		ZVAL_STRING(&function, "xdebug_connect_to_client");
		if (call_user_function(NULL, NULL, &function, &result, 0, NULL) == SUCCESS) {
			zval_ptr_dtor(&result);
		}
		zval_ptr_dtor(&function);
	}
}

static void begin_request(void)
{
	php_output_activate();
	PG(header_is_being_sent) = 0;
	PG(connection_status) = PHP_CONNECTION_NORMAL;
	/* The script does not end with one client's connection. */
	PG(ignore_user_abort) = 1;
	EG(exit_status) = 0;
	sapi_activate();
	/* There is input to wait for only where there is a body. */
	const bool reads = PG(max_input_time) != -1 && SG(request_info).content_length > 0;
	begin_time(reads ? PG(max_input_time) : EG(timeout_seconds));
	begin_output();
	begin_session();
	fill_superglobals();
	begin_debugger();
	SG(sapi_started) = 1;
	if (reads) {
		/* The other limit has taken its place there. */
		begin_time(INI_INT("max_execution_time"));
	}
}

bool apus_stay_begin(void)
{
	bool failed = false;
	GUARDED(failed, begin_request());
	return !failed;
}

bool apus_stay_uncaught(zend_object *exception)
{
	bool failed = false;
	if (!SG(headers_sent)) {
		SG(sapi_headers).http_response_code = 500;
	}
	/* It takes a reference with it. */
	GC_ADDREF(exception);
	GUARDED(failed, apus_error_page_uncaught(exception));
	return !failed;
}
