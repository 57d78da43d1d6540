/* State that C code keeps in globals of the process: what no coroutine may see of another. Included by apus_shim.h. */
#ifndef APUS_STATE_H
#define APUS_STATE_H

#include "ext/standard/file.h"

/* ---- wrap.c: standing in for the handlers of internal functions ---- */
void apus_wrap_startup(void); /* at module start */
/* When all modules are loaded: `by` is called instead. Names are lower-case; a function is wrapped once. */
void apus_wrap_function(const char *class, const char *name, zif_handler by, const void *row);
void apus_wrap_module(const char *module, zif_handler by, const void *row); /* its functions, not its methods */
void apus_wrap_methods(const char *class, zif_handler by, const void *row);
const void *apus_wrapped_row(const zend_execute_data *ex);
bool apus_wrapped_call(INTERNAL_FUNCTION_PARAMETERS); /* what stood there before; false: bailed out */

/* ---- compiler.c ---- */
void apus_compiler_startup(void); /* at module start */
void apus_compiler_install(void); /* when all modules are loaded */
extern unsigned apus_compiling; /* what is being compiled or scanned, one inside another */

/* ---- serial.c ---- */
typedef enum {
	APUS_SERIAL_MULTISORT, APUS_SERIAL_COLLATOR, APUS_SERIAL_SOAP, APUS_SERIAL_IMAP, APUS_SERIAL_SNMP,
	APUS_SERIAL_READLINE,
} apus_serial_group;
typedef struct {
	bool (*enter)(apus_serial_group group); /* may wait; false: it could not, an exception may be pending */
	void (*leave)(apus_serial_group group);
} apus_serial_hooks;
void apus_serial_install(const apus_serial_hooks *hooks); /* when all modules are loaded */

/* ---- swap.c: what C code is in the middle of, in globals: each context starts with none of it ---- */
typedef struct apus_swap apus_swap;
extern const bool *apus_soap_active; /* ext/soap's own mark that it is in a call, or a constant false */
void apus_swap_install(void); /* when all modules are loaded */
bool apus_swap_knows_soap(void);
static zend_always_inline bool apus_swap_in_use(void)
{
	return UNEXPECTED(((uintptr_t) BG(strtok_string) | (uintptr_t) FG(user_stream_current_filename)
			| (uintptr_t) (FG(pclose_wait) | PG(in_error_log) | PG(in_user_include) | *apus_soap_active)) != 0)
		|| UNEXPECTED(FG(wrapper_errors) != NULL && zend_hash_num_elements(FG(wrapper_errors)) != 0);
}
apus_swap *apus_swap_take(void);
void apus_swap_put(apus_swap *swap);
void apus_swap_reset(void); /* a context has ended: what it left is dropped */

/* ---- own.c: what belongs to a coroutine once it has touched it ----
 * The record has the coroutine's while others run, and theirs while it runs: a switch exchanges the two. */
typedef enum {
	APUS_OWN_SUPERGLOBALS = 1, APUS_OWN_SESSION = 2, APUS_OWN_HEAD = 4, APUS_OWN_PGSQL = 8, APUS_OWN_LIBXML = 16,
} apus_own_part;
extern apus_own *apus_own_current; /* the running coroutine's record, or NULL */
extern zend_llist *const *apus_libxml_errors; /* where libxml's list of errors is, or a constant NULL */
enum { APUS_SUPERGLOBALS = 6 }; /* _GET, _POST, _COOKIE, _FILES, _SERVER, _REQUEST */
void apus_own_install(void); /* when all modules are loaded */
bool apus_own_has(apus_own_part part);
/* From here on the part is the running coroutine's; outside coroutines nothing happens. */
void apus_own_touch(apus_own_part part);
/* What header() and the like set goes into a list of the coroutine's own, SG(sapi_headers), until the end is told. */
zend_object *apus_own_pgsql(void); /* what pg_query() and the like use without a link; NULL: none */
void apus_own_head(bool sent);
void apus_own_head_end(void);
/* A record with these, whose references it takes; $_REQUEST is made where it is undefined; NULL: bailed out. */
apus_own *apus_own_superglobals(zval *values);
zend_array *apus_own_server_base(void); /* the $_SERVER of the process for one of a request; NULL: bailed out */
apus_own *apus_own_inherit(void); /* for a coroutine that the running one, which has a record, makes; NULL: nothing */
void apus_own_switch(apus_own *own); /* exchanges what it has */
/* The running coroutine's function is over: what it has is given back; may run PHP code and wait. */
bool apus_own_end(void);
void apus_own_abandon(void); /* the same after a fatal error: nothing is run */
void apus_own_free(apus_own *own); /* one that no coroutine has used */

