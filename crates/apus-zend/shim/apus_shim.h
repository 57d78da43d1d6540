/* The Zend island's C side: everything that needs PHP's macros, setjmp, or must survive a longjmp.
 *
 * Rules that every function here keeps:
 *  1. A longjmp (PHP's bailout) never leaves this directory towards a Rust frame. Whatever can bail out is run inside
 *     apus_try, and says so in its result; Rust drops what it holds and calls apus_bailout() last.
 *  2. Rust is never called from inside an apus_try block, but for apus_job.* hooks, which never run PHP code.
 */
#ifndef APUS_SHIM_H
#define APUS_SHIM_H

#include "php.h"
#include "php_ini.h"
#include "php_output.h"
#include "ext/standard/info.h"
#include "ext/standard/basic_functions.h"
#include "ext/spl/spl_array.h"
#include "zend_builtin_functions.h"
#include "zend_exceptions.h"
#include "zend_fibers.h"
#include "zend_interfaces.h"
#include "zend_observer.h"
#include "apus_try.h"

/* Macros that bindgen cannot evaluate. */
enum {
	APUS_IS_STRING_EX = IS_STRING_EX,
	APUS_IS_ARRAY_EX = IS_ARRAY_EX,
	APUS_IS_OBJECT_EX = IS_OBJECT_EX,
	APUS_STR_INTERNED = IS_STR_INTERNED,
};

/* How a guarded call ended. */
typedef enum {
	APUS_OK = 0,
	APUS_THREW = 1,   /* EG(exception) is set */
	APUS_BAILED = 2,  /* a fatal error: the caller must get out of the way and bail out again */
} apus_status;

/* ---- value.c: allocation and conversion that report a bailout instead of jumping ---- */
void apus_bailout(void);
/* May run destructors; a bailout in one is reported by apus_take_bailed(): see apus_try.h. */
void apus_zval_release(zval *value);
void apus_zvals_release(zval *values, uint32_t count); /* the same of several */
bool apus_take_bailed(void);
bool apus_is_stray(void); /* is there an exception, or a bailout that apus_take_bailed() would report? */
zend_string *apus_string_new(const char *bytes, size_t len); /* NULL: bailed out */
zend_array *apus_array_new(uint32_t size);
/* $array[strtolower($name)] ??= $bytes: whether it was not there. The array is not shared. */
apus_status apus_array_add_field(
	zend_array *array, const char *name, size_t name_len, const char *bytes, size_t len, bool *added);
apus_status apus_array_add_str(zend_array *array, const char *key, size_t key_len, const char *bytes, size_t len);
/* Takes the reference. */
apus_status apus_array_add_zval(zend_array *array, const char *key, size_t key_len, zval *value);
/* Takes the reference. */
apus_status apus_array_set_index(zend_array *array, zend_ulong index, zval *value);
/* Takes the reference. */
apus_status apus_array_push(zend_array *array, zval *value);
/* Puts a form variable where PHP would: "a[b][]" nests, dots become underscores. */
apus_status apus_register_variable(const char *name, const char *bytes, size_t len, zval *array);
/* The same for a cookie: of equal names in the array itself the first stays, as in $_COOKIE. */
apus_status apus_register_cookie(const char *name, const char *bytes, size_t len, zval *array);
/* Puts in the place of each number in `array`, however deep, the value that `list` has under it. The arrays in it have
 * one owner each. */
void apus_replace_numbers(zend_array *array, const zend_array *list);
/* The same with any value, whose reference it takes. */
apus_status apus_register_value(const char *name, zval *value, zval *array);
/* is_uploaded_file() and move_uploaded_file() know this path, until it is removed. */
apus_status apus_uploaded_file_add(const char *path, size_t len);
void apus_uploaded_file_remove(const char *path, size_t len);
/* Walks an array: *pos starts at 0; false at the end. Exactly one of *key and *index is meant: *key is NULL for an
 * index. */
bool apus_array_next(zend_array *array, uint32_t *pos, zend_string **key, zend_ulong *index, zval **value);
zval *apus_array_find(zend_array *array, const char *key, size_t key_len);
uint32_t apus_array_count(const zend_array *array);
void apus_zval_copy(zval *to, zval *from);
void apus_object_addref(zend_object *object);
void apus_string_release(zend_string *string);
size_t apus_memory_usage(bool real);

