#include "apus_shim.h"
#include "SAPI.h"
#include "zend_smart_str.h"
#include <dlfcn.h>

/* The first members of ext/libxml's globals. */
typedef struct {
	zval stream_context;
	smart_str error_buffer;
	zend_llist *errors;
#if PHP_VERSION_ID < 80400
	zval loader;
	zend_fcall_info loader_call;
#endif
	zend_fcall_info_cache loader_cache; /* before PHP 8.4 `loader` owns what it names */
} libxml_state;

typedef void (*libxml_error_function)(void);

struct apus_own {
	uint32_t parts;
	zval globals[APUS_SUPERGLOBALS];
	apus_session *session;
	sapi_headers_struct headers;
	bool headers_sent;
	zend_object *pgsql;
	libxml_state libxml;
	libxml_error_function libxml_errors;
};

apus_own *apus_own_current;

static zend_llist *const no_errors = NULL;
zend_llist *const *apus_libxml_errors = &no_errors;
static libxml_state *libxml;
static libxml_error_function *libxml_report; /* xmlStructuredError of libxml2 */
static zend_object **pgsql_link;             /* pg_query() without a link uses it */

static const char *const NAMES[APUS_SUPERGLOBALS] = {"_GET", "_POST", "_COOKIE", "_FILES", "_SERVER", "_REQUEST"};
static zend_string *names[APUS_SUPERGLOBALS];

static void touching_libxml(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_own_touch(APUS_OWN_LIBXML);
	if (!apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU)) {
		zend_bailout();
	}
}

static void touching_pgsql(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_own_touch(APUS_OWN_PGSQL);
	if (!apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU)) {
		zend_bailout();
	}
}

static void install_libxml(void)
{
	static const char *const FUNCTIONS[] = {"libxml_use_internal_errors", "libxml_set_streams_context",
		"libxml_set_external_entity_loader", "libxml_get_errors", "libxml_clear_errors"};
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("libxml"));
	libxml_error_function *(*place)(void) = (libxml_error_function *(*)(void)) dlsym(RTLD_DEFAULT,
		"__xmlStructuredError");
	if (module == NULL || module->globals_size < sizeof(libxml_state) || place == NULL) {
		return;
	}
	libxml = module->globals_ptr;
	libxml_report = place();
	apus_libxml_errors = &libxml->errors;
	for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(*FUNCTIONS); i++) {
		apus_wrap_function(NULL, FUNCTIONS[i], touching_libxml, NULL);
	}
}

static void install_pgsql(void)
{
	/* Its globals bring no header: the only pointer between the settings and what it knows of types; another size is
	 * another layout. */
	typedef struct {
		zend_long links, persistent, max_links, max_persistent;
#if PHP_VERSION_ID < 80500
		bool allow_persistent;
		int ignore_notices;
		zend_long auto_reset;
		int log_notices;
#else
		zend_long settings;
#endif
		zend_object *link;
#if PHP_VERSION_ID >= 80500
		void *expressions[12];
#elif PHP_VERSION_ID >= 80400
		void *expressions[11];
#endif
		HashTable tables[3];
	} pgsql_globals;
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("pgsql"));
	if (module == NULL || module->globals_size != sizeof(pgsql_globals)) {
		return;
	}
	pgsql_link = &((pgsql_globals *) module->globals_ptr)->link;
	apus_wrap_function(NULL, "pg_connect", touching_pgsql, NULL);
	apus_wrap_function(NULL, "pg_pconnect", touching_pgsql, NULL);
	apus_wrap_function(NULL, "pg_close", touching_pgsql, NULL);
}

/* The command line's PHP forgets what header() and the like set; a list of a coroutine's own keeps it. */
static int (*inner_header)(sapi_header_struct *, sapi_header_op_enum, sapi_headers_struct *);

static int set_header(sapi_header_struct *header, sapi_header_op_enum op, sapi_headers_struct *headers)
{
	return apus_own_has(APUS_OWN_HEAD) || inner_header == NULL ? SAPI_HEADER_ADD : inner_header(header, op, headers);
}

