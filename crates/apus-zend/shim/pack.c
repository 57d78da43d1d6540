#include "apus_shim.h"
#include "ext/standard/php_incomplete_class.h"
#include "zend_enum.h"
#if PHP_VERSION_ID >= 80400
# include "zend_lazy_objects.h"
#endif

/* Runs `body` where a bailout comes back as a result, and an exception, too. */
#define GUARDED_STATUS(status, body) \
	do { \
		volatile apus_status guarded = APUS_OK; \
		apus_try { body; } apus_catch { guarded = APUS_BAILED; } apus_end_try(); \
		(status) = guarded == APUS_OK && EG(exception) ? APUS_THREW : guarded; \
	} while (0)

/* ---- writing ---- */

zend_ulong apus_pack_hash(zend_string *string)
{
	return zend_string_hash_val(string);
}

uint32_t apus_pack_slots(const zend_object *object)
{
	return (uint32_t) object->ce->default_properties_count;
}

bool apus_pack_is_real(const zend_object *object)
{
#if PHP_VERSION_ID >= 80400
	return !zend_object_is_lazy((zend_object *) object);
#else
	return true;
#endif
}

/* Whether the declared properties are all there is, each with a name of its own. */
static bool only_slots(const zend_object *object)
{
	const zend_class_entry *ce = object->ce;
	if (object->properties != NULL || object->handlers->get_properties_for != NULL
			|| object->handlers->get_properties != zend_std_get_properties) {
		return false;
	}
	if (!apus_pack_is_real(object)) {
		return false;
	}
	for (int i = 0; i < ce->default_properties_count; i++) {
		/* A private property of a parent has no entry in the child's table. */
		if (ce->properties_info_table[i] == NULL) {
			return false;
		}
	}
	return true;
}

bool apus_pack_slot(zend_object *object, uint32_t slot, zend_string **name, zval **value)
{
	*value = OBJ_PROP_NUM(object, slot);
	*name = object->ce->properties_info_table[slot]->name;
	return Z_TYPE_P(*value) != IS_UNDEF;
}

static void by_serialize_method(zend_object *object, zval *out)
{
	zend_call_known_instance_method_with_0_params(object->ce->__serialize, object, out);
	if (!EG(exception) && Z_TYPE_P(out) != IS_ARRAY) {
		zend_type_error("%s::__serialize() must return an array", ZSTR_VAL(object->ce->name));
	}
}

/* One member that __sleep() named, under its mangled name. */
static void add_sleeping(zend_object *object, HashTable *table, zend_string *name, HashTable *into)
{
	zend_class_entry *ce = object->ce;
	const char *owners[] = {NULL, ZSTR_VAL(ce->name), "*"};
	for (int i = 0; i < 3; i++) {
		zend_string *key = owners[i] == NULL ? zend_string_copy(name)
			: zend_mangle_property_name(owners[i], strlen(owners[i]), ZSTR_VAL(name), ZSTR_LEN(name), false);
		zval *found = zend_hash_find(table, key);
		if (found != NULL && Z_TYPE_P(found) == IS_INDIRECT) {
			found = Z_INDIRECT_P(found);
			if (Z_TYPE_P(found) == IS_UNDEF) {
				zend_property_info *info = zend_get_typed_property_info_for_slot(object, found);
				if (info != NULL) {
					zend_throw_error(NULL,
						"Typed property %s::$%s must not be accessed before initialization (in __sleep)",
						ZSTR_VAL(info->ce->name), ZSTR_VAL(name));
					zend_string_release(key);
					return;
				}
				found = NULL;
			}
		}
		if (found != NULL) {
			Z_TRY_ADDREF_P(found);
			zend_hash_update(into, key, found);
			zend_string_release(key);
			return;
		}
		zend_string_release(key);
	}
	zend_error(E_WARNING, "Apus\\pack(): \"%s\" returned as member variable from __sleep() but does not exist",
		ZSTR_VAL(name));
}

