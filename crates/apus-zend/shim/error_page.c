/* A page of what ended a request of a script, in place of PHP's own text (script_error_page). The error is taken down
 * when PHP reports it, and shown when PHP has left the script: only then can code run that makes a page of it. */
#include "apus_shim.h"
#include "SAPI.h"
#include "zend_exceptions.h"

#define ENDS (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_PARSE | E_RECOVERABLE_ERROR | E_USER_ERROR)
/* Calls that are shown. */
#define CALLS 50
/* What making the page may take beyond the script's memory_limit. */
#define ROOM (32 * 1024 * 1024)

static apus_library_source page;
static void (*inner_error)(int type, zend_string *file, const uint32_t line, zend_string *message);
static void (*inner_throw)(zend_object *exception);
/* What was thrown last, which may be gone; and its place among the objects. */
static zend_object *thrown;
static uint32_t thrown_handle;

static struct {
	bool is_known;
	int type;
	uint32_t line;
	zend_string *file, *message;
	zend_object *exception; /* may miss */
	zval calls;
} failure;
/* An exception that ends a request of a script that stays comes as a warning. */
static bool in_uncaught;

static void remember(zend_object *exception)
{
	thrown = exception;
	thrown_handle = exception->handle;
}

static void note_thrown(zend_object *exception)
{
	if (exception != NULL) {
		remember(exception);
	}
	if (inner_throw != NULL) {
		inner_throw(exception);
	}
}

static bool is_at(zend_object *exception, const zend_string *file, uint32_t line)
{
	zval room_of_file, room_of_line;
	zend_class_entry *base = zend_get_exception_base(exception);
	const zval *in = zend_read_property_ex(base, exception, ZSTR_KNOWN(ZEND_STR_FILE), true, &room_of_file);
	const zval *at = zend_read_property_ex(base, exception, ZSTR_KNOWN(ZEND_STR_LINE), true, &room_of_line);
	return Z_TYPE_P(in) == IS_STRING && zend_string_equals(Z_STR_P(in), file)
		&& Z_TYPE_P(at) == IS_LONG && Z_LVAL_P(at) == (zend_long) line;
}

/* The exception that an error tells of, if that is the one that was thrown last. */
static zend_object *exception_of(const zend_string *file, uint32_t line)
{
	if (thrown == NULL || thrown_handle >= EG(objects_store).top
		|| EG(objects_store).object_buckets[thrown_handle] != thrown
		|| !instanceof_function(thrown->ce, zend_ce_throwable) || !is_at(thrown, file, line)) {
		return NULL;
	}
	GC_ADDREF(thrown);
	return thrown;
}

static void take_down(int type, zend_string *file, uint32_t line, zend_string *message)
{
	failure.is_known = true;
	failure.type = type & E_ALL;
	failure.line = line;
	failure.file = file != NULL ? zend_string_copy(file) : ZSTR_EMPTY_ALLOC();
	failure.message = zend_string_copy(message);
	failure.exception = exception_of(failure.file, line);
	ZVAL_EMPTY_ARRAY(&failure.calls);
	if (failure.exception == NULL && EG(current_execute_data) != NULL && !CG(in_compilation)) {
		zend_fetch_debug_backtrace(&failure.calls, 0, DEBUG_BACKTRACE_IGNORE_ARGS, CALLS);
	}
}

/* Programs that show errors themselves have switched PHP's own display off. */
static bool is_to_be_shown(int type)
{
	const bool ends = (type & ENDS) != 0 || in_uncaught;
	return ends && PG(display_errors) == 1 && !SG(headers_sent) && apus_sapi_is_answering() && !failure.is_known;
}

static void report(int type, zend_string *file, const uint32_t line, zend_string *message)
{
	if (!is_to_be_shown(type)) {
		inner_error(type, file, line, message);
		return;
	}
	take_down(type, file, line, message);
	/* It logs the error, has 500 for the status, and leaves the script where the type says so. */
	PG(display_errors) = 0;
	inner_error(type, file, line, message);
	PG(display_errors) = 1;
}