void apus_own_install(void)
{
	inner_header = sapi_module.header_handler;
	sapi_module.header_handler = set_header;
	for (size_t i = 0; i < APUS_SUPERGLOBALS; i++) {
		names[i] = apus_known_name(NAMES[i], strlen(NAMES[i]));
	}
#ifndef ZTS
	install_libxml();
	install_pgsql();
#endif
}

/* ---- exchanging ---- */

#define EXCHANGE(a, b) do { \
		__typeof__(a) kept = (a); \
		(a) = (b); \
		(b) = kept; \
	} while (0)

/* IS_UNDEF in `with` stands for a variable that does not exist. */
void apus_exchange_symbol(zend_string *name, zval *with)
{
	zval *slot = zend_hash_find_known_hash(&EG(symbol_table), name);
	if (slot != NULL && Z_TYPE_P(slot) == IS_INDIRECT) {
		slot = Z_INDIRECT_P(slot);
	}
	if (slot == NULL && Z_TYPE_P(with) != IS_UNDEF) {
		zend_try {
			slot = zend_hash_add_empty_element(&EG(symbol_table), name);
		} zend_catch {
		} zend_end_try();
	}
	if (slot == NULL) {
		return;
	}
	zval kept;
	ZVAL_COPY_VALUE(&kept, slot);
	ZVAL_COPY_VALUE(slot, with);
	ZVAL_COPY_VALUE(with, &kept);
	if (Z_TYPE_P(slot) == IS_UNDEF) {
		/* No destructor runs: nothing is left in it. */
		QUIETLY(zend_hash_del_ind(&EG(symbol_table), name));
	}
}

static void exchange_libxml(apus_own *own)
{
	EXCHANGE(own->libxml, *libxml);
	EXCHANGE(own->libxml_errors, *libxml_report);
}

static void exchange_head(apus_own *own)
{
	bool sent = SG(headers_sent);
	SG(headers_sent) = own->headers_sent;
	own->headers_sent = sent;
	EXCHANGE(own->headers, SG(sapi_headers));
}

static void exchange(apus_own *own, uint32_t parts)
{
	if (parts & APUS_OWN_SUPERGLOBALS) {
		for (size_t i = 0; i < APUS_SUPERGLOBALS; i++) {
			apus_exchange_symbol(names[i], &own->globals[i]);
		}
	}
	if (parts & APUS_OWN_SESSION) {
		apus_session_exchange(own->session);
	}
	if (parts & APUS_OWN_HEAD) {
		exchange_head(own);
	}
	if (parts & APUS_OWN_PGSQL) {
		EXCHANGE(own->pgsql, *pgsql_link);
	}
	if (parts & APUS_OWN_LIBXML) {
		exchange_libxml(own);
	}
}

void apus_own_switch(apus_own *own)
{
	exchange(own, own->parts);
}

/* ---- touching ---- */

/* Makes what was copied bit by bit a second one: with references of its own, no errors, and a message that has not
 * begun. */
static void separate_libxml(libxml_state *copy)
{
	Z_TRY_ADDREF(copy->stream_context);
	memset(&copy->error_buffer, 0, sizeof(copy->error_buffer));
#if PHP_VERSION_ID < 80400
	Z_TRY_ADDREF(copy->loader);
#else
	if (ZEND_FCC_INITIALIZED(copy->loader_cache)) {
		zend_fcc_addref(&copy->loader_cache);
	}
#endif
	if (copy->errors != NULL) {
		zend_llist *list = emalloc(sizeof(*list));
		zend_llist_init(list, copy->errors->size, copy->errors->dtor, 0);
		copy->errors = list;
	}
}

/* The record gets what the script, or the coroutine that started this one, had; what stands in the globals is a second
 * one of it. */
static void touch_libxml(apus_own *own)
{
	own->libxml = *libxml;
	own->libxml_errors = *libxml_report;
	separate_libxml(libxml);
}