static apus_form by_sleep(zend_object *object, zend_function *sleep, zval *out)
{
	zval names, *name;
	ZVAL_UNDEF(&names);
	zend_call_known_instance_method_with_0_params(sleep, object, &names);
	if (EG(exception)) {
		zval_ptr_dtor(&names);
		return APUS_FORM_NULL;
	}
	if (Z_TYPE(names) != IS_ARRAY) {
		zval_ptr_dtor(&names);
		zend_error(E_WARNING,
			"Apus\\pack(): %s::__sleep() should return an array only containing the names of instance-variables to serialize",
			ZSTR_VAL(object->ce->name));
		return APUS_FORM_NULL;
	}
	zval self;
	ZVAL_OBJ(&self, object);
	HashTable *table = zend_get_properties_for(&self, ZEND_PROP_PURPOSE_SERIALIZE);
	array_init_size(out, zend_hash_num_elements(Z_ARRVAL(names)));
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL(names), name) {
		ZVAL_DEREF(name);
		if (Z_TYPE_P(name) != IS_STRING) {
			zend_error(E_WARNING,
				"Apus\\pack(): %s::__sleep() should return an array only containing the names of instance-variables to serialize",
				ZSTR_VAL(object->ce->name));
		}
		zend_string *text = zval_try_get_string(name);
		if (text != NULL) {
			add_sleeping(object, table, text, Z_ARRVAL_P(out));
			zend_string_release(text);
		}
		if (EG(exception)) {
			break;
		}
	} ZEND_HASH_FOREACH_END();
	zend_release_properties(table);
	zval_ptr_dtor(&names);
	return APUS_FORM_TABLE;
}

static apus_form by_serializable(zend_object *object, zval *out)
{
	unsigned char *bytes = NULL;
	size_t len = 0;
	zval self;
	ZVAL_OBJ(&self, object);
	if (object->ce->serialize(&self, &bytes, &len, NULL) != SUCCESS) {
		return APUS_FORM_NULL;
	}
	ZVAL_STRINGL(out, (char *) bytes, len);
	efree(bytes);
	return APUS_FORM_TEXT;
}

static void by_table(zend_object *object, zval *out)
{
	zval self;
	ZVAL_OBJ(&self, object);
	HashTable *table = zend_get_properties_for(&self, ZEND_PROP_PURPOSE_SERIALIZE);
	if (table == NULL) {
		array_init(out);
		return;
	}
	if (object->ce == php_ce_incomplete_class) {
		HashTable *without = zend_array_dup(table);
		zend_hash_str_del(without, MAGIC_MEMBER, sizeof(MAGIC_MEMBER) - 1);
		zend_release_properties(table);
		table = without;
	}
	ZVAL_ARR(out, table);
	if (GC_FLAGS(table) & GC_IMMUTABLE) {
		Z_TYPE_FLAGS_P(out) = 0;
	}
}

static apus_form describe(zend_object *object, zval *out, zend_string **class_name)
{
	zend_class_entry *ce = object->ce;
	if (ce->ce_flags & ZEND_ACC_ENUM) {
		*class_name = zend_string_copy(ce->name);
		ZVAL_COPY(out, zend_enum_fetch_case_name(object));
		return APUS_FORM_ENUM;
	}
	if (ce->ce_flags & ZEND_ACC_NOT_SERIALIZABLE) {
		zend_throw_exception_ex(NULL, 0, "Serialization of '%s' is not allowed", ZSTR_VAL(ce->name));
		return APUS_FORM_NULL;
	}
	if (ce == php_ce_incomplete_class) {
		*class_name = php_lookup_class_name(object);
	}
	if (*class_name == NULL) {
		*class_name = zend_string_copy(ce->name);
	}
	if (ce->__serialize != NULL) {
		by_serialize_method(object, out);
		return APUS_FORM_TABLE;
	}
	if (ce->serialize != NULL) {
		return by_serializable(object, out);
	}
	zend_function *sleep = ce == php_ce_incomplete_class ? NULL
		: zend_hash_str_find_ptr(&ce->function_table, "__sleep", sizeof("__sleep") - 1);
	if (sleep != NULL) {
		return by_sleep(object, sleep, out);
	}
	if (only_slots(object)) {
		return APUS_FORM_SLOTS;
	}
	by_table(object, out);
	return APUS_FORM_TABLE;
}

apus_status apus_pack_object(zend_object *object, apus_form *form, zval *out, zend_string **class_name)
{
	apus_status status;
	ZVAL_UNDEF(out);
	*class_name = NULL;
	*form = APUS_FORM_NULL;
	GUARDED_STATUS(status, *form = describe(object, out, class_name));
	return status;
}

/* ---- reading ---- */

bool apus_unpack_exhausted(void)
{
#ifdef ZEND_HAS_OOM
	return ZEND_HAS_OOM();
#else
	return false;
#endif
}

