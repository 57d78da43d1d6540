#include "apus_shim.h"

/* PHP's own marks against re-entrancy belong to the coroutine that set them.
 *
 * While json_encode() is inside an object, or __get() runs for a property, PHP marks that object, array or property,
 * and takes whoever comes there again for a recursion. For a coroutine that waits meanwhile the marks are lifted, so
 * that others do not meet them, and set again when it goes on; a fatal error lifts them for good. PHP keeps no list of
 * them; they are found by the calls that hold them: C code that set one and then waits has called PHP code, whose frame
 * says so (ZEND_CALL_TOP), and what it has marked is reached from that frame or its caller.
 *
 * A class that is being declared is marked, too: it lies in the table of classes without being linked, and who asks for
 * it is told that there is none. While its coroutine waits it lies there under another name, so that others ask their
 * autoloader, which waits for it (autoload.c). */

#ifdef Z_GUARD_P
# define GUARD_WORD(zv) (&Z_GUARD_P(zv))
#else
# define GUARD_WORD(zv) (&Z_PROPERTY_GUARD_P(zv))
#endif

typedef enum { ON_COUNTED, ON_PROPERTIES, ON_WORD, ON_CLASS, ON_EXCEPTION } mark_kind;

typedef struct {
	mark_kind kind;
	uint32_t bits;                /* ON_WORD: what was set */
	zend_refcounted *holder;      /* a reference of ours; ON_CLASS: the class's name */
	/* ON_PROPERTIES: the table, ON_WORD: the word, ON_CLASS: the name it lies under, ON_EXCEPTION: it. */
	void *place;
} lifted_mark;

struct apus_marks {
	uint32_t count, room;
	lifted_mark all[];
};

/* Classes that are hidden: by lower-case name. */
static HashTable hidden;

bool apus_class_is_hidden(zend_string *lc_name)
{
	return zend_hash_num_elements(&hidden) != 0 && zend_hash_exists(&hidden, lc_name);
}

/* False: no memory; the mark stays. */
static bool add(apus_marks **marks, mark_kind kind, zend_refcounted *holder, void *place, uint32_t bits)
{
	apus_marks *list = *marks;
	if (list == NULL || list->count == list->room) {
		const uint32_t room = list == NULL ? 4 : list->room * 2;
		apus_marks *larger = realloc(list, sizeof(*list) + room * sizeof(*list->all));
		if (larger == NULL) {
			return false;
		}
		larger->count = list == NULL ? 0 : larger->count;
		larger->room = room;
		*marks = list = larger;
	}
	if (holder != NULL && !(GC_TYPE(holder) == IS_STRING && (GC_FLAGS(holder) & IS_STR_INTERNED))) {
		GC_ADDREF(holder);
	}
	list->all[list->count++] = (lifted_mark) {.kind = kind, .bits = bits, .holder = holder, .place = place};
	return true;
}

/* ---- guards of properties ---- */

static zval *guard_slot(const zend_object *object)
{
	return object->ce->ce_flags & ZEND_ACC_USE_GUARDS
		? (zval *) &object->properties_table[object->ce->default_properties_count] : NULL;
}

static uint32_t *word_of(const zval *tagged)
{
	return (uint32_t *) ((uintptr_t) Z_PTR_P(tagged) & ~(uintptr_t) 1);
}

/* The slot's own word: that of the first name, and since PHP 8.4 of marks on the object. */
static uint32_t *slot_word(zval *slot)
{
#ifdef Z_GUARD_P
	return GUARD_WORD(slot);
#else
	return Z_TYPE_P(slot) != IS_UNDEF ? GUARD_WORD(slot) : NULL;
#endif
}