/* ---- request.c: $request->server in one go, for it is built for nearly every request ---- */
typedef struct { const char *bytes; size_t len; } apus_bytes;
typedef struct {
	apus_bytes method, path, decoded_path, query, server_addr, remote_addr;
	bool has_query;
	uint8_t protocol; /* 0: HTTP/1.1, 1: HTTP/1.0, 2: HTTP/2 */
	double received_at, connected_at;
	zend_long server_port, remote_port;
} apus_server_fields;
void apus_request_keys(void); /* at module start */
zend_array *apus_server_array(const apus_server_fields *fields); /* NULL: bailed out */

/* ---- row.c: rows of tables as arrays, with the names of the columns as keys ---- */
typedef enum { APUS_CELL_INT, APUS_CELL_FLOAT, APUS_CELL_TEXT } apus_cell_kind;
typedef union { zend_long l; double d; apus_bytes text; } apus_cell_value;
typedef struct { apus_cell_kind kind; apus_cell_value of; } apus_cell;
typedef struct { uint32_t column; zval *value; } apus_given;
enum { APUS_UNKNOWN_COLUMN = UINT32_MAX };
zend_array *apus_row_shape(const apus_bytes *names, uint32_t count);      /* NULL: bailed out */
zend_array *apus_row_new(zend_array *shape, const apus_cell *cells);      /* one cell a column; NULL: bailed out */
/* Which columns the keys of an array name: how many elements were written, or APUS_UNKNOWN_COLUMN with the key that
 * names none (*key is NULL for an integer). */
uint32_t apus_row_match(zend_array *shape, zend_array *given, apus_given *out, zend_string **key, zend_ulong *index);
/* Some builds of PHP report the memory limit by a pending exit, and kill the process at twice the limit: who builds
 * much asks. */
bool apus_is_thrown(void);
uint32_t apus_row_column(zend_array *shape, const char *name, size_t len); /* or APUS_UNKNOWN_COLUMN */
zend_array *apus_list_of_ints(const zend_long *numbers, size_t count);    /* NULL: bailed out */
zend_string *apus_number_text(zval *number);                              /* NULL: bailed out */
bool apus_text_number(const char *text, size_t len, apus_cell *out);      /* false: not numeric */

/* ---- call.c: arguments of a native function, calling PHP, throwing ---- */
typedef enum {
	APUS_ARG_LONG, APUS_ARG_DOUBLE, APUS_ARG_BOOL, APUS_ARG_STRING, APUS_ARG_ARRAY, APUS_ARG_OBJECT,
} apus_arg_kind;
typedef union { zend_long l; double d; bool b; zend_string *s; zend_array *a; zend_object *o; } apus_arg_value;

uint32_t apus_num_args(const zend_execute_data *ex);
zval *apus_arg(zend_execute_data *ex, uint32_t index);
/* Assigns to a by-reference argument, taking the value's reference; a typed property behind it may throw. */
apus_status apus_arg_assign(zend_execute_data *ex, uint32_t index, zval *value);
zend_object *apus_this(zend_execute_data *ex);
apus_status apus_check_arg_count(zend_execute_data *ex, uint32_t min, uint32_t max);
/* Converts argument `index` by PHP's rules (strict_types included); APUS_THREW: a TypeError, or what the conversion
 * threw. */
apus_status apus_arg_convert(zend_execute_data *ex, uint32_t index, apus_arg_kind kind, bool nullable, bool *is_null,
	apus_arg_value *out);
/* These throw: APUS_THREW, or APUS_BAILED. */
apus_status apus_arg_type_error(uint32_t index, const char *expected, zval *arg);
/* `ce`, a TypeError or ValueError: "f(): Argument #n ($name) TEXT". */
apus_status apus_arg_error(zend_class_entry *ce, uint32_t index, const char *text, size_t len);
apus_status apus_throw(zend_class_entry *ce, zend_long code, const char *message, size_t len);
/* Tells of something as PHP does; an error handler may run, and throw. */
apus_status apus_error(int type, const char *message, size_t len);
apus_status apus_docref(int type, const char *message, size_t len);

