/* What the files of the guard share: see guard.c. */
#ifndef APUS_GUARD_H
#define APUS_GUARD_H

#include "apus_shim.h"

/* What a call does with a thing. */
enum {
	APUS_USES_IN = 1,      /* takes from it */
	APUS_USES_OUT = 2,     /* gives to it */
	APUS_USES_KEEPS = 4,   /* needs it to stay as it is */
	APUS_USES_ANSWER = 8,  /* waits for the answer to what it wrote itself */
	APUS_USES_TALK = 32,   /* reads, or writes, as one of two who talk: see guard_talk.c */
	APUS_USES_SELECT = 16, /* only waits for something to happen; is woken when somebody uses the thing */
	APUS_USES_TREE = 64,   /* it is a tree of nodes: see guard_tree.c */
	APUS_USES_ALL = APUS_USES_IN | APUS_USES_OUT | APUS_USES_KEEPS,
};

/* How a function uses one argument: it is refused when another coroutine waits in a call that marks what it
 * excludes. */
typedef struct { uint8_t excludes, marks; } apus_use;

enum { APUS_GUARD_ARGS = 6 };
typedef enum { APUS_TALK_NONE = 0, APUS_TALK_READS, APUS_TALK_WRITES } apus_talk_kind;

/* What is known of a function that is entered through the guard. */
typedef struct {
	zif_handler handler; /* what stood there before */
	apus_use self;       /* of $this */
	apus_use args[APUS_GUARD_ARGS];
	bool lists;          /* its arrays are lists of such things */
	bool default_link;   /* without an object among its arguments it uses pgsql's default link */
	bool tree;           /* it takes nothing but trees of nodes */
	bool outside;        /* while it waits itself it holds nothing: only while something that it has called does */
	apus_talk_kind talk; /* of its first argument */
} apus_guarded;

typedef bool (*apus_each_thing)(uintptr_t key, apus_use use, void *context);

/* ---- guard.c ---- */
/* Marks and parked things: while it is 0 there is nothing to look for. */
extern uint32_t apus_guard_alert;
/* The flag of a frame whose guarded call has begun: a switch looks at the flags of all frames and at nothing else. The
 * VM itself uses it in frames of PHP code only. */
#define APUS_CALL_GUARDED ZEND_CALL_CODE
const apus_guarded *apus_guarded_of(const zend_function *function); /* NULL: it is none of them */
void apus_guard_enter(INTERNAL_FUNCTION_PARAMETERS); /* stands in for the handler of a guarded function */
void apus_guard_change(INTERNAL_FUNCTION_PARAMETERS); /* the same, and those who select on its things are woken */
void apus_guard_enter_tree(INTERNAL_FUNCTION_PARAMETERS); /* looks only while a tree of nodes is held */
/* True: another coroutine is in the midst of something with this, which an exception says. */
bool apus_guard_refuses(uintptr_t key, apus_use use);
void apus_guard_freed(void);                          /* something has been freed that others may wait for */
void apus_guard_returned(zend_execute_data *ex);      /* what is to be done when a handler has returned */
/* Shows every thing that the guarded call of a frame holds, until `each` says false; that is the result then. `deep`:
 * with what these hold themselves. */
bool apus_guard_things(zend_execute_data *ex, bool deep, apus_each_thing each, void *context);

/* ---- guard_known.c ---- */
void apus_guard_find_functions(void);
void apus_guard_find_classes(void);
/* The key of an object whose uses exclude each other, which two objects with one connection share; 0: any number of
 * calls may use it at once. */
uintptr_t apus_guard_object_key(zend_object *object);
/* Would the object's connection take what is said when it is freed? A MySQL server that is sending rows would not. */
bool apus_guard_is_idle(zend_object *object);
uintptr_t apus_guard_tree_key(zend_object *object); /* of the tree of nodes that it is of; 0: of none */
uintptr_t apus_guard_keys(zend_object *object, uintptr_t *tree); /* both of them */
uintptr_t apus_guard_resource_key(zend_resource *resource);
bool apus_guard_holds_streams(const zend_object *object); /* as CURLOPT_FILE has */

