#include "apus_shim.h"

/* Marks and pointers of C code that is in the middle of something: a stream's open, a message for the log, a SOAP call.
 * What PHP means by them holds for one context; another would be refused, or use what belongs to the first. */

/* ext/soap brings no header: its globals as PHP 8.2 and 8.3 have them. Where they differ, its calls take turns
 * (serial.c). */
typedef struct {
	HashTable encodings[3];
	HashTable *typemap;
	int namespaces, version;
	void *sdl;
	bool active;
	char *error_code;
	zval error_object;
	char caching[3];
	char *cache_dir;
	zend_long cache_ttl, cache_limit;
	HashTable *mem_cache;
	void *encoding;
	HashTable *class_map;
	int features;
	HashTable wsdl_cache;
	int references;
	HashTable *ref_map;
} soap_globals;

enum { SOAP_VERSION_1_1 = 1 };

struct apus_swap {
	const char *opening;
	HashTable *wrapper_errors;
	int pclose_wait;
	bool in_user_include, in_error_log;
	zend_string *strtok_string;
	char *strtok_last;
	size_t strtok_len;
	bool has_soap;
	HashTable *typemap;
	int namespaces, version;
	void *sdl;
	char *error_code;
	zend_object *error_object;
	void *encoding;
	HashTable *class_map;
	int features, references;
	HashTable *ref_map;
};

static const bool never = false;
const bool *apus_soap_active = &never;
static soap_globals *soap;

void apus_swap_install(void)
{
#if PHP_VERSION_ID < 80400 && !defined(ZTS)
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("soap"));
	if (module != NULL && module->globals_size == sizeof(soap_globals)) {
		soap = module->globals_ptr;
		apus_soap_active = &soap->active;
	}
#endif
}

bool apus_swap_knows_soap(void)
{
	return soap != NULL;
}

/* What is copied as it is. */
#define SOAP_FIELDS(of) \
	of(typemap) of(namespaces) of(version) of(sdl) of(error_code) of(encoding) of(class_map) of(features) \
	of(references) of(ref_map)

static void take_soap(apus_swap *into)
{
	into->has_soap = *apus_soap_active;
	if (!into->has_soap) {
		return;
	}
	into->error_object = Z_OBJ(soap->error_object);
#define TAKE(name) into->name = soap->name;
	SOAP_FIELDS(TAKE)
#undef TAKE
}

static void put_soap(const apus_swap *from)
{
	if (!from->has_soap) {
		return;
	}
	soap->active = true;
	Z_OBJ(soap->error_object) = from->error_object;
#define PUT(name) soap->name = from->name;
	SOAP_FIELDS(PUT)
#undef PUT
}

/* As ext/soap has it between two calls; what the pointers led to belongs to the call. */
static void reset_soap(void)
{
	if (!*apus_soap_active) {
		return;
	}
	soap->typemap = NULL;
	soap->namespaces = 0;
	soap->version = SOAP_VERSION_1_1;
	soap->sdl = NULL;
	soap->active = false;
	soap->error_code = NULL;
	Z_OBJ(soap->error_object) = NULL;
	soap->encoding = NULL;
	soap->class_map = NULL;
	soap->features = 0;
	soap->references = 0;
	soap->ref_map = NULL;
}

/* Leaves everything as it is when no C code is in the middle of anything. */
static void make_fresh(void)
{
	FG(user_stream_current_filename) = NULL;
	FG(wrapper_errors) = NULL;
	FG(pclose_wait) = 0;
	PG(in_user_include) = false;
	PG(in_error_log) = false;
	BG(strtok_string) = NULL;
	BG(strtok_last) = NULL;
	BG(strtok_len) = 0;
	reset_soap();
}

apus_swap *apus_swap_take(void)
{
	apus_swap *swap = pemalloc(sizeof(*swap), true);
	swap->opening = FG(user_stream_current_filename);
	swap->wrapper_errors = FG(wrapper_errors);
	swap->pclose_wait = FG(pclose_wait);
	swap->in_user_include = PG(in_user_include);
	swap->in_error_log = PG(in_error_log);
	swap->strtok_string = BG(strtok_string);
	swap->strtok_last = BG(strtok_last);
	swap->strtok_len = BG(strtok_len);
	take_soap(swap);
	make_fresh();
	return swap;
}

static void drop(void)
{
	if (BG(strtok_string) != NULL) {
		zend_string_release(BG(strtok_string));
	}
	if (FG(wrapper_errors) != NULL) {
		zend_hash_destroy(FG(wrapper_errors));
		FREE_HASHTABLE(FG(wrapper_errors));
	}
	make_fresh();
}

void apus_swap_put(apus_swap *swap)
{
	drop();
	FG(user_stream_current_filename) = swap->opening;
	FG(wrapper_errors) = swap->wrapper_errors;
	FG(pclose_wait) = swap->pclose_wait;
	PG(in_user_include) = swap->in_user_include;
	PG(in_error_log) = swap->in_error_log;
	BG(strtok_string) = swap->strtok_string;
	BG(strtok_last) = swap->strtok_last;
	BG(strtok_len) = swap->strtok_len;
	put_soap(swap);
	pefree(swap, true);
}

void apus_swap_reset(void)
{
	drop();
}