zend_reference *apus_unpack_reference(void)
{
	zend_reference *volatile reference = NULL;
	apus_try {
		zval value;
		ZVAL_NEW_EMPTY_REF(&value);
		ZVAL_NULL(Z_REFVAL(value));
		reference = Z_REF(value);
	} apus_catch {
	} apus_end_try();
	return reference;
}

/* What the ini directive unserialize_callback_func names may define the class, as for unserialize(). */
static zend_class_entry *by_callback(zend_string *class_name)
{
	if (PG(unserialize_callback_func) == NULL || PG(unserialize_callback_func)[0] == '\0') {
		return NULL;
	}
	zval function, argument, result;
	ZVAL_STRING(&function, PG(unserialize_callback_func));
	ZVAL_STR_COPY(&argument, class_name);
	ZVAL_UNDEF(&result);
	if (call_user_function(NULL, NULL, &function, &result, 1, &argument) != SUCCESS && !EG(exception)) {
		zend_error(E_WARNING, "Apus\\unpack(): defined (%s) but not found", Z_STRVAL(function));
	}
	zval_ptr_dtor(&result);
	zval_ptr_dtor(&argument);
	zval_ptr_dtor(&function);
	return EG(exception) ? NULL : zend_lookup_class_ex(class_name, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD);
}

static void make_object(zend_string *class_name, bool allowed, apus_made *made)
{
	zend_class_entry *ce = allowed ? zend_lookup_class(class_name) : NULL;
	if (ce == NULL && allowed && !EG(exception)) {
		ce = by_callback(class_name);
	}
	if (EG(exception)) {
		return;
	}
	zval object;
	ZVAL_UNDEF(&object);
	if (ce == NULL) {
		if (object_init_ex(&object, php_ce_incomplete_class) == SUCCESS) {
			php_store_class_name(&object, class_name);
			made->object = Z_OBJ(object);
		}
		return;
	}
	if (ce->ce_flags & (ZEND_ACC_NOT_SERIALIZABLE | ZEND_ACC_ENUM)) {
		zend_throw_exception_ex(NULL, 0, "Unserialization of '%s' is not allowed", ZSTR_VAL(ce->name));
		return;
	}
	made->ce = ce;
	made->unserialize = ce->__unserialize != NULL;
	made->serialized = ce->unserialize != NULL && !made->unserialize;
	if (made->serialized || object_init_ex(&object, ce) != SUCCESS) {
		return;
	}
	made->object = Z_OBJ(object);
	made->wakeup = !made->unserialize && ce != php_ce_incomplete_class
		&& zend_hash_str_exists(&ce->function_table, "__wakeup", sizeof("__wakeup") - 1);
}

apus_status apus_unpack_object(zend_string *class_name, bool allowed, apus_made *made)
{
	apus_status status;
	memset(made, 0, sizeof(*made));
	GUARDED_STATUS(status, make_object(class_name, allowed, made));
	return status;
}

apus_status apus_unpack_text(zend_class_entry *ce, zval *object, const char *bytes, size_t len)
{
	apus_status status;
	ZVAL_UNDEF(object);
	GUARDED_STATUS(status, {
		if (ce->unserialize(object, ce, (const unsigned char *) bytes, len, NULL) != SUCCESS && !EG(exception)) {
			zend_throw_exception_ex(NULL, 0, "%s::unserialize() failed", ZSTR_VAL(ce->name));
		}
	});
	return status;
}

/* The declared property that a mangled name means today: its visibility may have changed since. NULL: none. */
static zend_property_info *declared(zend_class_entry *ce, zend_string *name)
{
	const char *owner, *plain;
	size_t len;
	if (zend_unmangle_property_name_ex(name, &owner, &plain, &len) != SUCCESS) {
		return NULL;
	}
	zend_property_info *info = NULL;
	if (owner == NULL || strcmp(owner, "*") == 0 || strcasecmp(owner, ZSTR_VAL(ce->name)) == 0) {
		info = zend_hash_str_find_ptr(&ce->properties_info, plain, len);
	} else {
		for (zend_class_entry *parent = ce->parent; parent != NULL; parent = parent->parent) {
			if (strcasecmp(owner, ZSTR_VAL(parent->name)) == 0) {
				info = zend_hash_str_find_ptr(&parent->properties_info, plain, len);
				info = info != NULL && (info->flags & ZEND_ACC_PRIVATE) ? info : NULL;
				break;
			}
		}
	}
#if PHP_VERSION_ID >= 80400
	if (info != NULL && (info->flags & ZEND_ACC_VIRTUAL)) {
		return NULL;
	}
#endif
	return info != NULL && !(info->flags & ZEND_ACC_STATIC) ? info : NULL;
}