/* ---- unread.c ---- */
struct _pdo_dbh_t;
struct st_mysqlnd_connection_data;
/* NULL: no connection of pdo_mysql, or one of another client library than PHP's own. */
const struct st_mysqlnd_connection_data *apus_mysqlnd_of_pdo(const struct _pdo_dbh_t *dbh);

/* ---- guard_held.c ---- */
/* Another coroutine than the running one that waits in a call on the thing which marks one of `uses`; NULL: none. */
const apus_held *apus_held_by_other(uintptr_t key, uint8_t uses);
extern uint32_t apus_trees_held; /* marks on trees of nodes */
void apus_held_startup(void);
void apus_held_end_request(void);

/* What the calls of a context have that a switch must see to; hardly ever anything. */
enum {
	APUS_HOLD_THINGS = 1, /* of guarded calls */
	APUS_HOLD_STATE = 2,  /* C code has called PHP code, and may have set marks and globals before that */
};

uint32_t apus_look_at_calls(const zend_execute_data *ex);
/* One look at the flags of each frame of the running context, until one has any. `outermost`: what a coroutine's first
 * frame runs. */
static zend_always_inline uint32_t apus_calls_hold(const zend_function *outermost)
{
	enum { FLAGS = ZEND_CALL_TOP | APUS_CALL_GUARDED };
	const zend_execute_data *const running = EG(current_execute_data), *ex = running;
	if (EXPECTED(ex != NULL && ex->func != NULL && !ZEND_USER_CODE(ex->func->type))) {
		while (!(ZEND_CALL_INFO(ex) & FLAGS)) {
			ex = ex->prev_execute_data;
			if (ex == NULL) {
				return 0;
			}
		}
		/* The outermost function of a coroutine, which code of ours has called, or the script. */
		const zend_execute_data *caller = ex->prev_execute_data;
		const uint32_t flags = ZEND_CALL_INFO(ex) & FLAGS;
		if (EXPECTED(caller != NULL ? flags == ZEND_CALL_TOP && caller->func == outermost
			: flags == ZEND_CALL_TOP_CODE)) {
			return 0;
		}
	}
	return apus_look_at_calls(running);
}

/* ---- guard_tree.c ---- */
uintptr_t apus_tree_of_node(zend_object *object);
uintptr_t apus_tree_of_simplexml(zend_object *object);
void apus_tree_refine(const zend_function *method, bool of_xpath, apus_guarded *how);
void apus_tree_watch(zend_class_entry *ce, bool simplexml); /* objects of this class are written to without calls */

/* ---- guard_talk.c: who has asked and awaits the answer ---- */
void apus_guard_read(INTERNAL_FUNCTION_PARAMETERS);
void apus_guard_write(INTERNAL_FUNCTION_PARAMETERS);
bool apus_talk_awaits(const apus_fiber *fiber, const zend_resource *stream);
bool apus_talk_only_writes(const apus_fiber *fiber, const zend_resource *stream);
void apus_talk_end(const zend_resource *stream);

/* ---- guard_free.c ---- */
extern uint32_t apus_parked; /* things whose freeing waits for a connection */
void apus_frees_startup(void);
void apus_frees_end_request(void);
void apus_guard_find_frees(void);
void apus_guard_drain(zend_execute_data *ex);
bool apus_frees(void); /* some coroutine is in the midst of freeing something */
bool apus_freed_by_other(uintptr_t key); /* another coroutine is in the midst of freeing something of it */
zend_object_handlers *apus_guard_handlers_of(zend_class_entry *ce); /* that its objects share, or NULL */
void apus_guard_open_process(INTERNAL_FUNCTION_PARAMETERS);

/* ---- guard_iterate.c ---- */
void apus_guard_find_iterators(void);

/* ---- guard_connect.c ---- */
void apus_guard_find_connects(void);
zif_handler apus_guard_connecting(const zend_function *function); /* NULL: it is none of those that connect */

#endif