static bool has_guards(const zend_object *object)
{
	zval *slot = guard_slot(object), *tagged;
	if (slot == NULL || slot_word(slot) == NULL) {
		return false;
	}
	if (*slot_word(slot) != 0) {
		return true;
	}
	if (Z_TYPE_P(slot) == IS_ARRAY) {
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(slot), tagged) {
			if (*word_of(tagged) != 0) {
				return true;
			}
		} ZEND_HASH_FOREACH_END();
	}
	return false;
}

static void lift_word(apus_marks **marks, zend_object *object, uint32_t *word)
{
	if (*word != 0 && add(marks, ON_WORD, (zend_refcounted *) object, word, *word)) {
		*word = 0;
	}
}

static void lift_guards(apus_marks **marks, zend_object *object)
{
	zval *slot = guard_slot(object), *tagged;
	if (Z_TYPE_P(slot) == IS_STRING) {
		/* The slot of one name is used again for another when it is clear: with a second name it becomes a table, in
		 * which each name keeps its word. */
		QUIETLY({
			zend_string *second = zend_string_init("\0apus", 5, false);
			zend_get_property_guard(object, second);
			zend_string_release(second);
		});
	}
	lift_word(marks, object, slot_word(slot));
	if (Z_TYPE_P(slot) == IS_ARRAY) {
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(slot), tagged) {
			lift_word(marks, object, word_of(tagged));
		} ZEND_HASH_FOREACH_END();
	}
}

/* ---- marks on arrays and objects ---- */

static bool properties_marked(const zend_object *object)
{
	return object->properties != NULL && GC_IS_RECURSIVE(object->properties);
}

static bool is_marked(const zval *value)
{
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) == IS_ARRAY) {
		return GC_IS_RECURSIVE(Z_ARRVAL_P(value));
	}
	return Z_TYPE_P(value) == IS_OBJECT
		&& (GC_IS_RECURSIVE(Z_OBJ_P(value)) || properties_marked(Z_OBJ_P(value)) || has_guards(Z_OBJ_P(value)));
}

/* False: the value is marked by nothing that goes on into what it holds. */
static bool lift(apus_marks **marks, const zval *value)
{
	bool path = false;
	if (Z_TYPE_P(value) == IS_OBJECT && has_guards(Z_OBJ_P(value))) {
#ifdef ZEND_GUARD_RECURSION_JSON
		path = (*slot_word(guard_slot(Z_OBJ_P(value))) & ~ZEND_GUARD_PROPERTY_MASK) != 0;
#endif
		lift_guards(marks, Z_OBJ_P(value));
	}
	if (GC_IS_RECURSIVE(Z_COUNTED_P(value)) && add(marks, ON_COUNTED, Z_COUNTED_P(value), NULL, 0)) {
		path = true;
		GC_TRY_UNPROTECT_RECURSION(Z_COUNTED_P(value));
	}
	if (Z_TYPE_P(value) == IS_OBJECT && properties_marked(Z_OBJ_P(value))) {
		/* No reference of the table: PHP copies one that has two owners before it writes, and its marks would be left
		 * behind. */
		HashTable *properties = Z_OBJ_P(value)->properties;
		if (add(marks, ON_PROPERTIES, Z_COUNTED_P(value), properties, 0)) {
			path = true;
			GC_TRY_UNPROTECT_RECURSION(properties);
		}
	}
	return path;
}

/* What a search does with each value in an array or object; true: that is enough. */
typedef bool (*visitor)(void *search, const zval *child);

static bool any_in_table(const HashTable *table, visitor visit, void *search)
{
	zval *child;
	if (table != NULL) {
		ZEND_HASH_FOREACH_VAL((HashTable *) table, child) {
			if (visit(search, Z_TYPE_P(child) == IS_INDIRECT ? Z_INDIRECT_P(child) : child)) {
				return true;
			}
		} ZEND_HASH_FOREACH_END();
	}
	return false;
}

