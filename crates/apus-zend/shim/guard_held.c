#include "apus_guard.h"

/* What the calls of coroutines that do not run hold: a thing's key -> the first of its marks. */
static HashTable marked;
uint32_t apus_trees_held;

void apus_held_startup(void)
{
	zend_hash_init(&marked, 64, NULL, NULL, true);
}

/* Coroutines that never ended will not be entered again. */
void apus_held_end_request(void)
{
	zend_hash_clean(&marked);
	apus_guard_alert = apus_parked;
	apus_trees_held = 0;
}

const apus_held *apus_held_by_other(uintptr_t key, uint8_t uses)
{
	const zval *first = zend_hash_index_find(&marked, key);
	for (const apus_held *mark = first != NULL ? Z_PTR_P(first) : NULL; mark != NULL; mark = mark->next) {
		if ((mark->uses & uses) && mark->fiber != apus_running_fiber) {
			return mark;
		}
	}
	return NULL;
}

static apus_held *room_for_one(apus_holdings *marks)
{
	if (EXPECTED(marks->count < APUS_HOLDINGS)) {
		return &marks->few[marks->count++];
	}
	apus_held *more = malloc(sizeof(*more));
	if (more != NULL) {
		more->sibling = marks->more;
		marks->more = more;
	}
	return more;
}

typedef struct { apus_holdings *marks; const apus_fiber *fiber; } marking;

static bool mark(uintptr_t key, apus_use use, void *context)
{
	const marking *into = context;
	zval *first = zend_hash_index_lookup(&marked, key);
	apus_held *before = Z_TYPE_P(first) == IS_PTR ? Z_PTR_P(first) : NULL;
	apus_held *mine = before;
	while (mine != NULL && mine->fiber != into->fiber) {
		mine = mine->next;
	}
	if (mine == NULL) {
		mine = room_for_one(into->marks);
		if (mine == NULL) {
			if (before == NULL) {
				zend_hash_index_del(&marked, key);
			}
			return false;
		}
		*mine = (apus_held) {.key = key, .fiber = into->fiber, .next = before, .sibling = mine->sibling};
		ZVAL_PTR(first, mine);
		apus_guard_alert++;
	}
	apus_trees_held += (use.marks & ~mine->uses & APUS_USES_TREE) != 0;
	mine->uses |= use.marks;
	if ((use.marks & APUS_USES_TALK) && (use.marks & APUS_USES_IN)
		&& apus_talk_awaits(into->fiber, (const zend_resource *) key)) {
		mine->uses |= APUS_USES_ANSWER;
	}
	return true;
}

/* `foreach` over an object of an extension calls its C code without a frame. */
static void mark_iterated(zend_execute_data *ex, marking *into)
{
	const zend_op *opline = ex->opline;
	if (opline->opcode != ZEND_FE_FETCH_R && opline->opcode != ZEND_FE_FETCH_RW
		&& opline->opcode != ZEND_FE_RESET_R && opline->opcode != ZEND_FE_RESET_RW) {
		return;
	}
	if (opline->op1_type == IS_CONST) {
		return;
	}
	zval *value = ZEND_CALL_VAR(ex, opline->op1.var);
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) != IS_OBJECT) {
		return;
	}
	zend_object_iterator *iterator = zend_iterator_unwrap(value);
	zend_object *object = iterator == NULL ? Z_OBJ_P(value)
		: Z_TYPE(iterator->data) == IS_OBJECT ? Z_OBJ(iterator->data) : NULL;
	const uintptr_t key = object != NULL ? apus_guard_object_key(object) : 0;
	if (key != 0) {
		mark(key, (apus_use) {APUS_USES_ALL, APUS_USES_ALL}, into);
	}
}

void apus_guard_mark(apus_holdings *marks, const apus_fiber *fiber)
{
	marking into = {marks, fiber};
	bool by_c = true; /* is the frame one in which C code was called without a frame of its own? */
	marks->count = 0;
	marks->more = NULL;
	for (zend_execute_data *ex = EG(current_execute_data); ex != NULL; ex = ex->prev_execute_data) {
		const zend_function *function = ex->func;
		if (function == NULL) {
			continue;
		}
		if (ZEND_USER_CODE(function->type)) {
			if (UNEXPECTED(by_c)) {
				mark_iterated(ex, &into);
			}
		} else if (UNEXPECTED(ZEND_CALL_INFO(ex) & APUS_CALL_GUARDED)) {
			apus_guard_things(ex, true, mark, &into);
		}
		by_c = (ZEND_CALL_INFO(ex) & ZEND_CALL_TOP) != 0;
	}
}

ZEND_COLD uint32_t apus_look_at_calls(const zend_execute_data *ex)
{
	uint32_t found = ex == NULL || ex->func == NULL || ZEND_USER_CODE(ex->func->type)
		? APUS_HOLD_THINGS | APUS_HOLD_STATE : 0;
	for (; ex != NULL; ex = ex->prev_execute_data) {
		if (apus_called_by_c(ex)) {
			/* What called it may be `foreach`, which holds its iterator without a frame. */
			found |= APUS_HOLD_THINGS | APUS_HOLD_STATE;
		} else if (ex->func != NULL && !ZEND_USER_CODE(ex->func->type) && (ZEND_CALL_INFO(ex) & APUS_CALL_GUARDED)) {
			found |= APUS_HOLD_THINGS;
		} else if (ex->prev_execute_data == NULL
			&& (ZEND_CALL_INFO(ex) & (ZEND_CALL_TOP | ZEND_CALL_CODE)) == ZEND_CALL_TOP) {
			/* Called by C code at the end of the script, or while it is compiled. */
			found |= APUS_HOLD_STATE;
		}
	}
	return found;
}

static void unmark(apus_held *mine)
{
	zval *first = zend_hash_index_find(&marked, mine->key);
	if (first == NULL) {
		return;
	}
	apus_held *before = Z_PTR_P(first);
	apus_guard_alert--;
	apus_trees_held -= (mine->uses & APUS_USES_TREE) != 0;
	if (before != mine) {
		while (before->next != mine) {
			before = before->next;
		}
		before->next = mine->next;
	} else if (mine->next != NULL) {
		Z_PTR_P(first) = mine->next;
	} else {
		zend_hash_index_del(&marked, mine->key);
	}
}

void apus_guard_unmark_all(apus_holdings *marks)
{
	for (uint32_t i = 0; i < marks->count; i++) {
		unmark(&marks->few[i]);
	}
	while (marks->more != NULL) {
		apus_held *one = marks->more;
		marks->more = one->sibling;
		unmark(one);
		free(one);
	}
}