/* A PHP callable, resolved once and kept. */
typedef struct { zval function; zend_fcall_info_cache cache; } apus_callable;
/* Fills *out and takes a reference when it is callable. When it is not, *error may be a message for
 * apus_free_message(). */
apus_status apus_callable_init(apus_callable *out, zval *value, bool *callable, char **error);
/* The same of a closure, which nothing is searched for and nothing can be said about. */
bool apus_callable_of_closure(apus_callable *out, zval *value);
/* The file that its code is written in, and the first line there; NULL for a function that is not PHP's own. */
apus_bytes apus_callable_file(const apus_callable *callable, uint32_t *line);
/* How many parameters it declares; -1 for any number. */
int64_t apus_callable_arity(const apus_callable *callable);
void apus_free_message(char *message);
/* Calls it on the current context. `ret` receives the result. */
apus_status apus_call(apus_callable *callable, zval *ret, uint32_t count, zval *args);
/* What set_exception_handler() was given: whether there is one; calls it with EG(exception), which it clears. */
bool apus_has_exception_handler(void);
apus_status apus_call_exception_handler(void);
/* The text of an exception and its trace, as PHP would print it; NULL: bailed out. */
zend_string *apus_exception_text(zend_object *exception);
zend_object *apus_take_exception(void);
zend_long apus_exception_code(zend_object *exception);
zend_string *apus_exception_message(zend_object *exception);
/* These throw: APUS_THREW, or APUS_BAILED. */
apus_status apus_rethrow(zend_object *exception); /* takes the reference */
apus_status apus_throw_unwind_exit(void);
apus_status apus_throw_graceful_exit(void); /* `finally` sees it, `catch` does not */
int apus_exit_status(void);
void apus_set_exit_status(int status);
bool apus_after_fatal(void); /* was there ever a fatal error in this request? */
bool apus_told_fatal(void); /* was the last message that of a fatal error, or of an exception that nobody caught? */
/* Some builds of PHP report the memory limit and unwind as exit() does. Did they, since this was asked last? */
bool apus_take_memory_exit(void);
/* The value of an ini directive, or NULL. */
zend_string *apus_ini(const char *name, size_t len);
/* The text of a constant that is one; NULL where there is none of this name. */
zend_string *apus_constant_text(const char *name, size_t len);
/* The path of the script that PHP was started with, or NULL. */
const char *apus_main_script(void);

/* ---- module.c ---- */
typedef struct {
	bool (*startup)(int module_number);
	void (*shutdown)(void);
	void (*activate)(void);
	void (*deactivate)(void);
	void (*info)(void);
} apus_module_hooks;
zend_module_entry *apus_module(const char *version, const apus_module_hooks *hooks);
/* At module start: a module named swoole, whose classes, functions and constants `startup` registers. False: no. */
bool apus_second_module(const char *version, bool (*startup)(int module_number), void (*info)(void));
bool apus_module_loaded(const char *name);
void apus_info_row(const char *name, const char *value);

/* ---- exit.c ---- */
/* At module start: exit() throws an exception of this class while `where` is not 0. */
void apus_exit_install(zend_class_entry *thrown, zend_long (*where)(void));
void apus_exit_property(zend_object *thrown, const char *name, zval *into);

/* ---- valgrind.c, asan.c ---- */
void apus_valgrind_startup(void);
void apus_asan_startup(void);
void apus_fiber_startup(void); /* at module start */

/* ---- class.c: registration ---- */
typedef struct {
	const char *name; uint32_t mask; const char *class_name; const char *default_value; bool by_ref; bool variadic;
} apus_arg_def;
typedef struct {
	const char *name; zif_handler handler; const apus_arg_def *args; uint32_t num_args; uint32_t required;
	uint32_t return_mask; const char *return_class; uint32_t flags;
} apus_method_def;
zend_class_entry *apus_class_register(const char *name, zend_class_entry *parent, uint32_t flags,
	const apus_method_def *methods, size_t count);
zend_class_entry *apus_class_find(const char *name);
void apus_class_implement(zend_class_entry *ce, zend_class_entry *interface);
/* A typed property; the value's kind decides the default: UNDEF leaves it uninitialized. */
void apus_class_property(zend_class_entry *ce, const char *name, uint32_t mask, const char *class_name, zval *value,
	uint32_t flags);