static bool any_child(const zval *value, visitor visit, void *search)
{
	if (Z_TYPE_P(value) == IS_ARRAY) {
		return any_in_table(Z_ARRVAL_P(value), visit, search);
	}
	zend_object *object = Z_OBJ_P(value);
	zval *slots = object->properties_table;
	int count = object->ce->default_properties_count;
	const HashTable *table = object->properties;
	if (object->handlers->get_gc != zend_std_get_gc) {
		count = 0;
		table = object->handlers->get_gc(object, &slots, &count);
	}
	for (int i = 0; i < count; i++) {
		if (visit(search, &slots[i])) {
			return true;
		}
	}
	return any_in_table(table, visit, search);
}

static bool is_first_marked(void *found, const zval *child)
{
	ZVAL_DEREF(child);
	if (!is_marked(child)) {
		return false;
	}
	*(const zval **) found = child;
	return true;
}

/* The marks of most calls lie on one path, from the argument to where the call is. */
static void lift_path(apus_marks **marks, const zval *value)
{
	ZVAL_DEREF(value);
	while (value != NULL && is_marked(value) && lift(marks, value)) {
		const zval *next = NULL;
		any_child(value, is_first_marked, &next);
		value = next;
	}
}

/* ---- marks behind unmarked values: serialize() marks arrays in arrays only, and what a method has returned hangs on
 * nothing ---- */

enum { REACH = 8192, SEEN = 2 * REACH };

typedef struct {
	apus_marks **marks;
	uint32_t count;
	zval values[REACH];
	const zend_refcounted *seen[SEEN];
} wide_search;

static bool is_new(wide_search *search, const zend_refcounted *value)
{
	uint32_t at = (uint32_t) (((uintptr_t) value >> 4) * 2654435761u) % SEEN;
	while (search->seen[at] != NULL && search->seen[at] != value) {
		at = (at + 1) % SEEN;
	}
	const bool new = search->seen[at] == NULL;
	search->seen[at] = value;
	return new;
}

static bool is_out_of_reach(void *data, const zval *child)
{
	wide_search *search = data;
	ZVAL_DEREF(child);
	if (search->count == REACH) {
		return true;
	}
	if ((Z_TYPE_P(child) == IS_ARRAY || Z_TYPE_P(child) == IS_OBJECT) && Z_REFCOUNTED_P(child)
		&& is_new(search, Z_COUNTED_P(child))) {
		ZVAL_COPY_VALUE(&search->values[search->count++], child);
		if (is_marked(child)) {
			lift(search->marks, child);
		}
	}
	return false;
}

static void lift_reachable(apus_marks **marks, const zend_execute_data *caller)
{
	static wide_search *search; /* used again by the next */
	if (search == NULL && (search = malloc(sizeof(*search))) == NULL) {
		return;
	}
	search->marks = marks;
	search->count = 0;
	memset(search->seen, 0, sizeof(search->seen));
	for (uint32_t i = 1; i <= ZEND_CALL_NUM_ARGS(caller); i++) {
		is_out_of_reach(search, ZEND_CALL_ARG(caller, i));
	}
	for (uint32_t i = 0; i < search->count && search->count < REACH; i++) {
		any_child(&search->values[i], is_out_of_reach, search);
	}
}

/* Is this a method that functions call which walk through values of any depth? */
static bool is_asked_by_walker(const zend_execute_data *ex)
{
	static const char *const METHODS[] = {"__serialize", "__sleep", "serialize", "jsonserialize", "__debuginfo",
		"__tostring"};
	const zend_string *name = ex->func->common.function_name;
	if (Z_TYPE(ex->This) != IS_OBJECT || name == NULL || ex->prev_execute_data->func->type != ZEND_INTERNAL_FUNCTION) {
		return false;
	}
	for (unsigned i = 0; i < sizeof(METHODS) / sizeof(*METHODS); i++) {
		if (zend_binary_strcasecmp(ZSTR_VAL(name), ZSTR_LEN(name), METHODS[i], strlen(METHODS[i])) == 0) {
			return true;
		}
	}
	return false;
}

