#include "apus_guard.h"
#include "ext/standard/proc_open.h"

/* Freeing is a call, too.
 *
 * A statement that is freed tells its server so; a result that was not read to its end is read then. While another
 * coroutine is in the midst of a call on the same connection neither can be. So such an object goes on living in a line
 * of its connection, and is freed at the end of the call that is in its midst, or of a later one: when the connection
 * is ready for it.
 *
 * The other way round a call waits: nobody sees when a statement is freed (the end of its function), and whoever has
 * given the connection back to a pool before that has done nothing wrong. */

uint32_t apus_parked;
/* A connection's key -> the list of what waits to be freed. */
static HashTable lines;

typedef struct parked { zend_object *object; struct parked *next; } parked;

/* The classes whose freeing talks, and how their handlers destroyed an object before. */
static const char *const TALKING[] = {"PDO", "PDOStatement", "mysqli", "mysqli_stmt", "mysqli_result"};
enum { TALKS = sizeof(TALKING) / sizeof(*TALKING) };
static struct {
	const zend_object_handlers *handlers;
	zend_object_dtor_obj_t destroy;
	zend_object_free_obj_t release;
} before[TALKS];

/* Coroutines that are in the midst of freeing something, each on its own stack. */
typedef struct freeing { uintptr_t key; const apus_fiber *fiber; struct freeing *next; } freeing;
static freeing *freeings;

bool apus_frees(void)
{
	return freeings != NULL;
}

bool apus_freed_by_other(uintptr_t key)
{
	for (const freeing *one = freeings; one != NULL; one = one->next) {
		if (one->key == key && one->fiber != apus_running_fiber) {
			return true;
		}
	}
	return false;
}

static void park(uintptr_t key, zend_object *object)
{
	parked *one = malloc(sizeof(*one));
	if (one == NULL) {
		return;
	}
	zval *first = zend_hash_index_lookup(&lines, key);
	*one = (parked) {object, Z_TYPE_P(first) == IS_PTR ? Z_PTR_P(first) : NULL};
	ZVAL_PTR(first, one);
	GC_ADDREF(object);
	apus_parked++;
	apus_guard_alert++;
}

static bool is_taken(uintptr_t key)
{
	return apus_held_by_other(key, APUS_USES_ALL) != NULL || apus_freed_by_other(key);
}

/* Destroys an object, which is freed next unless somebody holds it again: its line does. */
static void destroy(zend_object *object)
{
	zend_object_dtor_obj_t theirs = zend_objects_destroy_object;
	for (int i = 0; i < TALKS; i++) {
		theirs = before[i].handlers == object->handlers ? before[i].destroy : theirs;
	}
	theirs(object);
	if (EXPECTED(apus_guard_alert == 0) || (EG(flags) & EG_FLAGS_IN_SHUTDOWN)) {
		return;
	}
	const uintptr_t key = apus_guard_object_key(object);
	if (is_taken(key)) {
		park(key, object);
	}
}

/* Frees what came last into a line. */
static void free_one(uintptr_t key)
{
	zval *first = zend_hash_index_find(&lines, key);
	parked *one = Z_PTR_P(first);
	zend_object *object = one->object;
	if (one->next != NULL) {
		Z_PTR_P(first) = one->next;
	} else {
		zend_hash_index_del(&lines, key);
	}
	free(one);
	apus_parked--;
	apus_guard_alert--;
	OBJ_RELEASE(object);
}

static bool is_idle(uintptr_t key)
{
	const zval *first = zend_hash_index_find(&lines, key);
	return first != NULL && apus_guard_is_idle(((const parked *) Z_PTR_P(first))->object);
}

static zend_object_free_obj_t release_of(const zend_object *object)
{
	for (int i = 0; i < TALKS; i++) {
		if (before[i].handlers == object->handlers) {
			return before[i].release;
		}
	}
	return zend_object_std_dtor;
}

/* Frees an object; who uses its connection meanwhile waits for that. */
static void release(zend_object *object)
{
	const bool alone = apus_running_fiber == NULL || (EG(flags) & EG_FLAGS_IN_SHUTDOWN);
	const uintptr_t key = alone ? 0 : apus_guard_object_key(object);
	if (key == 0) {
		release_of(object)(object);
		return;
	}
	freeing self = {key, apus_running_fiber, freeings};
	volatile bool bailed = false;
	freeings = &self;
	apus_guard_alert++;
	zend_try {
		release_of(object)(object);
	} zend_catch {
		bailed = true;
	} zend_end_try();
	apus_guard_alert--;
	freeing **at = &freeings;
	while (*at != &self) {
		at = &(*at)->next;
	}
	*at = self.next;
	apus_guard_freed();
	if (bailed) {
		zend_bailout();
	}
	while (!is_taken(key) && is_idle(key)) {
		free_one(key);
	}
}

