/* Whole requests of PHP, one after the other, in a process that the command line's PHP began: what php-fpm's own
 * main.c and SAPI do. The process has left the command line's request for ever, and ends by _exit(): so what PHP bails
 * out of beyond its own catches meets no frame of Rust that would be needed again. */
#include "apus_shim.h"
#include "SAPI.h"
#include "php_main.h"
#include "php_variables.h"
#include "zend_signal.h"
#include "ext/standard/head.h"

static apus_sapi_hooks hooks;
static const apus_sapi_request *running;
/* The answer is complete; what is printed from then on goes nowhere. */
static bool finished;

bool apus_sapi_wanted(void)
{
	return INI_BOOL("apus.serve");
}

/* Before any script is compiled: programs ask how they are served. */
void apus_sapi_startup(void)
{
	zend_constant *name = zend_hash_str_find_ptr(EG(zend_constants), ZEND_STRL("PHP_SAPI"));
	if (name != NULL) {
		ZVAL_STR(&name->value, zend_string_init_interned(ZEND_STRL("fpm-fcgi"), true));
	}
	apus_variables_startup();
}

static size_t sapi_write(const char *text, size_t length)
{
	if (running == NULL || finished) {
		return length;
	}
	if (!hooks.write(text, length)) {
		php_handle_aborted_connection();
	}
	return length;
}

static void sapi_flush_out(void *context)
{
	if (running == NULL || finished) {
		return;
	}
	sapi_send_headers();
	if (!hooks.flush()) {
		php_handle_aborted_connection();
	}
}

static int sapi_head(sapi_headers_struct *headers)
{
	if (running == NULL || finished || SG(request_info).no_headers) {
		return SAPI_HEADER_SENT_SUCCESSFULLY;
	}
	zend_llist_position position;
	const char *line = headers->http_status_line;
	hooks.status(headers->http_response_code, line != NULL ? line : "", line != NULL ? strlen(line) : 0);
	sapi_header_struct *header = zend_llist_get_first_ex(&headers->headers, &position);
	for (; header != NULL; header = zend_llist_get_next_ex(&headers->headers, &position)) {
		if (header->header_len > 0) {
			hooks.line(header->header, header->header_len);
		}
	}
	hooks.headed();
	return SAPI_HEADER_SENT_SUCCESSFULLY;
}

static size_t sapi_read(char *into, size_t length)
{
	/* PHP asks once for what is left of a body, also where there is none. */
	return running != NULL && running->content_length > 0 ? hooks.read(into, length) : 0;
}

static char *sapi_cookies(void)
{
	return running != NULL ? (char *) running->cookies : NULL;
}

static void sapi_variables(zval *array)
{
	if (running != NULL) {
		apus_variables_add(running, array);
	}
}

static void (*process_imports)(zval *array);
static void (*process_loads)(zval *array);

/* Beside what the process has, what the request has, as under php-fpm. */
static void add_environment(zval *array)
{
	for (size_t at = 0; running != NULL && at < running->count; at++) {
		const apus_sapi_pair *pair = &running->pairs[at];
		add_assoc_stringl_ex(array, pair->name, pair->name_len, pair->value, pair->value_len);
	}
}

/* $_ENV. */
static void sapi_import_environment(zval *array)
{
	process_imports(array);
	add_environment(array);
}

/* getenv() without a name. */
static void sapi_load_environment(zval *array)
{
	process_loads(array);
	add_environment(array);
}

static char *sapi_environment(const char *name, size_t length)
{
	if (running == NULL) {
		return NULL;
	}
	for (size_t at = 0; at < running->count; at++) {
		const apus_sapi_pair *pair = &running->pairs[at];
		if (pair->name_len == length && memcmp(pair->name, name, length) == 0) {
			return (char *) pair->value;
		}
	}
	return NULL;
}

/* The request of a script that stays, which serves others. */
static const apus_sapi_request *staying;

/* When a request begins, before its script is compiled. */
static int sapi_settings(void)
{
	/* A script that stays keeps what it began with. */
	if (running != NULL && (staying == NULL || staying == running)) {
		apus_ini_apply(running, false);
	}
	if (running != NULL) {
		apus_user_ini(running->script, sapi_environment(ZEND_STRL("DOCUMENT_ROOT")));
	}
	return SUCCESS;
}

static int sapi_nothing(void)
{
	return SUCCESS;
}

static zend_result sapi_time(double *at)
{
	if (running == NULL || running->received_at == 0) {
		return FAILURE;
	}
	*at = running->received_at;
	return SUCCESS;
}

