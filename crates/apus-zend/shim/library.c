#include "apus_shim.h"

/* PHP code that comes with the module: a class is compiled when it is first looked for, functions when a request
 * begins. */

static zend_class_entry *(*other_autoload)(zend_string *name, zend_string *lc_name);
static apus_library_hooks library;

/* They compile without opcache, which keeps nothing of them. */
void apus_library_run(const apus_library_source *source, zval *result)
{
	zend_string *code = zend_string_init(source->code, source->len, 0);
	zend_op_array *op_array = zend_compile_string(code, source->name, ZEND_COMPILE_POSITION_AT_OPEN_TAG);
	zend_string_release(code);
	if (op_array == NULL) {
		return;
	}
	zend_execute(op_array, result);
	zend_destroy_static_vars(op_array);
	destroy_op_array(op_array);
	efree_size(op_array, sizeof(zend_op_array));
}

/* Runs the declarations of a source. */
static void declare(const apus_library_source *source)
{
	zval result;
	ZVAL_UNDEF(&result);
	apus_library_run(source, &result);
	zval_ptr_dtor(&result);
}

static zend_class_entry *find(const char *lc_name, size_t len)
{
	return zend_hash_str_find_ptr(EG(class_table), lc_name, len);
}

static zend_class_entry *autoload(zend_string *name, zend_string *lc_name)
{
	const apus_library_source *source = library.class(ZSTR_VAL(lc_name), ZSTR_LEN(lc_name));
	if (EXPECTED(source == NULL)) {
		return other_autoload != NULL ? other_autoload(name, lc_name) : NULL;
	}
	zend_class_entry *ce = find(source->class, source->class_len);
	if (ce == NULL) {
		declare(source);
		ce = find(source->class, source->class_len);
	}
	if (ce != NULL && !zend_string_equals_cstr(lc_name, source->class, source->class_len)) {
		/* Another name of it. */
		zend_register_class_alias_ex(ZSTR_VAL(lc_name), ZSTR_LEN(lc_name), ce, false);
	}
	return ce;
}

void apus_library_install(const apus_library_hooks *hooks)
{
	library = *hooks;
	other_autoload = zend_autoload;
	zend_autoload = autoload;
}

void apus_library_open(void)
{
	if (library.functions == NULL) {
		return;
	}
	size_t count;
	const apus_library_source *sources = library.functions(&count);
	for (size_t at = 0; at < count; at++) {
		declare(&sources[at]);
	}
}