static void touch_head(apus_own *own)
{
	own->headers = SG(sapi_headers);
	own->headers_sent = SG(headers_sent);
	zend_llist_init(&SG(sapi_headers).headers, own->headers.headers.size, own->headers.headers.dtor, 0);
	SG(sapi_headers).mimetype = NULL;
	SG(sapi_headers).http_status_line = NULL;
}

bool apus_own_has(apus_own_part part)
{
	return apus_own_current != NULL && (apus_own_current->parts & part);
}

static apus_own *record(void)
{
	if (apus_own_current == NULL) {
		apus_own_current = pecalloc(1, sizeof(apus_own), true);
	}
	return apus_own_current;
}

void apus_own_touch(apus_own_part part)
{
	if (!apus_in_fiber() || apus_own_has(part)) {
		return;
	}
	apus_own *own = record();
	switch (part) {
	case APUS_OWN_SESSION:
		own->session = pecalloc(1, apus_session_size(), true);
		apus_session_touch(own->session);
		break;
	case APUS_OWN_HEAD:
		touch_head(own);
		break;
	case APUS_OWN_PGSQL:
		own->pgsql = *pgsql_link;
		if (own->pgsql != NULL) {
			GC_ADDREF(own->pgsql);
		}
		break;
	case APUS_OWN_LIBXML:
		touch_libxml(own);
		break;
	default:
		return;
	}
	own->parts |= part;
}

zend_object *apus_own_pgsql(void)
{
	return pgsql_link != NULL ? *pgsql_link : NULL;
}

void apus_own_head(bool sent)
{
	apus_own_touch(APUS_OWN_HEAD);
	SG(headers_sent) = sent;
}

void apus_own_head_end(void)
{
	apus_own *own = apus_own_current;
	zend_llist_destroy(&SG(sapi_headers).headers);
	exchange_head(own);
	own->parts &= ~(uint32_t) APUS_OWN_HEAD;
}

/* PHP makes some of them when code that names them is first compiled, which would replace a coroutine's. */
static void make_all(void)
{
	static bool done;
	if (done) {
		return;
	}
	done = true;
	for (size_t i = 0; i < APUS_SUPERGLOBALS; i++) {
		zend_is_auto_global(names[i]);
		if (!zend_hash_exists(&EG(symbol_table), names[i])) {
			zend_hash_add_empty_element(&EG(symbol_table), names[i]);
		}
	}
}

/* $_REQUEST: the variables of the query, and over them those of the form. */
static void make_request(zval *values)
{
	zval *get = &values[0], *post = &values[1], *request = &values[5];
	if (Z_TYPE_P(get) != IS_ARRAY || Z_TYPE_P(post) != IS_ARRAY || Z_TYPE_P(request) != IS_UNDEF) {
		return;
	}
	if (zend_hash_num_elements(Z_ARRVAL_P(post)) == 0) {
		ZVAL_COPY(request, get);
	} else if (zend_hash_num_elements(Z_ARRVAL_P(get)) == 0) {
		ZVAL_COPY(request, post);
	} else {
		ZVAL_ARR(request, zend_array_dup(Z_ARRVAL_P(get)));
		zend_hash_merge(Z_ARRVAL_P(request), Z_ARRVAL_P(post), zval_add_ref, true);
	}
}

zend_array *apus_own_server_base(void)
{
	zend_array *volatile array = NULL;
	zend_try {
		zend_is_auto_global(names[4]);
		const zval *base = zend_hash_find_known_hash(&EG(symbol_table), names[4]);
		zend_string *key;
		zval *value;
		array = zend_new_array(64);
		if (base != NULL && Z_TYPE_P(base) == IS_ARRAY) {
			ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL_P(base), key, value) {
				if (key != NULL && !zend_string_starts_with_literal(key, "HTTP_")) {
					Z_TRY_ADDREF_P(value);
					zend_hash_add(array, key, value);
				}
			} ZEND_HASH_FOREACH_END();
		}
	} zend_catch {
		array = NULL;
	} zend_end_try();
	return array;
}