/* ---- session.c: ext/session, whose state is the coroutine's; in a request handler with that request's cookie ---- */
typedef struct apus_session apus_session;
typedef struct {
	bool (*is_open)(zend_object *response); /* can its head still be changed? */
	/* A field line for the response; `cookie` is what a Set-Cookie of the session begins with ("NAME="). */
	void (*field)(zend_object *response, const char *line, size_t len, const char *cookie, size_t cookie_len);
} apus_session_hooks;
void apus_session_install(const apus_session_hooks *hooks); /* when all modules are loaded */
bool apus_session_is_known(void);        /* is there ext/session? */
size_t apus_session_size(void);
void apus_session_touch(apus_session *base);
void apus_session_exchange(apus_session *with);
void apus_session_close(void);            /* writes and closes the running coroutine's */
void apus_session_release(apus_session *of);
bool apus_session_is_shared(void);        /* one is open that belongs to the script, not to a coroutine */
void apus_exchange_symbol(zend_string *name, zval *with);
/* A name for zend_hash_find_known_hash(), for the life of the process. OPcache, once it has started, makes strings
 * without their hash. */
static inline zend_string *apus_known_name(const char *text, size_t len)
{
	zend_string *name = zend_string_init_interned(text, len, true);
	zend_string_hash_val(name);
	return name;
}

/* ---- mistakes.c: what PHP code does in vain in the handler of a request ---- */
typedef enum {
	APUS_MISTAKE_CALL,
	APUS_MISTAKE_SUPERGLOBAL,
	APUS_MISTAKE_SHARED, /* a superglobal that all coroutines have in common is written */
	APUS_MISTAKE_INPUT,
	APUS_MISTAKE_PROPERTY
} apus_mistake;
/* In a coroutine: the function, variable or property; for a property its object. MUST NOT run PHP code. */
typedef void (*apus_mistake_hook)(apus_mistake kind, const char *name, size_t len, zend_object *of);
void apus_mistakes_startup(apus_mistake_hook hook); /* at module start */
void apus_proc_startup(int module);
void apus_proc_there(bool wanted);
bool apus_there_startup(int module); /* at the start of the module that is named swoole; false: not possible */
zval *apus_write_property(zend_object *object, zend_string *name, zval *value, void **cache_slot);

/* ---- ambient.c ---- */
bool apus_ambient_is_amidst(const zval *handler); /* has C code set something that it takes back when it returns? */
void apus_ambient_take_all(apus_ambient *into, zval *handler);
/* Is anything in use of what may stay so between calls? All else is only while C code is in the middle of something. */
static zend_always_inline bool apus_ambient_stays(void)
{
	const uintptr_t output = (uintptr_t) OG(handlers).elements;
	return UNEXPECTED(((uintptr_t) apus_own_current | (uintptr_t) BG(strtok_string) | output) != 0);
}
/* Saves what is in use and leaves a fresh state. `handler` is the error handler that was set when the context was
 * entered, `amidst` whether C code may be in the middle of something. */
static zend_always_inline void apus_ambient_take(apus_ambient *into, zval *handler, bool amidst)
{
	into->taken = apus_ambient_stays() || (amidst && apus_ambient_is_amidst(handler));
	if (into->taken) {
		apus_ambient_take_all(into, handler);
	}
}

/* ---- fiber.c ---- */
const apus_job *apus_running_job(void); /* the running coroutine's, or NULL */

#endif
