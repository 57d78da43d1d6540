#include "apus_shim.h"

static zend_object_handlers native_handlers;
static zend_object_handlers lazy_handlers;

/* Lazy classes are few and final in number; looked up by the nearest registered ancestor. */
#define LAZY_MAX 8
static struct { zend_class_entry *ce; uint32_t count; apus_lazy_fill fill; } lazy[LAZY_MAX];
static uint32_t lazy_count;

apus_object *apus_object_of(zend_object *object)
{
	return (apus_object *) ((char *) object - XtOffsetOf(apus_object, std));
}

static zend_object *allocate(zend_class_entry *ce, const zend_object_handlers *handlers)
{
	apus_object *native = zend_object_alloc(sizeof(apus_object), ce);
	native->payload = NULL;
	native->memory = NULL;
	native->drop = NULL;
	native->free = NULL;
	native->held = NULL;
	native->type = NULL;
	zend_object_std_init(&native->std, ce);
	object_properties_init(&native->std, ce);
	native->std.handlers = handlers;
	return &native->std;
}

static zend_object *create_native(zend_class_entry *ce)
{
	return allocate(ce, &native_handlers);
}

static zend_object *create_lazy(zend_class_entry *ce)
{
	return allocate(ce, &lazy_handlers);
}

static void free_object(zend_object *object)
{
	apus_object *native = apus_object_of(object);
	bool failed = false;
	if (native->payload != NULL) {
		void *payload = native->payload;
		const bool outer = apus_bailed_in_release;
		apus_bailed_in_release = false;
		native->payload = NULL;
		native->drop(payload);
		native->free(payload);
		failed = apus_bailed_in_release;
		apus_bailed_in_release = outer;
	}
	if (native->memory != NULL) {
		native->free(native->memory);
	}
	zend_object_std_dtor(object);
	if (UNEXPECTED(failed)) {
		/* No Rust frame is left in between: as if the destructor had run here. */
		zend_bailout();
	}
}

bool apus_object_is_native(const zend_object *object)
{
	return object->handlers->free_obj == free_object;
}

static uint32_t lazy_index(const zend_object *object)
{
	for (zend_class_entry *ce = object->ce; ce != NULL; ce = ce->parent) {
		for (uint32_t i = 0; i < lazy_count; i++) {
			if (lazy[i].ce == ce) {
				return i;
			}
		}
	}
	return 0;
}

static void fill_slot(zend_object *object, uint32_t slot, apus_lazy_fill fill)
{
	zval *property = OBJ_PROP_NUM(object, slot);
	if (Z_TYPE_P(property) != IS_UNDEF) {
		return;
	}
	if (apus_object_of(object)->payload == NULL) {
		/* Made by a program, not by a server: there is nothing to tell, and all of them may be null. */
		ZVAL_NULL(property);
	} else if (UNEXPECTED(fill(object, slot) == APUS_BAILED)) {
		zend_bailout();
	}
}

/* Builds the property that `name` means, if it is one of the lazy ones. */
static void fill_named(zend_object *object, zend_string *name)
{
	uint32_t entry = lazy_index(object);
	zend_property_info *info = zend_hash_find_ptr(&lazy[entry].ce->properties_info, name);
	if (info != NULL && !(info->flags & ZEND_ACC_STATIC) && OBJ_PROP_TO_NUM(info->offset) < lazy[entry].count) {
		fill_slot(object, OBJ_PROP_TO_NUM(info->offset), lazy[entry].fill);
	}
}

static void fill_all(zend_object *object)
{
	uint32_t entry = lazy_index(object);
	for (uint32_t slot = 0; slot < lazy[entry].count; slot++) {
		fill_slot(object, slot, lazy[entry].fill);
	}
}

static zval *read_lazy(zend_object *object, zend_string *name, int type, void **cache_slot, zval *rv)
{
	fill_named(object, name);
	return zend_std_read_property(object, name, type, cache_slot, rv);
}

static zval *ptr_lazy(zend_object *object, zend_string *name, int type, void **cache_slot)
{
	fill_named(object, name);
	return zend_std_get_property_ptr_ptr(object, name, type, cache_slot);
}