void apus_class_constant(zend_class_entry *ce, const char *name, zval *value);
void apus_class_alias(const char *name, zend_class_entry *ce);
/* What get_class() gives of it; it is found by its other names, too. At module start. */
void apus_class_set_name(zend_class_entry *ce, const char *name);
apus_status apus_functions_register(const apus_method_def *functions, size_t count, int module_number);
void apus_constant(const char *name, zval *value, int module_number);

/* ---- object.c: PHP objects that own a Rust value ---- */
typedef struct {
	void *payload;          /* a Rust value, or NULL before construction */
	void *memory;           /* NULL, or without a payload: where the next one goes */
	void (*drop)(void *);   /* ends payload, in its memory */
	void (*free)(void *);   /* frees that memory */
	void (*held)(void *);   /* calls apus_held_add() for each PHP value that payload holds a reference of */
	const void *type;       /* identity of the Rust type behind payload */
	zend_object std;
} apus_object;
/* Fills declared property `slot` of `object` when PHP first reads it. */
typedef apus_status (*apus_lazy_fill)(zend_object *object, uint32_t slot);
/* The name of the class of ours that an object is of: its own, or that which its class descends from. Borrowed. */
zend_string *apus_object_root(zend_object *object);
/* Nobody can make objects of it. */
void apus_class_deny_objects(zend_class_entry *ce);
void apus_class_set_native(zend_class_entry *ce);
/* The first `count` declared properties are built when first read. */
void apus_class_set_lazy(zend_class_entry *ce, uint32_t count, apus_lazy_fill fill);
/* Objects of exactly this class that nobody else knows when they are given back are kept, and made anew. */
void apus_class_set_reused(zend_class_entry *ce);
/* Keeps an object of such a class in place of releasing the last reference. To be called where a bailout is caught. */
bool apus_object_keep(zend_object *object);
void apus_objects_open(void);  /* a request of PHP's begins, */
void apus_objects_close(void); /* or ends: nothing is kept any more */
apus_object *apus_object_of(zend_object *object);
bool apus_object_is_native(const zend_object *object); /* of a native class: the last part of an apus_object */
/* unread.c: is the rest of an answer still to come, so that nothing can be asked? */
bool apus_pdo_leaves_unread(const zval *pdo);
bool apus_pdo_is_at_rest(const zval *pdo); /* ready, in no transaction, without an error of its own; false: unknown */
/* ---- held.c ---- */
void apus_held_add(zval *value);
HashTable *apus_held_get_gc(zend_object *object, zval **table, int *count);
zend_object *apus_object_new(zend_class_entry *ce); /* NULL: bailed out */
zval *apus_object_slot(zend_object *object, uint32_t slot);
void apus_object_release(zend_object *object);
bool apus_object_is(zend_object *object, zend_class_entry *ce);
apus_status apus_object_update(zend_object *object, const char *name, size_t len, zval *value);

/* ---- fiber.c: pooled contexts ---- */
typedef enum { APUS_RAN = 0, APUS_RAN_THREW = 1, APUS_RAN_BAILED = 2 } apus_ran;
typedef struct apus_job {
	apus_callable callable;
	uint32_t argc;
	zval *args;                      /* argc values, owned by the job's creator */
	zval result;                     /* what the callable returned */
	zend_object *exception;          /* what it threw, owned */
	/* The next deferred callable to run after it, or false. Never runs PHP code. */
	bool (*next_deferred)(struct apus_job *job, apus_callable *out);
	/* Whether this, which nobody caught, ends the script before what was deferred goes on. NULL: nothing does. Never
	 * runs PHP code. */
	bool (*ends_script)(const struct apus_job *job, zend_object *thrown);
	bool of_request;                 /* error handlers that it leaves behind go with it */
	bool hands_on;                   /* what was deferred is called with what the callable returned */
	apus_ran ran;                    /* how it ended */
} apus_job;
typedef enum { APUS_JOB_OVER = 0, APUS_WAITS = 1, APUS_OVERFLOWED = 2 } apus_left;
typedef struct apus_fiber apus_fiber;
typedef struct apus_own apus_own;

