#include "apus_guard.h"

/* `foreach` over a statement or a result fetches rows without a call: what would be the call is refused as one. (What
 * it holds while it waits itself is seen by where the VM stands, guard_held.c.) */

typedef struct {
	zend_object_iterator_funcs ours; /* the iterator points here */
	const zend_object_iterator_funcs *theirs;
	const zend_class_entry *ce;
	zend_object_iterator *(*get)(zend_class_entry *ce, zval *object, int by_ref);
} watched;

static const char *const ITERATED[] = {"pdostatement", "mysqli_result"};
enum { CLASSES = sizeof(ITERATED) / sizeof(*ITERATED) };
static watched classes[CLASSES];

static zend_never_inline ZEND_COLD bool is_refused(zend_object *object)
{
	const apus_use all = {APUS_USES_ALL, APUS_USES_ALL};
	return apus_guard_refuses(apus_guard_object_key(object), all);
}

#define REFUSED(object) (UNEXPECTED(apus_guard_alert != 0) && is_refused(object))

static const zend_object_iterator_funcs *theirs(const zend_object_iterator *iterator)
{
	return ((const watched *) iterator->funcs)->theirs;
}

static void move_forward(zend_object_iterator *iterator)
{
	if (!REFUSED(Z_OBJ(iterator->data))) {
		theirs(iterator)->move_forward(iterator);
	}
}

static void begin_again(zend_object_iterator *iterator)
{
	if (!REFUSED(Z_OBJ(iterator->data))) {
		theirs(iterator)->rewind(iterator);
	}
}

static watched *watched_of(const zend_class_entry *ce)
{
	int i = 0;
	while (i < CLASSES - 1 && !(classes[i].ce != NULL && instanceof_function(ce, classes[i].ce))) {
		i++;
	}
	return &classes[i];
}

static zend_object_iterator *get_iterator(zend_class_entry *ce, zval *object, int by_ref)
{
	watched *class = watched_of(ce);
	zend_object_iterator *iterator = !REFUSED(Z_OBJ_P(object)) ? class->get(ce, object, by_ref) : NULL;
	if (iterator == NULL || Z_TYPE(iterator->data) != IS_OBJECT) {
		return iterator;
	}
	if (class->theirs == NULL) {
		class->theirs = iterator->funcs;
		class->ours = *iterator->funcs;
		class->ours.move_forward = move_forward;
		class->ours.rewind = class->ours.rewind != NULL ? begin_again : NULL;
	}
	if (iterator->funcs == class->theirs) {
		iterator->funcs = &class->ours;
	}
	return iterator;
}

void apus_guard_find_iterators(void)
{
	for (int i = 0; i < CLASSES; i++) {
		zend_class_entry *ce = apus_class_find(ITERATED[i]);
		if (ce != NULL && ce->get_iterator != NULL && ce->get_iterator != get_iterator) {
			classes[i].ce = ce;
			classes[i].get = ce->get_iterator;
			ce->get_iterator = get_iterator;
		}
	}
}