static int has_lazy(zend_object *object, zend_string *name, int check_empty, void **cache_slot)
{
	fill_named(object, name);
	return zend_std_has_property(object, name, check_empty, cache_slot);
}

static HashTable *properties_lazy(zend_object *object)
{
	fill_all(object);
	return zend_std_get_properties(object);
}

static HashTable *gc_lazy(zend_object *object, zval **table, int *count)
{
	/* As zend_std_get_gc(), which would build the property table through properties_lazy(). A table that has been built
	 * refers to the slots, each of which is to be counted once. */
	if (object->properties != NULL) {
		*table = NULL;
		*count = 0;
		return object->properties;
	}
	*table = object->properties_table;
	*count = object->ce->default_properties_count;
	return NULL;
}

zend_string *apus_object_root(zend_object *object)
{
	zend_class_entry *ce = object->ce;
	while (ce->type != ZEND_INTERNAL_CLASS && ce->parent != NULL) {
		ce = ce->parent;
	}
	return ce->name;
}

/* Code written for Swoole cannot unset what its classes declare. */
static void unset_property(zend_object *object, zend_string *name, void **cache_slot)
{
	static const char prefix[] = "Swoole\\";
	zend_string *root = apus_object_root(object);
	if (EXPECTED(strncmp(ZSTR_VAL(root), prefix, sizeof(prefix) - 1) != 0)) {
		zend_std_unset_property(object, name, cache_slot);
		return;
	}
	zend_property_info *info = zend_hash_find_ptr(&object->ce->properties_info, name);
	if (info != NULL && info->ce->type == ZEND_INTERNAL_CLASS) {
		zend_throw_error(NULL, "Property %s of class %s cannot be unset", ZSTR_VAL(name), ZSTR_VAL(object->ce->name));
		return;
	}
	zend_std_unset_property(object, name, cache_slot);
}

static zend_object *create_denied(zend_class_entry *ce)
{
	zend_object *object = zend_objects_new(ce);
	object_properties_init(object, ce);
	zend_throw_error(NULL, "The object of %s can not be created for security reasons", ZSTR_VAL(ce->name));
	return object;
}

void apus_class_deny_objects(zend_class_entry *ce)
{
	ce->create_object = create_denied;
}

static void init_handlers(void)
{
	if (native_handlers.free_obj != NULL) {
		return;
	}
	native_handlers = *zend_get_std_object_handlers();
	native_handlers.offset = XtOffsetOf(apus_object, std);
	native_handlers.free_obj = free_object;
	native_handlers.clone_obj = NULL;
	native_handlers.get_gc = apus_held_get_gc;
	native_handlers.write_property = apus_write_property;
	native_handlers.unset_property = unset_property;
	lazy_handlers = native_handlers;
	lazy_handlers.read_property = read_lazy;
	lazy_handlers.get_property_ptr_ptr = ptr_lazy;
	lazy_handlers.has_property = has_lazy;
	lazy_handlers.get_properties = properties_lazy;
	lazy_handlers.get_gc = gc_lazy;
}

void apus_class_set_native(zend_class_entry *ce)
{
	init_handlers();
	ce->create_object = create_native;
	ce->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
}

void apus_class_set_lazy(zend_class_entry *ce, uint32_t count, apus_lazy_fill fill)
{
	apus_class_set_native(ce);
	ZEND_ASSERT(lazy_count < LAZY_MAX);
	lazy[lazy_count].ce = ce;
	lazy[lazy_count].count = count;
	lazy[lazy_count].fill = fill;
	lazy_count++;
	ce->create_object = create_lazy;
}

/* Objects that are used again: making one anew costs less than a new one, and it stays known to the cycle collector. */
#define REUSED_CLASSES 4
#define REUSED_MOST 64
typedef struct {
	zend_class_entry *ce;
	uint32_t count;
	zend_object *objects[REUSED_MOST];
} reused_class;
static reused_class reused[REUSED_CLASSES];
static uint32_t reused_count;
static bool reuse_open;