static void write_declared(zend_object *object, zend_property_info *info, zval *value)
{
	zval *slot = OBJ_PROP(object, info->offset);
	bool typed = ZEND_TYPE_IS_SET(info->type);
	if (typed) {
		if (!zend_verify_prop_assignable_by_ref(info, value, true)) {
			zval_ptr_dtor(value);
			return;
		}
		if (Z_ISREF_P(value)) {
			ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(value), info);
		}
		if (Z_ISREF_P(slot)) {
			ZEND_REF_DEL_TYPE_SOURCE(Z_REF_P(slot), info);
		}
	}
	zval old;
	ZVAL_COPY_VALUE(&old, slot);
	ZVAL_COPY_VALUE(slot, value);
	Z_PROP_FLAG_P(slot) = 0;
	zval_ptr_dtor(&old);
}

static void write_dynamic(zend_object *object, zend_string *name, zval *value)
{
	zend_class_entry *ce = object->ce;
	const char *verb = NULL;
	if (ce->ce_flags & ZEND_ACC_NO_DYNAMIC_PROPERTIES) {
		zend_throw_error(NULL, "Cannot create dynamic property %s::$%s", ZSTR_VAL(ce->name),
			zend_get_unmangled_property_name(name));
		verb = "";
	} else if (!(ce->ce_flags & ZEND_ACC_ALLOW_DYNAMIC_PROPERTIES)) {
		zend_error(E_DEPRECATED, "Creation of dynamic property %s::$%s is deprecated", ZSTR_VAL(ce->name),
			zend_get_unmangled_property_name(name));
	}
	if (verb != NULL || EG(exception)) {
		zval_ptr_dtor(value);
		return;
	}
	HashTable *table = object->handlers->get_properties(object);
	zend_hash_update(table, name, value);
}

void apus_unpack_property(zend_object *object, zend_string *name, zval *value, uint32_t *next)
{
	zend_class_entry *ce = object->ce;
	const bool is_slot = *next < (uint32_t) ce->default_properties_count;
	zend_property_info *info = is_slot ? ce->properties_info_table[*next] : NULL;
	if (info == NULL || info->name != name) {
		info = declared(ce, name);
	}
	if (info != NULL) {
		*next = OBJ_PROP_TO_NUM(info->offset) + 1;
		write_declared(object, info, value);
	} else {
		write_dynamic(object, name, value);
	}
}

apus_status apus_unpack_finish(zend_object *object, zval *data)
{
	apus_status status;
	GUARDED_STATUS(status, {
		if (data != NULL) {
			zend_call_known_instance_method_with_1_params(object->ce->__unserialize, object, NULL, data);
		} else {
			zval ret;
			zend_function *wakeup = zend_hash_str_find_ptr(&object->ce->function_table, "__wakeup",
				sizeof("__wakeup") - 1);
			ZVAL_UNDEF(&ret);
			zend_call_known_instance_method_with_0_params(wakeup, object, &ret);
			zval_ptr_dtor(&ret);
		}
	});
	return status;
}

void apus_unpack_spoiled(zend_object *object)
{
	GC_ADD_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED);
}

static zend_object *find_case(zend_string *class_name, zend_string *name)
{
	zend_class_entry *ce = zend_lookup_class(class_name);
	if (ce == NULL || EG(exception) || !(ce->ce_flags & ZEND_ACC_ENUM)) {
		return NULL;
	}
	zend_class_constant *constant = zend_hash_find_ptr(CE_CONSTANTS_TABLE(ce), name);
	if (constant == NULL || !(ZEND_CLASS_CONST_FLAGS(constant) & ZEND_CLASS_CONST_IS_CASE)) {
		return NULL;
	}
	zend_object *found = zend_enum_get_case(ce, name);
	if (found != NULL) {
		GC_ADDREF(found);
	}
	return found;
}

apus_status apus_unpack_case(zend_string *class_name, zend_string *name, zend_object **out)
{
	apus_status status;
	*out = NULL;
	GUARDED_STATUS(status, *out = find_case(class_name, name));
	return status;
}