/* NULL: no memory for a stack (an exception may be set). */
apus_fiber *apus_fiber_new(size_t stack_size, bool merge_guard);
void apus_fiber_destroy(apus_fiber *fiber);                      /* only when idle */
/* Gives an idle fiber its job, which runs when it is entered (apus_switch.h). */
void apus_fiber_assign(apus_fiber *fiber, apus_job *job);
void apus_fiber_name(apus_fiber *fiber, int64_t coroutine); /* whose job it is */
int64_t apus_fiber_coroutine(const apus_fiber *fiber);
/* What its job starts with, instead of what it has inherited. */
void apus_fiber_give(apus_fiber *fiber, apus_own *own);
/* A fiber whose job bailed out is spent: it can only be abandoned. */
void apus_fiber_abandon(apus_fiber *fiber);
/* May the code that runs now be suspended? False in tick functions, handlers of pcntl and at shutdown. */
bool apus_can_switch(void);
/* Lets other code be entered from code that may not be suspended itself, but at shutdown: how often that was blocked,
 * which is to be blocked again. */
bool apus_is_shutting_down(void); /* from PHP's calling of shutdown functions on */
bool apus_is_past_shutdown_functions(void);
uint32_t apus_switch_open(void);
void apus_switch_close(uint32_t blocks);
bool apus_returns(void); /* is the function that runs one of C code? */
/* Was the code that runs called by the VM alone, from the coroutine's own function on? No C code waits for it then:
 * none that has a callback, drops an object, compiles, collects output. */
bool apus_vm_alone(void);
bool apus_in_fiber(void); /* does one of ours run? */
const char *apus_running_stack(void); /* the lowest usable byte of the C stack of the one that runs, or NULL */
void apus_watch_overflow(void); /* from now on a C stack that overflows is told of */
/* Has the processor fetch memory, whether there is any or not; a fiber's record, or where one that waits goes on. */
void apus_prefetch(const void *from, size_t bytes);
void apus_fiber_prefetch(const apus_fiber *fiber, bool stack);
extern apus_fiber *apus_running_fiber; /* the innermost of ours that runs, or NULL */

/* The streams that a coroutine used last; see guard_talk.c. */
typedef struct {
	zend_long stream; /* the resource's number */
	bool awaits;      /* it has written, and read nothing since */
	bool has_read;
} apus_talk;
enum { APUS_TALKS = 4 };
typedef struct { apus_talk last[APUS_TALKS]; uint32_t count, next; } apus_talks;
apus_talks *apus_fiber_talks(apus_fiber *fiber);

/* Where the PHP code of a waiting fiber stands. */
zend_execute_data *apus_fiber_execute_data(const apus_fiber *fiber);

/* ---- trace.c: looking at where PHP code stands ---- */
/* debug_backtrace() of a waiting fiber; of the running code when `fiber` is NULL. */
apus_status apus_backtrace(const apus_fiber *fiber, zend_long options, zend_long limit, zval *out);
/* The same as text, "#0 file(line): function()" a line. NULL: bailed out. */
/* The innermost `most` frames; *cut: there are more. */
zend_string *apus_trace_text(const apus_fiber *fiber, uint32_t most, bool *cut);
/* FILE:LINE where the running PHP code stands, for log lines. */
void apus_position(const char **file, uint32_t *line);

/* ---- remote.c: where the PHP code of a process stands that was forked of this one ---- */
/* A call, with the place that it has come to or was called from; the name is empty for a file's own code. */
typedef void (*apus_remote_call)(void *context, const char *name, const char *file, uint32_t line);
/* Tells of the innermost calls; false when the process cannot be looked at. */
bool apus_remote_calls(int32_t process, void *context, apus_remote_call tell);

/* ---- descriptor.c ---- */
/* The descriptor of an integer, a stream, a Socket of ext/sockets, or an object of Apus with one; *fd is -1 when there
 * is none. */
apus_status apus_descriptor(zval *value, int *fd);
/* A stream over a copy of a socket; `out` stays as it is where there is no room for one. */
apus_status apus_descriptor_stream(int fd, zval *out);
/* Bytes that PHP has read ahead from a stream; 0 for anything else. */
size_t apus_descriptor_buffered(zval *value);