void apus_sapi_take_over(const apus_sapi_hooks *given)
{
	hooks = *given;
	/* A request of somebody else, whose frames are never gone back to. Its objects and functions are the parent's. */
	zend_objects_store_mark_destructed(&EG(objects_store));
	php_free_shutdown_functions();
	BG(user_shutdown_function_names) = NULL;
	EG(bailout) = NULL;
	zend_try {
		php_output_discard_all();
	} zend_end_try();
	php_request_shutdown(NULL);
#ifdef ZEND_SIGNALS
	/* The signals of this process are set already, and are not PHP's to set anew for each request. */
	zend_signal_globals.reset = 0;
#endif
	/* The master, which runs no script of the user's, is kept from a debugger; its children are not. */
	const char *debugged = INI_STR("apus.xdebug_start");
	if (debugged != NULL && *debugged != '\0') {
		apus_ini_begin_with("xdebug.start_with_request", debugged);
	}
	sapi_module.name = "fpm-fcgi";
	sapi_module.pretty_name = "Apus";
	sapi_module.activate = sapi_settings;
	sapi_module.deactivate = sapi_nothing;
	sapi_module.ub_write = sapi_write;
	sapi_module.flush = sapi_flush_out;
	sapi_module.get_stat = NULL;
	sapi_module.getenv = sapi_environment;
	process_imports = php_import_environment_variables;
	php_import_environment_variables = sapi_import_environment;
	process_loads = php_load_environment_variables;
	php_load_environment_variables = sapi_load_environment;
	/* The command line's own drops every header. */
	sapi_module.header_handler = NULL;
	sapi_module.send_headers = sapi_head;
	sapi_module.send_header = NULL;
	sapi_module.read_post = sapi_read;
	sapi_module.read_cookies = sapi_cookies;
	sapi_module.register_server_variables = sapi_variables;
	sapi_module.get_request_time = sapi_time;
	sapi_module.terminate_process = NULL;
	sapi_module.phpinfo_as_text = 0;
	apus_leave_command_line();
	CG(skip_shebang) = 0;
	SG(request_info).argc = 0;
	SG(request_info).argv = NULL;
}

static void describe_request(const apus_sapi_request *request)
{
	sapi_request_info *info = &SG(request_info);
	SG(server_context) = (void *) request;
	SG(options) = 0;
	SG(sapi_headers).http_response_code = 200;
	info->request_method = request->method;
	info->query_string = (char *) request->query;
	info->request_uri = (char *) request->uri;
	info->path_translated = (char *) request->script;
	info->content_type = request->content_type;
	info->content_length = (zend_long) request->content_length;
	info->proto_num = request->protocol;
	info->no_headers = 0;
	info->headers_only = 0;
	info->argc = 0;
	info->argv = NULL;
	info->auth_user = info->auth_password = info->auth_digest = NULL;
	php_handle_auth_data(request->authorization);
}

/* What php-fpm answers where it may not open a script: open_basedir, or the rights of its file. */
static bool refused(const char *script)
{
	int why = 0;
	if (php_check_open_basedir_ex(script, 0) != 0) {
		why = EPERM;
	} else if (access(script, R_OK) != 0) {
		why = errno;
	}
	if (why == 0) {
		return false;
	}
	zend_try {
		char *told;
		spprintf(&told, 0, "Unable to open primary script: %s (%s)", script, strerror(why));
		php_log_err(told);
		efree(told);
		SG(sapi_headers).http_response_code = why == EACCES ? 403 : 404;
		PUTS(why == EACCES ? "Access denied.\n" : "No input file specified.\n");
	} zend_end_try();
	return true;
}

int apus_sapi_run(const apus_sapi_request *request, bool stays)
{
	int status = 500;
	running = request;
	staying = stays ? request : NULL;
	finished = stays;
	describe_request(request);
	apus_ini_apply(request, true);
	if (php_request_startup() == SUCCESS && (stays || !refused(request->script))) {
		zend_file_handle file;
		zend_stream_init_filename(&file, request->script);
		file.primary_script = true;
		EG(exit_status) = 0;
		apus_error_page_begin();
		php_execute_script(&file);
		apus_error_page_end();
		zend_destroy_file_handle(&file);
	}
	php_request_shutdown(NULL);
	status = SG(sapi_headers).http_response_code;
	SG(server_context) = NULL;
	SG(request_info).path_translated = NULL;
	SG(request_info).cookie_data = NULL;
	running = NULL;
	apus_variables_forget();
	return status;
}

bool apus_sapi_begin(const apus_sapi_request *request)
{
	running = request;
	finished = false;
	bool failed = false;
	GUARDED(failed, describe_request(request));
	return !failed && apus_stay_begin();
}

int apus_sapi_end(void)
{
	apus_error_page_show();
	apus_stay_end();
	const int status = SG(sapi_headers).http_response_code;
	running = staying;
	apus_variables_forget();
	finished = true;
	/* Nothing of a request that is over is pointed at. */
	QUIETLY(describe_request(staying));
	return status;
}

bool apus_sapi_is_running(void)
{
	return running != NULL;
}

bool apus_sapi_is_answering(void)
{
	return running != NULL && !finished;
}

apus_status apus_sapi_finish(bool *first)
{
	volatile apus_status status = APUS_OK;
	*first = running != NULL && !finished;
	if (!*first) {
		return status;
	}
	apus_try {
		php_output_end_all();
		php_header();
	} apus_catch {
		status = APUS_BAILED;
	} apus_end_try();
	finished = true;
	return status;
}

/* Calls `each` with every line of the answer's head so far. */
void apus_sapi_lines(void *context, void (*each)(void *context, const char *line, size_t length))
{
	zend_llist_position position;
	sapi_header_struct *header = zend_llist_get_first_ex(&SG(sapi_headers).headers, &position);
	for (; header != NULL; header = zend_llist_get_next_ex(&SG(sapi_headers).headers, &position)) {
		each(context, header->header, header->header_len);
	}
}
