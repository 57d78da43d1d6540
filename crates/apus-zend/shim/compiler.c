#include "apus_shim.h"

/* The compiler and the scanners are one for the process, and keep what they are at in globals: while one works nothing
 * waits. */

static zend_op_array *(*inner_compile_file)(zend_file_handle *, int);
static zend_op_array *(*inner_compile_string)(zend_string *, const char *, zend_compile_position);
unsigned apus_compiling;

/* Returns what `compile` gives; it may bail out. */
#define COUNTED(compile) do { \
		zend_op_array *compiled = NULL; \
		bool bailed = false; \
		apus_compiling++; \
		zend_try { \
			compiled = (compile); \
		} zend_catch { \
			bailed = true; \
		} zend_end_try(); \
		apus_compiling--; \
		if (bailed) { \
			zend_bailout(); \
		} \
		return compiled; \
	} while (0)

static zend_op_array *compile_one_file(zend_file_handle *file, int type)
{
	COUNTED(inner_compile_file(file, type));
}

static zend_op_array *compile_one_string(zend_string *source, const char *name, zend_compile_position position)
{
	COUNTED(inner_compile_string(source, name, position));
}

/* Functions that use the compiler's or the ini files' scanner. */
static const struct { const char *class, *name; } SCANNERS[] = {
	{NULL, "highlight_file"}, {NULL, "show_source"}, {NULL, "highlight_string"}, {NULL, "php_strip_whitespace"},
	{NULL, "token_get_all"}, {"phptoken", "tokenize"}, {NULL, "parse_ini_file"}, {NULL, "parse_ini_string"},
};

static void scan(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_compiling++;
	const bool ended = apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	apus_compiling--;
	if (!ended) {
		zend_bailout();
	}
}

void apus_compiler_startup(void)
{
	inner_compile_file = zend_compile_file;
	zend_compile_file = compile_one_file;
	inner_compile_string = zend_compile_string;
	zend_compile_string = compile_one_string;
}

void apus_compiler_install(void)
{
	for (size_t i = 0; i < sizeof(SCANNERS) / sizeof(*SCANNERS); i++) {
		apus_wrap_function(SCANNERS[i].class, SCANNERS[i].name, scan, NULL);
	}
}
