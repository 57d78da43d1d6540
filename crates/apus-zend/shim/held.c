#include "apus_shim.h"

/* What the cycle collector is told of a native object: the PHP values that its payload holds, beside its properties. */

/* The collector is done with one object's values before it asks for another's. */
static struct { zval *values; uint32_t count, room; } held;

void apus_held_add(zval *value)
{
	if (!Z_REFCOUNTED_P(value)) {
		return;
	}
	if (held.count == held.room) {
		const uint32_t room = held.room == 0 ? 64 : held.room * 2;
		zval *larger = realloc(held.values, room * sizeof(*larger));
		if (larger == NULL) {
			return;
		}
		held.values = larger;
		held.room = room;
	}
	ZVAL_COPY_VALUE(&held.values[held.count++], value);
}

HashTable *apus_held_get_gc(zend_object *object, zval **table, int *count)
{
	const apus_object *native = apus_object_of(object);
	held.count = 0;
	if (native->payload != NULL) {
		native->held(native->payload);
	}
	if (held.count == 0) {
		return zend_std_get_gc(object, table, count);
	}
	/* A table of the properties refers to their slots: each is to be told once. */
	for (int i = 0; object->properties == NULL && i < object->ce->default_properties_count; i++) {
		apus_held_add(&object->properties_table[i]);
	}
	*table = held.values;
	*count = (int) held.count;
	return object->properties;
}