apus_own *apus_own_superglobals(zval *values)
{
	bool bailed = false;
	zend_try {
		make_all();
		make_request(values);
	} zend_catch {
		bailed = true;
	} zend_end_try();
	if (bailed) {
		return NULL;
	}
	apus_own *own = pecalloc(1, sizeof(*own), true);
	own->parts = APUS_OWN_SUPERGLOBALS;
	for (size_t i = 0; i < APUS_SUPERGLOBALS; i++) {
		if (Z_TYPE(values[i]) == IS_UNDEF) {
			ZVAL_NULL(&own->globals[i]);
		} else {
			ZVAL_COPY_VALUE(&own->globals[i], &values[i]);
		}
	}
	return own;
}

static void inherit(apus_own *child, uint32_t parts)
{
	for (size_t i = 0; (parts & APUS_OWN_SUPERGLOBALS) && i < APUS_SUPERGLOBALS; i++) {
		zval *slot = zend_hash_find_known_hash(&EG(symbol_table), names[i]);
		if (slot != NULL) {
			ZVAL_COPY_DEREF(&child->globals[i], slot);
		} else {
			ZVAL_NULL(&child->globals[i]);
		}
	}
	if ((parts & APUS_OWN_PGSQL) && *pgsql_link != NULL) {
		child->pgsql = *pgsql_link;
		GC_ADDREF(child->pgsql);
	}
	if (parts & APUS_OWN_LIBXML) {
		child->libxml = *libxml;
		child->libxml_errors = *libxml_report;
		separate_libxml(&child->libxml);
	}
	child->parts = parts;
}

apus_own *apus_own_inherit(void)
{
	const uint32_t parts = apus_own_current->parts & (APUS_OWN_SUPERGLOBALS | APUS_OWN_PGSQL | APUS_OWN_LIBXML);
	if (parts == 0) {
		return NULL;
	}
	apus_own *child = pecalloc(1, sizeof(*child), true);
	zend_try {
		inherit(child, parts);
	} zend_catch {
		/* At the memory limit it starts with what the script has. */
		child->parts = 0;
	} zend_end_try();
	return child;
}

/* ---- ending ---- */

static void release_libxml(apus_own *own)
{
	zval_ptr_dtor(&own->libxml.stream_context);
	smart_str_free(&own->libxml.error_buffer);
#if PHP_VERSION_ID < 80400
	zval_ptr_dtor(&own->libxml.loader);
#else
	if (ZEND_FCC_INITIALIZED(own->libxml.loader_cache)) {
		zend_fcc_dtor(&own->libxml.loader_cache);
	}
#endif
	if (own->libxml.errors != NULL) {
		zend_llist_destroy(own->libxml.errors);
		efree(own->libxml.errors);
	}
}

/* Gives back what the record has of a coroutine that is over. */
static void release(apus_own *own)
{
	for (size_t i = 0; i < APUS_SUPERGLOBALS; i++) {
		zval_ptr_dtor(&own->globals[i]);
	}
	if (own->session != NULL) {
		apus_session_release(own->session);
		pefree(own->session, true);
	}
	if (own->pgsql != NULL) {
		OBJ_RELEASE(own->pgsql);
	}
	if (own->parts & APUS_OWN_LIBXML) {
		release_libxml(own);
	}
	pefree(own, true);
}

bool apus_own_end(void)
{
	apus_own *own = apus_own_current;
	if (own == NULL) {
		return false;
	}
	if (own->parts & APUS_OWN_SESSION) {
		apus_session_close();
	}
	exchange(own, own->parts);
	apus_own_current = NULL;
	release(own);
	return true;
}

void apus_own_abandon(void)
{
	if (apus_own_current != NULL) {
		/* What it has goes with the request's memory. */
		exchange(apus_own_current, apus_own_current->parts);
		pefree(apus_own_current, true);
		apus_own_current = NULL;
	}
}

void apus_own_free(apus_own *own)
{
	zend_try {
		release(own);
	} zend_catch {
	} zend_end_try();
}