/* ---- classes that are being declared ---- */

static void hide_class(apus_marks **marks, const zend_execute_data *ex)
{
	zend_string *name = Z_STR_P(RT_CONSTANT(ex->opline, ex->opline->op1));
	zval *slot = zend_hash_find(EG(class_table), name);
	if (slot == NULL || (Z_CE_P(slot)->ce_flags & ZEND_ACC_LINKED)) {
		return;
	}
	/* Names that begin with NUL are those of classes that are not declared yet. */
	zend_string *other = zend_strpprintf_unchecked(0, "%capus:%S:%p", 0, name, (void *) Z_CE_P(slot));
	if (!add(marks, ON_CLASS, (zend_refcounted *) name, other, 0)) {
		zend_string_release(other);
		return;
	}
	zend_hash_set_bucket_key(EG(class_table), (Bucket *) slot, other);
	zend_hash_add_empty_element(&hidden, name);
}

static void show_class(zend_string *name, zend_string *other)
{
	zend_hash_del(&hidden, name);
	zval *slot = zend_hash_find(EG(class_table), other);
	if (slot != NULL && zend_hash_set_bucket_key(EG(class_table), (Bucket *) slot, name) == NULL) {
		/* Another coroutine has declared one of that name. The C code that goes on now finds its own under it. */
		zval *theirs = zend_hash_find(EG(class_table), name);
		zend_string *aside = zend_strpprintf_unchecked(0, "%capus:%S:%p", 0, name, (void *) Z_CE_P(theirs));
		zend_hash_set_bucket_key(EG(class_table), (Bucket *) theirs, aside);
		zend_string_release(aside);
		slot = zend_hash_find(EG(class_table), other);
		zend_hash_set_bucket_key(EG(class_table), (Bucket *) slot, name);
	}
	zend_string_release(other);
}

/* ---- finding them ---- */

/* The operand's place, if it is a variable of the frame. */
static void lift_operand(apus_marks **marks, const zend_execute_data *ex, uint8_t type, znode_op operand)
{
	if (type & (IS_CV | IS_VAR | IS_TMP_VAR)) {
		lift_path(marks, ZEND_CALL_VAR(ex, operand.var));
	}
}

/* PHP code that stands at an instruction whose C code has called PHP code, or waits. */
static void lift_of_instruction(apus_marks **marks, const zend_execute_data *ex)
{
	const zend_op *opline = ex->opline;
	switch (opline->opcode) {
		case ZEND_IS_EQUAL:
		case ZEND_IS_NOT_EQUAL:
		case ZEND_IS_SMALLER:
		case ZEND_IS_SMALLER_OR_EQUAL:
		case ZEND_SPACESHIP:
		case ZEND_CASE:
			lift_operand(marks, ex, opline->op1_type, opline->op1);
			lift_operand(marks, ex, opline->op2_type, opline->op2);
			break;
#ifdef ZEND_FRAMELESS_ICALL_3
		/* Functions that PHP 8.4 and newer call without a frame: in_array() and others. */
		case ZEND_FRAMELESS_ICALL_3:
			lift_operand(marks, ex, (opline + 1)->op1_type, (opline + 1)->op1);
			ZEND_FALLTHROUGH;
		case ZEND_FRAMELESS_ICALL_2:
			lift_operand(marks, ex, opline->op2_type, opline->op2);
			ZEND_FALLTHROUGH;
		case ZEND_FRAMELESS_ICALL_1:
			lift_operand(marks, ex, opline->op1_type, opline->op1);
			break;
#endif
		case ZEND_DECLARE_CLASS:
		case ZEND_DECLARE_CLASS_DELAYED:
			QUIETLY(hide_class(marks, ex));
			break;
	}
}