/* ---- stream.c: what fread() and its kin do, step by step ---- */
typedef enum { APUS_STREAM_NONE, APUS_STREAM_FILE, APUS_STREAM_WAITABLE, APUS_STREAM_OTHER } apus_stream_kind;
apus_stream_kind apus_stream_look(zval *value, int *fd);
apus_status apus_stream_read(zval *value, size_t len, zend_string **out); /* *out is NULL for a failure */
bool apus_stream_eof(zval *value);
/* A line, `max` bytes or the end is in the buffer. */
bool apus_stream_has_line(zval *value, size_t max);
apus_status apus_stream_fill(zval *value); /* one read into the buffer */
apus_status apus_stream_line(zval *value, size_t max, zend_string **out); /* *out is NULL at the end */
/* *written is -1 for a failure. */
apus_status apus_stream_write(zval *value, const char *bytes, size_t len, zend_long *written);
/* A plain file's descriptor is about to be written to beside PHP. False: filters must see the bytes. */
bool apus_stream_write_beside(zval *value);
void apus_stream_moved(zval *value, size_t count);

/* ---- output.c ---- */
/* Writes all of it or drops it; runs no PHP code and does not bail out. */
typedef void (*apus_writer)(const char *text, size_t length);
/* PHP's output goes to `output` from now on, its log to `log` (which may be NULL: as before). */
void apus_output_take(apus_writer output, apus_writer log);
void apus_output_give_back(void);
/* Opens /dev/null in place of closed standard descriptors. */
void apus_output_open_standard(void);

/* ---- watch.c ---- */
/* At module start: `hook` runs at the next place where PHP code can be interrupted, after apus_watch_interrupt(). It
 * must not run PHP code. */
void apus_watch_startup(void (*hook)(void));
void apus_watch_interrupt(void); /* from any thread */
void apus_watch_cancel(void);
/* The function of an extension that PHP's thread is in, seen from another one; 0: none. Not ended by a NUL. */
size_t apus_watch_function(char *name, size_t size);
bool apus_watch_take_signal(void); /* another interrupt was wanted, and nothing runs that would notice */

/* ---- hook.c ---- */
typedef enum {
	APUS_HOOK_STAY = 0, /* no C function that PHP code called runs, or it cannot be suspended: block */
	APUS_HOOK_WAIT = 1, /* let others run */
	APUS_HOOK_FAIL = 2, /* an exception is pending, such as a cancellation: do not wait at all */
} apus_hook_place;
/* `freeing`: the call is one that freeing a value makes, and may wait there, too. */
apus_hook_place apus_hook_where(bool freeing);
/* C code of PHP's is about to wait by itself, in the middle of what it does: the next switch looks at all that it may
 * have set. */
extern bool apus_c_waits;
/* The names of the function that runs, or that a waiting fiber is in; NULL for none. */
void apus_running_function(const apus_fiber *fiber, const char **class, const char **function);

/* What a resolver's state (resolver(3)) tells after a failure: an h_errno. */
void apus_resolver_failed(void *state, int error);