void apus_class_set_reused(zend_class_entry *ce)
{
	if (reused_count == REUSED_CLASSES) {
		return;
	}
	for (int i = 0; i < ce->default_properties_count; i++) {
		if (Z_REFCOUNTED(CE_DEFAULT_PROPERTIES_TABLE(ce)[i])) {
			return;
		}
	}
	reused[reused_count++].ce = ce;
}

static zend_always_inline reused_class *reused_of(const zend_class_entry *ce)
{
	for (uint32_t i = 0; i < reused_count; i++) {
		if (reused[i].ce == ce) {
			return &reused[i];
		}
	}
	return NULL;
}

void apus_objects_open(void)
{
	reuse_open = true;
}

void apus_objects_close(void)
{
	reuse_open = false;
	for (uint32_t i = 0; i < reused_count; i++) {
		while (reused[i].count > 0) {
			apus_object_release(reused[i].objects[--reused[i].count]);
		}
	}
}

/* Whether nothing sets the object apart from a new one but its payload and the values of its properties. */
static zend_always_inline bool is_plain(const zend_object *object, bool *holds)
{
	if (GC_REFCOUNT(object) != 1 || object->properties != NULL || GC_FLAGS(object) != 0) {
		return false;
	}
#if PHP_VERSION_ID >= 80400
	if (object->extra_flags != 0) {
		return false;
	}
#endif
	uint32_t flags = 0;
	const zval *slot = object->properties_table, *const end = slot + object->ce->default_properties_count;
	for (; slot < end; slot++) {
		flags |= Z_TYPE_INFO_P(slot);
	}
	*holds = flags >> Z_TYPE_FLAGS_SHIFT != 0;
	for (slot = object->properties_table; UNEXPECTED(*holds) && slot < end; slot++) {
		if (Z_ISREF_P(slot)) {
			return false;
		}
	}
	return true;
}

bool apus_object_keep(zend_object *object)
{
	reused_class *const kept = reused_of(object->ce);
	bool holds;
	if (kept == NULL || kept->count == REUSED_MOST || !reuse_open || !is_plain(object, &holds)) {
		return false;
	}
	apus_object *const native = apus_object_of(object);
	if (object->handlers->offset == XtOffsetOf(apus_object, std) && EXPECTED(native->payload != NULL)) {
		native->memory = native->payload;
		native->payload = NULL;
		native->drop(native->memory);
	}
	for (int i = 0; UNEXPECTED(holds) && i < object->ce->default_properties_count; i++) {
		zval old;
		ZVAL_COPY_VALUE(&old, &object->properties_table[i]);
		ZVAL_UNDEF(&object->properties_table[i]);
		zval_ptr_dtor(&old);
	}
	memcpy(object->properties_table, CE_DEFAULT_PROPERTIES_TABLE(object->ce),
		sizeof(zval) * object->ce->default_properties_count);
	/* What ran meanwhile may have given others back. */
	if (UNEXPECTED(kept->count == REUSED_MOST)) {
		return false;
	}
	kept->objects[kept->count++] = object;
	return true;
}

zend_object *apus_object_new(zend_class_entry *ce)
{
	reused_class *const kept = reused_of(ce);
	if (kept != NULL && EXPECTED(kept->count > 0)) {
		return kept->objects[--kept->count];
	}
	zval object;
	ZVAL_UNDEF(&object);
	volatile bool made = false;
	apus_try {
		made = object_init_ex(&object, ce) == SUCCESS;
	} apus_catch {
	} apus_end_try();
	return made ? Z_OBJ(object) : NULL;
}

zval *apus_object_slot(zend_object *object, uint32_t slot)
{
	return OBJ_PROP_NUM(object, slot);
}

void apus_object_release(zend_object *object)
{
	zval value;
	ZVAL_OBJ(&value, object);
	apus_zval_release(&value);
}

bool apus_object_is(zend_object *object, zend_class_entry *ce)
{
	return instanceof_function(object->ce, ce);
}

apus_status apus_object_update(zend_object *object, const char *name, size_t len, zval *value)
{
	bool failed = false;
	GUARDED(failed, zend_update_property(object->ce, object, name, len, value));
	return failed ? APUS_BAILED : EG(exception) != NULL ? APUS_THREW : APUS_OK;
}