static void lift_of_caller(apus_marks **marks, const zend_execute_data *ex)
{
	if (ZEND_USER_CODE(ex->func->type)) {
		lift_of_instruction(marks, ex);
		return;
	}
	if (Z_TYPE(ex->This) == IS_OBJECT) {
		lift_path(marks, &ex->This);
	}
	for (uint32_t i = 1; i <= ZEND_CALL_NUM_ARGS(ex); i++) {
		lift_path(marks, ZEND_CALL_ARG(ex, i));
	}
}

/* `innermost`: C code that is left without having called PHP code may have set marks, too. */
static apus_marks *take(bool innermost)
{
	const zend_execute_data *ex = EG(current_execute_data);
	apus_marks *marks = NULL;
	if (EG(prev_exception) != NULL && add(&marks, ON_EXCEPTION, NULL, EG(prev_exception), 0)) {
		EG(prev_exception) = NULL;
	}
	if (ex != NULL && ex->func != NULL && (innermost || ZEND_USER_CODE(ex->func->type))) {
		lift_of_caller(&marks, ex);
	}
	for (; ex != NULL; ex = ex->prev_execute_data) {
		if (apus_called_by_c(ex)) {
			if (Z_TYPE(ex->This) == IS_OBJECT) {
				lift_path(&marks, &ex->This);
			}
			lift_of_caller(&marks, ex->prev_execute_data);
			if (is_asked_by_walker(ex)) {
				lift_reachable(&marks, ex->prev_execute_data);
			}
		}
	}
	return marks;
}

apus_marks *apus_marks_take(void)
{
	return take(false);
}

static void put_mark(const lifted_mark *mark)
{
	switch (mark->kind) {
		case ON_COUNTED:
			GC_TRY_PROTECT_RECURSION(mark->holder);
			break;
		case ON_PROPERTIES:
			if (((zend_object *) mark->holder)->properties == mark->place) {
				GC_TRY_PROTECT_RECURSION((HashTable *) mark->place);
			}
			break;
		case ON_WORD:
			*(uint32_t *) mark->place |= mark->bits;
			break;
		case ON_CLASS:
			QUIETLY(show_class((zend_string *) mark->holder, mark->place));
			break;
		case ON_EXCEPTION:
			EG(prev_exception) = mark->place;
			break;
	}
}

/* `back`: they are set again. What is no mark on a value is in any case. */
static void end(apus_marks *marks, bool back)
{
	for (uint32_t i = marks->count; i-- > 0;) {
		const lifted_mark *mark = &marks->all[i];
		if (back || mark->kind == ON_CLASS || mark->kind == ON_EXCEPTION) {
			put_mark(mark);
		}
		if (mark->kind == ON_CLASS) {
			zend_string_release((zend_string *) mark->holder);
		} else if (mark->holder != NULL) {
			zval holder;
			if (GC_TYPE(mark->holder) == IS_ARRAY) {
				ZVAL_ARR(&holder, (zend_array *) mark->holder);
			} else {
				ZVAL_OBJ(&holder, (zend_object *) mark->holder);
			}
			apus_zval_release(&holder);
		}
	}
	free(marks);
}

void apus_marks_put_all(apus_marks *marks)
{
	end(marks, true);
}

/* ---- fatal errors: the calls that have set marks will not lift them, and others go on with the same values ---- */

static void (*inner_error)(int type, zend_string *file, const uint32_t line, zend_string *message);

static void report(int type, zend_string *file, const uint32_t line, zend_string *message)
{
	if (UNEXPECTED(type & E_FATAL_ERRORS) && !(type & E_DONT_BAIL)) {
		/* This is the last time that the frames are known: PHP bails out when it has reported the error. */
		apus_marks *marks = take(true);
		if (marks != NULL) {
			end(marks, false);
		}
	}
	inner_error(type, file, line, message);
}

void apus_marks_startup(void)
{
	zend_hash_init(&hidden, 8, NULL, NULL, true);
	inner_error = zend_error_cb;
	zend_error_cb = report;
}