static void forget(void)
{
	zend_string_release(failure.file);
	zend_string_release(failure.message);
	zval_ptr_dtor(&failure.calls);
	if (failure.exception != NULL) {
		OBJ_RELEASE(failure.exception);
	}
	memset(&failure, 0, sizeof(failure));
}

static void give_details(zval *details)
{
	array_init(details);
	add_assoc_long(details, "type", failure.type);
	add_assoc_long(details, "line", failure.line);
	add_assoc_str(details, "file", zend_string_copy(failure.file));
	add_assoc_str(details, "message", zend_string_copy(failure.message));
	Z_TRY_ADDREF(failure.calls);
	add_assoc_zval(details, "calls", &failure.calls);
}

static void set_header(sapi_header_op_enum how, const char *line)
{
	sapi_header_line header = {line, strlen(line), 0};
	sapi_header_op(how, &header);
}

static void answer(void)
{
	zval make, arguments[2], result;
	ZVAL_UNDEF(&make);
	ZVAL_UNDEF(&result);
	apus_library_run(&page, &make);
	give_details(&arguments[0]);
	if (failure.exception != NULL) {
		ZVAL_OBJ_COPY(&arguments[1], failure.exception);
	} else {
		ZVAL_NULL(&arguments[1]);
	}
	if (Z_TYPE(make) == IS_OBJECT && call_user_function(NULL, NULL, &make, &result, 2, arguments) == SUCCESS
		&& Z_TYPE(result) == IS_ARRAY) {
		const zval *kind = zend_hash_index_find(Z_ARRVAL(result), 0), *text = zend_hash_index_find(Z_ARRVAL(result), 1);
		set_header(SAPI_HEADER_REPLACE, Z_STRVAL_P(kind));
		php_output_write(Z_STRVAL_P(text), Z_STRLEN_P(text));
	} else {
		php_output_write(ZSTR_VAL(failure.message), ZSTR_LEN(failure.message));
	}
	if (EG(exception) != NULL) {
		zend_clear_exception();
	}
	zval_ptr_dtor(&result);
	zval_ptr_dtor(&arguments[0]);
	zval_ptr_dtor(&arguments[1]);
	zval_ptr_dtor(&make);
}

static void show(void)
{
	static const char *const OF_A_BODY[] = {"Content-Length", "Content-Encoding", "Content-Disposition", "Location"};
	zend_set_memory_limit((size_t) PG(memory_limit) + ROOM);
	(void) apus_take_memory_exit();
	/* What the script has printed is no beginning of this page. */
	php_output_discard_all();
	for (size_t at = 0; at < sizeof(OF_A_BODY) / sizeof(*OF_A_BODY); at++) {
		set_header(SAPI_HEADER_DELETE, OF_A_BODY[at]);
	}
	if (SG(sapi_headers).http_response_code < 400) {
		SG(sapi_headers).http_response_code = 500;
	}
	answer();
}

void apus_error_page_show(void)
{
	if (!failure.is_known) {
		return;
	}
	PG(display_errors) = 1;
	if (!SG(headers_sent)) {
		/* The page's own mistakes are of no interest. */
		QUIETLY(show());
	}
	QUIETLY(forget());
	memset(&failure, 0, sizeof(failure));
	thrown = NULL;
	QUIETLY(zend_set_memory_limit((size_t) PG(memory_limit)));
}

void apus_error_page_uncaught(zend_object *exception)
{
	in_uncaught = page.code != NULL;
	remember(exception);
	zend_exception_error(exception, E_WARNING);
	in_uncaught = false;
}

void apus_error_page_open(const apus_library_source *source)
{
	page = *source;
}

void apus_error_page_begin(void)
{
	if (page.code == NULL) {
		return;
	}
	inner_error = zend_error_cb;
	zend_error_cb = report;
	inner_throw = zend_throw_exception_hook;
	zend_throw_exception_hook = note_thrown;
}

void apus_error_page_end(void)
{
	apus_error_page_show();
	if (page.code != NULL) {
		zend_error_cb = inner_error;
		zend_throw_exception_hook = inner_throw;
	}
}