/* ---- guard.c ---- */
/* A thing that the calls of a coroutine hold while it does not run. */
typedef struct apus_held {
	uintptr_t key;            /* of the connection, stream or handle */
	const apus_fiber *fiber;  /* whose call it is */
	struct apus_held *next;   /* of the same thing */
	struct apus_held *sibling; /* of the same coroutine, beyond the few */
	uint8_t uses;             /* what the call does with it: APUS_USES_* */
} apus_held;
enum { APUS_HOLDINGS = 4 };
typedef struct { uint32_t count; apus_held few[APUS_HOLDINGS], *more; } apus_holdings;
typedef struct {
	/* A coroutine is in the midst of a call on what is to be used, a tree of nodes perhaps: throw, and say true; or
	 * false when it has ended. */
	bool (*conflict)(int64_t other, bool tree);
	/* A coroutine is in the midst of a call on what the running function closes: true when that ends its wait. */
	bool (*ends_wait)(int64_t other);
	/* Lets those have their turn whose waits were ended, a millisecond if that is `again`; false: broken off. */
	bool (*await_turn)(bool again);
	/* A coroutine selects on what has changed. */
	void (*wake)(int64_t other);
	/* Another coroutine is freeing something of a connection that is to be used: wait until freed() is called; false:
	 * the wait was broken off. */
	bool (*await_free)(void);
	void (*freed)(void);
} apus_guard_hooks;
void apus_guard_startup(const apus_guard_hooks *hooks); /* at module start */
void apus_guard_install(void); /* when all modules are loaded */
void apus_guard_end_request(void);
extern int apus_guard_slot; /* where a guarded function keeps what is known of it; < 0: none is guarded */
void apus_guard_mark(apus_holdings *marks, const apus_fiber *fiber); /* what the running calls hold */
void apus_guard_unmark_all(apus_holdings *marks);
static inline void apus_guard_unmark(apus_holdings *marks)
{
	if (UNEXPECTED(marks->count != 0)) {
		apus_guard_unmark_all(marks);
	}
}
void apus_guard_broken_off(void); /* a wait of the running call was, perhaps with an exception */
void apus_guard_forget(const apus_fiber *fiber); /* calls of this one that were broken off will not return */
bool apus_guard_leaves_answer(void); /* the broken call's connection must not be used again */
bool apus_guard_is_broken(void);  /* everything else in the running call is to fail, too */

/* ---- autoload.c ---- */
typedef enum {
	APUS_AUTOLOAD_OURS = 0,   /* load it, then call end() */
	APUS_AUTOLOAD_LOADED = 1, /* another coroutine was at it, and has ended */
	APUS_AUTOLOAD_NESTED = 2, /* load it, without end(): waiting would be for ever */
	APUS_AUTOLOAD_FAILED = 3, /* an exception is pending */
} apus_autoload_turn;
typedef struct {
	apus_autoload_turn (*begin)(const char *name, size_t len);
	void (*end)(const char *name, size_t len);
	bool (*claim)(const char *name, size_t len); /* is being declared; true: nobody was loading it, call end() */
} apus_autoload_hooks;
void apus_autoload_install(const apus_autoload_hooks *hooks); /* when all modules are loaded */

/* ---- library.c ---- */
typedef struct {
	const char *name; /* of the file, as it is shown */
	const char *code; /* begins with <?php */
	size_t len;
	const char *class; /* what it declares, in lower case */
	size_t class_len;
} apus_library_source;
typedef struct {
	const apus_library_source *(*class)(const char *lc_name, size_t len); /* NULL: it is not ours */
	const apus_library_source *(*functions)(size_t *count);
} apus_library_hooks;
void apus_library_install(const apus_library_hooks *hooks); /* at module start */
void apus_library_open(void); /* a request begins; may bail out */
void apus_library_run(const apus_library_source *source, zval *result); /* what it returns; may bail out */

/* ---- stand_in.c, proc_there.c ---- */
/* Which of PHP's functions are others for code written for Swoole. */
typedef struct {
	bool sockets;   /* ext/sockets, in coroutines: the library's */
	bool curl;      /* curl_init(): the library's */
	bool streams;   /* stream_select() and stream_socket_shutdown(), in coroutines */
	bool processes; /* proc_open(), in coroutines: resources of another type */
} apus_stand_ins;
void apus_stand_in(apus_stand_ins wanted);

/* ---- ambient.c: what a switch does to state that the Zend VM does not save ----
 * swapped:   output buffers, usort()'s comparison, (un)serialize()'s nesting, internal error handling mode, which
 * classes
 *            are being autoloaded, and that PHP takes the error handler away while it runs
 * shared:    superglobals, working directory, ini values, set_exception_handler()
 * (error_reporting and so `@`, the VM stack and the JIT's trace number are saved by the Zend switch itself) */
