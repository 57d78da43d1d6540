#include "apus_shim.h"
#include "SAPI.h"

/* Sessions: ext/session has one for the process. Here each coroutine has its own, with $_SESSION; in the handler of a
 * request the id comes from that request's cookie, and what PHP would send goes out with its response. A session that
 * was opened where no coroutine runs is the script's, which its coroutines share. */

#if __has_include("ext/session/php_session.h")
# include "ext/session/php_session.h"

/* The functions of session_set_save_handler(). */
enum { USER_FUNCTIONS = sizeof(((php_ps_globals *) NULL)->mod_user_names) / sizeof(zval) };

struct apus_session {
	zend_string *id;
	const ps_module *mod, *default_mod;
	void *mod_data;
	php_session_status status;
	zval user[USER_FUNCTIONS];
	zend_string *user_class;
	bool user_implemented, user_is_open;
	bool send_cookie, define_sid, in_save_handler, set_handler;
	zval variables;         /* a reference to what $_SESSION is */
	zend_string *unchanged; /* the data as it was read */
	zval symbol;            /* $_SESSION */
};

static php_ps_globals *ps;
static apus_session_hooks hooks;
static zend_string *symbol_name;

bool apus_session_is_known(void)
{
	return ps != NULL;
}

size_t apus_session_size(void)
{
	return sizeof(apus_session);
}

bool apus_session_is_shared(void)
{
	return ps->session_status == php_session_active;
}

/* Is the running coroutine the handler of a request? */
static bool handles_request(zend_object **request, zend_object **response)
{
	/* Under the names of code for Swoole they are classes of their own, which are there only where those are. */
	static const char *const names[2][2] = {
		{"Apus\\Http\\Request", "Apus\\Http\\Response"}, {"Swoole\\Http\\Request", "Swoole\\Http\\Response"},
	};
	static zend_class_entry *classes[2][2];
	static bool known;
	const apus_job *job = apus_running_job();
	if (job == NULL || job->argc != 2 || Z_TYPE(job->args[0]) != IS_OBJECT || Z_TYPE(job->args[1]) != IS_OBJECT) {
		return false;
	}
	if (!known) {
		for (int i = 0; i < 4; i++) {
			classes[i / 2][i % 2] = apus_class_find(names[i / 2][i % 2]);
		}
		known = true;
	}
	const zend_class_entry *first = Z_OBJCE(job->args[0]);
	const int which = first == classes[1][0] ? 1 : 0;
	if (first != classes[which][0] || Z_OBJCE(job->args[1]) != classes[which][1]) {
		return false;
	}
	if (request != NULL) {
		*request = Z_OBJ(job->args[0]);
		*response = Z_OBJ(job->args[1]);
	}
	return true;
}

/* What the record has of the extension's globals, and its name there. */
#define FIELDS(FIELD) \
	FIELD(id, id) FIELD(mod, mod) FIELD(default_mod, default_mod) FIELD(mod_data, mod_data) \
	FIELD(status, session_status) FIELD(user, mod_user_names) FIELD(user_class, mod_user_class_name) \
	FIELD(user_implemented, mod_user_implemented) FIELD(user_is_open, mod_user_is_open) \
	FIELD(send_cookie, send_cookie) FIELD(define_sid, define_sid) FIELD(in_save_handler, in_save_handler) \
	FIELD(set_handler, set_handler) FIELD(variables, http_session_vars) FIELD(unchanged, session_vars)

