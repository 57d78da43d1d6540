#include "apus_shim.h"

/* HOOK_FILE: a call on a regular file may be made by another thread, while other coroutines run, where nothing but the
 * PHP function that asks for it is in the middle of something. PHP's own functions on plain files are like that. A
 * library that keeps files holds a mutex meanwhile (SQLite), or moves the position of a file that several streams share
 * (Phar): its calls are made at once. */

static const char *const FUNCTIONS[] = {
	"fopen", "file", "file_get_contents", "file_put_contents", "readfile", "copy", "fread", "fgets", "fgetc", "fgetcsv",
	"fscanf",
	"fpassthru", "stream_get_contents", "stream_get_line", "fsync", "fdatasync",
};
enum { FUNCTION_COUNT = sizeof(FUNCTIONS) / sizeof(*FUNCTIONS) };
static const zend_function *functions[FUNCTION_COUNT];

void apus_file_install(void)
{
	for (unsigned i = 0; i < FUNCTION_COUNT; i++) {
		functions[i] = zend_hash_str_find_ptr(CG(function_table), FUNCTIONS[i], strlen(FUNCTIONS[i]));
	}
}

/* A path without a wrapper, or a stream that is a file. */
static bool is_plain(const zval *arg)
{
	ZVAL_DEREF(arg);
	if (Z_TYPE_P(arg) == IS_STRING) {
		/* What is longer is text to be written. */
		return Z_STRLEN_P(arg) >= MAXPATHLEN
			|| zend_memnstr(Z_STRVAL_P(arg), "://", 3, Z_STRVAL_P(arg) + Z_STRLEN_P(arg)) == NULL;
	}
	if (Z_TYPE_P(arg) != IS_RESOURCE) {
		return true;
	}
	const int type = Z_RES_P(arg)->type;
	return (type == php_file_le_stream() || type == php_file_le_pstream())
		&& ((const php_stream *) Z_RES_P(arg)->ptr)->ops == &php_stream_stdio_ops;
}

bool apus_file_may_wait(void)
{
	const zend_execute_data *ex = EG(current_execute_data);
	bool known = false;
	for (unsigned i = 0; !known && i < FUNCTION_COUNT; i++) {
		known = ex != NULL && ex->func != NULL && ex->func == functions[i];
	}
	for (uint32_t i = 1; known && i <= ZEND_CALL_NUM_ARGS(ex); i++) {
		known = is_plain(ZEND_CALL_ARG(ex, i));
	}
	return known;
}

const void *apus_running_call(void)
{
	return EG(current_execute_data);
}