typedef struct {
	bool taken; /* false: nothing was in use, and the rest is not set */
	bool has_output;
	zend_output_globals output;
	zend_error_handling_t error_handling;
	zend_class_entry *exception_class;
	bool has_compare;
	zend_fcall_info compare_fci;
	zend_fcall_info_cache compare_cache;
	bool has_serialize;
	unsigned serialize_lock;
	void *serialize_data;
	unsigned serialize_level;
	void *unserialize_data;
	unsigned unserialize_level;
	HashTable *in_autoload; /* NULL: none is */
	const void *handler; /* the error handler that runs in this context, or NULL */
	struct apus_swap *swap; /* what C code is in the middle of, or NULL */
	apus_own *own;   /* what the coroutine has made its own, or NULL */
} apus_ambient;
/* What the context starts with is `own`. */
void apus_ambient_start(apus_ambient *into, apus_own *own);
void apus_ambient_put_all(apus_ambient *from);
static zend_always_inline void apus_ambient_put(apus_ambient *from) /* restores what apus_ambient_take saved */
{
	if (UNEXPECTED(from->taken)) {
		apus_ambient_put_all(from);
	}
}
/* The running context met a fatal error, which left everything as it was at that moment: nobody else is to find it so.
 * `handler` is the error handler that was set when the context was entered. */
void apus_ambient_abandon(const zval *handler);
/* Output works again: PHP ends it for good when it reports an output handler that uses output buffers. */
void apus_ambient_revive(void);

/* ---- marks.c: PHP's marks against re-entrancy, and the exception that an autoloader's may follow, belong to a
 * coroutine ---- */
typedef struct apus_marks apus_marks;
void apus_marks_startup(void);            /* at module start */
apus_marks *apus_marks_take(void);        /* lifts those of the context that runs; NULL: it has none */
/* Was this frame entered by C code that goes on when it returns, other than that which runs coroutines? */
static zend_always_inline bool apus_called_by_c(const zend_execute_data *ex)
{
	const zend_execute_data *caller = ex->prev_execute_data;
	return UNEXPECTED(ZEND_CALL_INFO(ex) & ZEND_CALL_TOP) && caller != NULL && caller->func != NULL
		&& (caller->prev_execute_data != NULL || ZEND_USER_CODE(caller->func->type));
}
void apus_marks_put_all(apus_marks *marks); /* sets them again */
static zend_always_inline void apus_marks_put(apus_marks *marks)
{
	if (UNEXPECTED(marks != NULL)) {
		apus_marks_put_all(marks);
	}
}
bool apus_class_is_hidden(zend_string *lc_name); /* a coroutine that waits is declaring it */

/* ---- handlers.c: set_error_handler() and restore_error_handler() of a coroutine ---- */
typedef struct { zval handler; int reporting; } apus_error_handler;
typedef struct { uint32_t count; apus_error_handler *all; } apus_handlers;
/* Takes off what was set since there were `depth` handlers below the one in force. */
void apus_handlers_take_all(apus_handlers *into, int depth);
void apus_handlers_put_all(apus_handlers *from);    /* sets them again, above what is set now */
void apus_handlers_inherit(apus_handlers *into, const apus_handlers *from); /* the last one */
void apus_handlers_drop_all(int depth);
static zend_always_inline int apus_handlers_depth(void)
{
	return EG(user_error_handlers).top;
}
static zend_always_inline void apus_handlers_take(apus_handlers *into, int depth)
{
	if (UNEXPECTED(apus_handlers_depth() > depth)) {
		apus_handlers_take_all(into, depth);
	}
}
static zend_always_inline void apus_handlers_drop(int depth)
{
	if (UNEXPECTED(apus_handlers_depth() > depth)) {
		apus_handlers_drop_all(depth);
	}
}
static zend_always_inline void apus_handlers_put(apus_handlers *from)
{
	if (UNEXPECTED(from->count != 0)) {
		apus_handlers_put_all(from);
	}
}

/* ---- file.c: which of PHP's calls on regular files another thread may make ---- */
void apus_file_install(void);  /* when all modules are loaded */
bool apus_file_may_wait(void); /* the running one? */
const void *apus_running_call(void); /* names the call that runs, as long as it does */

#include "apus_pack.h"
#include "apus_sapi.h"
#include "apus_closure.h"
#include "apus_state.h"
#include "apus_switch.h"

/* ---- process.c ---- */
/* At module start (opcache compiles the hook of that time into its code): `hook` runs at the next place where PHP code
 * can be interrupted, after apus_signal_due(). It may run PHP code; true: it met a fatal error. */
void apus_signal_startup(bool (*hook)(void));
void apus_signal_due(void); /* async-signal-safe */
apus_status apus_report_uncaught(zend_object *exception); /* as a fatal error */

#endif