#define SAME_SIZE(ours, theirs) \
	_Static_assert(sizeof(((apus_session *) NULL)->ours) == sizeof(((php_ps_globals *) NULL)->theirs), #ours);
FIELDS(SAME_SIZE)

static void read_globals(apus_session *into)
{
#define READ(ours, theirs) memcpy(&into->ours, &ps->theirs, sizeof(into->ours));
	FIELDS(READ)
}

static void write_globals(const apus_session *from)
{
#define WRITE(ours, theirs) memcpy(&ps->theirs, &from->ours, sizeof(from->ours));
	FIELDS(WRITE)
}

void apus_session_exchange(apus_session *with)
{
	apus_session current;
	read_globals(&current);
	write_globals(with);
	ZVAL_COPY_VALUE(&current.symbol, &with->symbol);
	apus_exchange_symbol(symbol_name, &current.symbol);
	*with = current;
}

/* None is open, nothing is known of any; the handlers are those of whoever set them. */
static void make_closed(apus_session *into, const apus_session *base, bool with_id)
{
	*into = *base;
	into->id = with_id && base->id != NULL ? zend_string_copy(base->id) : NULL;
	into->mod_data = NULL;
	/* Not with settings that name no handler: session_start() looks for it once more, and says which it does not
	 * find. */
	into->status = base->status == php_session_disabled ? php_session_disabled : php_session_none;
	for (size_t i = 0; i < USER_FUNCTIONS; i++) {
		Z_TRY_ADDREF(into->user[i]);
	}
	if (into->user_class != NULL) {
		zend_string_addref(into->user_class);
	}
	into->user_implemented = into->user_is_open = false;
	into->in_save_handler = into->set_handler = false;
	ZVAL_UNDEF(&into->variables);
	into->unchanged = NULL;
	ZVAL_UNDEF(&into->symbol);
}

void apus_session_touch(apus_session *base)
{
	apus_session current;
	read_globals(&current);
	make_closed(base, &current, !handles_request(NULL, NULL));
	apus_session_exchange(base);
}

void apus_session_close(void)
{
	if (ps->session_status != php_session_active) {
		return;
	}
	zval function, ignored;
	ZVAL_STRING(&function, "session_write_close");
	ZVAL_UNDEF(&ignored);
	call_user_function(NULL, NULL, &function, &ignored, 0, NULL);
	zval_ptr_dtor(&ignored);
	zval_ptr_dtor(&function);
}

static void release_string(zend_string *string)
{
	if (string != NULL) {
		zend_string_release(string);
	}
}

void apus_session_release(apus_session *of)
{
	release_string(of->id);
	release_string(of->user_class);
	release_string(of->unchanged);
	for (size_t i = 0; i < USER_FUNCTIONS; i++) {
		zval_ptr_dtor(&of->user[i]);
	}
	zval_ptr_dtor(&of->variables);
	zval_ptr_dtor(&of->symbol);
}

/* ---- in the handler of a request ---- */

/* The name that the session will have: session_start() may be told. */
static zend_string *name_of_session(zend_execute_data *ex)
{
	if (ZEND_CALL_NUM_ARGS(ex) >= 1 && Z_TYPE_P(ZEND_CALL_ARG(ex, 1)) == IS_ARRAY) {
		const zval *name = zend_hash_str_find(Z_ARRVAL_P(ZEND_CALL_ARG(ex, 1)), ZEND_STRL("name"));
		if (name != NULL && Z_TYPE_P(name) == IS_STRING) {
			return zend_string_copy(Z_STR_P(name));
		}
	}
#if PHP_VERSION_ID >= 80500
	return zend_string_copy(ps->session_name);
#else
	return zend_string_init(ps->session_name, strlen(ps->session_name), false);
#endif
}

/* The id that the request's cookie gives, as the one that was set; NULL: none. */
static zend_string *take_id(zend_execute_data *ex, zend_object *request)
{
	if (!zend_string_equals_literal(ex->func->common.function_name, "session_start") || !ps->use_cookies
		|| ps->id != NULL || ps->session_status == php_session_active || apus_own_has(APUS_OWN_SUPERGLOBALS)) {
		return NULL;
	}
	zval room;
	const zval *cookies = zend_read_property(request->ce, request, ZEND_STRL("cookie"), true, &room);
	if (Z_TYPE_P(cookies) != IS_ARRAY) {
		return NULL;
	}
	zend_string *name = name_of_session(ex);
	const zval *id = zend_symtable_find(Z_ARRVAL_P(cookies), name);
	zend_string_release(name);
	if (id == NULL || Z_TYPE_P(id) != IS_STRING || Z_STRLEN_P(id) == 0) {
		return NULL;
	}
	ps->id = zend_string_copy(Z_STR_P(id));
	return zend_string_copy(Z_STR_P(id));
}

/* Hands what PHP would send to the response. `known` is the id that the client has already: it is not told again. */
static void hand_over(zend_object *response, const zend_string *known)
{
	static const char COOKIE[] = "Set-Cookie: ";
	const bool told = known != NULL && ps->id != NULL && zend_string_equals(known, ps->id);
	zend_llist_position at;
	zend_llist *lines = &SG(sapi_headers).headers;
	for (sapi_header_struct *line = zend_llist_get_first_ex(lines,
		&at); line != NULL; line = zend_llist_get_next_ex(lines, &at)) {
		const bool is_cookie = line->header_len > sizeof(COOKIE)
			&& strncasecmp(line->header, COOKIE, sizeof(COOKIE) - 1) == 0;
		const char *value = is_cookie ? line->header + sizeof(COOKIE) - 1 : line->header;
		const char *end = is_cookie ? strchr(value, '=') : NULL;
		if (!is_cookie || !told) {
			hooks.field(response, line->header, line->header_len, value, end != NULL ? (size_t) (end - value) + 1 : 0);
		}
	}
}

static void session_function(INTERNAL_FUNCTION_PARAMETERS)
{
	zend_object *request, *response;
	const bool handles = handles_request(&request, &response);
	if (handles || !apus_session_is_shared()) {
		apus_own_touch(APUS_OWN_SESSION);
	}
	/* A function that the session's own handler calls adds to the same list. */
	const bool outermost = handles && !apus_own_has(APUS_OWN_HEAD);
	zend_string *known = NULL;
	if (outermost) {
		known = take_id(execute_data, request);
		apus_own_head(!hooks.is_open(response));
	}
	const bool ended = apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (outermost) {
		if (ended) {
			hand_over(response, known);
		}
		apus_own_head_end();
		if (known != NULL) {
			zend_string_release(known);
		}
	}
	if (!ended) {
		zend_bailout();
	}
}

void apus_session_install(const apus_session_hooks *of)
{
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("session"));
	if (module == NULL || module->globals_size != sizeof(php_ps_globals)) {
		return;
	}
	hooks = *of;
	ps = module->globals_ptr;
	symbol_name = apus_known_name(ZEND_STRL("_SESSION"));
	apus_wrap_module("session", session_function, NULL);
}

#else
bool apus_session_is_known(void) { return false; }
size_t apus_session_size(void) { return 0; }
bool apus_session_is_shared(void) { return false; }
void apus_session_exchange(apus_session *with) { }
void apus_session_touch(apus_session *base) { }
void apus_session_close(void) { }
void apus_session_release(apus_session *of) { }
void apus_session_install(const apus_session_hooks *of) { }
#endif