static bool is_key(uintptr_t key, apus_use use, void *context)
{
	return key != *(const uintptr_t *) context;
}

static bool drain(uintptr_t key, apus_use use, void *context)
{
	/* A call of this coroutine may be in its midst further out: this one was made by a callback of that. */
	zend_execute_data *ex = ((zend_execute_data *) context)->prev_execute_data;
	for (; ex != NULL; ex = ex->prev_execute_data) {
		if (ex->func != NULL && apus_guarded_of(ex->func) != NULL && !apus_guard_things(ex, false, is_key, &key)) {
			return true;
		}
	}
	/* While it is done, others may add to the line. */
	while (is_idle(key)) {
		free_one(key);
	}
	return true;
}

void apus_guard_drain(zend_execute_data *ex)
{
	/* Calls fail at once while an exception is pending: what is freed has nothing to do with it. */
	zend_object *pending = EG(exception);
	EG(exception) = NULL;
	apus_guard_things(ex, false, drain, ex);
	if (EG(exception) != NULL && pending != NULL) {
		OBJ_RELEASE(EG(exception));
		EG(exception) = NULL;
	}
	if (pending != NULL) {
		EG(exception) = pending;
	}
}

void apus_frees_end_request(void)
{
	zend_ulong key = 0;
	while (zend_hash_num_elements(&lines) != 0) {
		ZEND_HASH_FOREACH_NUM_KEY(&lines, key) {
			break;
		} ZEND_HASH_FOREACH_END();
		zend_try {
			free_one(key);
		} zend_end_try();
	}
}

/* The handlers that the objects of a class share are the extension's own static data. */
zend_object_handlers *apus_guard_handlers_of(zend_class_entry *ce)
{
	zend_object *object = ce != NULL && ce->create_object != NULL ? ce->create_object(ce) : NULL;
	if (object == NULL) {
		return NULL;
	}
	zend_object_handlers *handlers = (zend_object_handlers *) object->handlers;
	GC_ADD_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED);
	OBJ_RELEASE(object);
	return handlers;
}

/* ---- processes ----
 *
 * A process that is freed or closed closes its pipes. One in which a coroutine waits stays open, until it is closed
 * itself. */

static int pipes_type;
/* What stands for the pipes in PHP's record of the process: a resource of ours, in no list. */
typedef struct { zend_resource stand_in; int count; zend_resource *pipes[]; } pipes;

static void close_pipes(zend_resource *stand_in)
{
	pipes *all = stand_in->ptr;
	for (int i = 0; i < all->count; i++) {
		zend_resource *pipe = all->pipes[i];
		const bool waited_in = apus_guard_alert != 0 && apus_held_by_other((uintptr_t) pipe, APUS_USES_ALL) != NULL;
		GC_DELREF(pipe);
		if (!waited_in) {
			zend_list_close(pipe);
		}
	}
	efree(all);
}

static void adopt_pipes(php_process_handle *process)
{
	pipes *all = emalloc(sizeof(*all) + process->npipes * sizeof(zend_resource *));
	all->count = 0;
	for (int i = 0; i < process->npipes; i++) {
		if (process->pipes[i] != NULL) {
			all->pipes[all->count++] = process->pipes[i];
		}
	}
	memset(&all->stand_in, 0, sizeof(all->stand_in));
	/* One reference is taken before it is closed; it must not be the last, with which it would be looked for in PHP's
	 * list. */
	GC_SET_REFCOUNT(&all->stand_in, 2);
	all->stand_in.type = pipes_type;
	all->stand_in.ptr = all;
	process->pipes[0] = &all->stand_in;
	process->npipes = 1;
}

void apus_guard_open_process(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (Z_TYPE_P(return_value) == IS_RESOURCE) {
		php_process_handle *process = Z_RES_VAL_P(return_value);
		if (process != NULL && process->npipes > 0) {
			adopt_pipes(process);
		}
	}
}

void apus_frees_startup(void)
{
	zend_hash_init(&lines, 8, NULL, NULL, true);
	pipes_type = zend_register_list_destructors_ex(close_pipes, NULL, "pipes of a process",
		EG(current_module)->module_number);
}

void apus_guard_find_frees(void)
{
	for (int i = 0; i < TALKS; i++) {
		zend_object_handlers *handlers = apus_guard_handlers_of(apus_class_find(TALKING[i]));
		if (handlers != NULL && handlers->dtor_obj != destroy) {
			before[i].handlers = handlers;
			before[i].destroy = handlers->dtor_obj;
			before[i].release = handlers->free_obj;
			handlers->dtor_obj = destroy;
			handlers->free_obj = release;
		}
	}
}
