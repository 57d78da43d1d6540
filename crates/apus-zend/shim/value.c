#include "apus_shim.h"
#include "php_variables.h"
#include "SAPI.h"

bool apus_bailed_in_release;

void apus_bailout(void)
{
	zend_bailout();
}

void apus_zval_release(zval *value)
{
	bool failed = false;
	if (!Z_REFCOUNTED_P(value)) {
		return;
	}
	if (Z_REFCOUNT_P(value) > 1 && (!Z_COLLECTABLE_P(value) || !GC_MAY_LEAK(Z_COUNTED_P(value)))) {
		/* Not the last reference, and nothing that the cycle collector does not know of already. */
		Z_DELREF_P(value);
		return;
	}
	GUARDED(failed, zval_ptr_dtor(value));
	apus_bailed_in_release |= failed;
}

void apus_zvals_release(zval *values, uint32_t count)
{
	volatile uint32_t next = 0;
	while (next < count) {
		bool failed = false;
		GUARDED(failed, {
			while (next < count) {
				zval *value = &values[next];
				next++;
				if (Z_TYPE_P(value) != IS_OBJECT || !apus_object_keep(Z_OBJ_P(value))) {
					zval_ptr_dtor(value);
				}
			}
		});
		apus_bailed_in_release |= failed;
	}
}

apus_status apus_arg_assign(zend_execute_data *ex, uint32_t index, zval *value)
{
	zval *arg = ZEND_CALL_ARG(ex, index + 1);
	bool failed = false;
	if (!Z_ISREF_P(arg)) {
		apus_zval_release(value);
		return APUS_OK;
	}
	GUARDED(failed, ZEND_TRY_ASSIGN_REF_TMP(arg, value));
	return failed ? APUS_BAILED : EG(exception) ? APUS_THREW : APUS_OK;
}

bool apus_take_bailed(void)
{
	bool bailed = apus_bailed_in_release;
	apus_bailed_in_release = false;
	return bailed;
}

bool apus_is_stray(void)
{
	return apus_bailed_in_release || EG(exception) != NULL;
}

zend_string *apus_string_new(const char *bytes, size_t len)
{
	zend_string *volatile string = NULL;
	if (len <= 1) {
		return len == 0 ? ZSTR_EMPTY_ALLOC() : ZSTR_CHAR((zend_uchar) bytes[0]);
	}
	QUIETLY(string = zend_string_init(bytes, len, 0));
	return string;
}

zend_array *apus_array_new(uint32_t size)
{
	zend_array *volatile array = NULL;
	QUIETLY(array = zend_new_array(size));
	return array;
}

/* A string of its own; PHP has those of one byte already. */
static zend_always_inline void make_string(zval *value, const char *bytes, size_t len)
{
	if (len <= 1) {
		ZVAL_INTERNED_STR(value, len == 0 ? ZSTR_EMPTY_ALLOC() : ZSTR_CHAR((zend_uchar) bytes[0]));
	} else {
		ZVAL_NEW_STR(value, zend_string_init(bytes, len, 0));
	}
}

apus_status apus_array_add_field(
	zend_array *array, const char *name, size_t name_len, const char *bytes, size_t len, bool *added)
{
	bool failed = false;
	*added = false;
	GUARDED(failed, {
		zend_string *key = zend_string_alloc(name_len, 0);
		zend_ulong number;
		zend_str_tolower_copy(ZSTR_VAL(key), name, name_len);
		zval *place = ZEND_HANDLE_NUMERIC_STR(ZSTR_VAL(key), name_len, number)
			? zend_hash_index_lookup(array, number) : zend_hash_lookup(array, key);
		zend_string_release(key);
		if (Z_TYPE_P(place) == IS_NULL) {
			make_string(place, bytes, len);
			*added = true;
		}
	});
	return failed ? APUS_BAILED : APUS_OK;
}

apus_status apus_array_add_str(zend_array *array, const char *key, size_t key_len, const char *bytes, size_t len)
{
	bool failed = false;
	GUARDED(failed, {
		zval value;
		make_string(&value, bytes, len);
		zend_symtable_str_update(array, key, key_len, &value);
	});
	return failed ? APUS_BAILED : APUS_OK;
}

apus_status apus_array_add_zval(zend_array *array, const char *key, size_t key_len, zval *value)
{
	bool failed = false;
	GUARDED(failed, zend_symtable_str_update(array, key, key_len, value));
	return failed ? APUS_BAILED : APUS_OK;
}

apus_status apus_array_set_index(zend_array *array, zend_ulong index, zval *value)
{
	bool failed = false;
	GUARDED(failed, zend_hash_index_update(array, index, value));
	return failed ? APUS_BAILED : APUS_OK;
}

apus_status apus_array_push(zend_array *array, zval *value)
{
	bool failed = false;
	GUARDED(failed, zend_hash_next_index_insert(array, value));
	return failed ? APUS_BAILED : APUS_OK;
}

apus_status apus_register_variable(const char *name, const char *bytes, size_t len, zval *array)
{
	bool failed = false;
	GUARDED(failed, {
		zval value;
		ZVAL_STRINGL(&value, bytes, len);
		php_register_variable_ex(name, &value, array);
	});
	return failed ? APUS_BAILED : APUS_OK;
}

apus_status apus_register_cookie(const char *name, const char *bytes, size_t len, zval *array)
{
	/* PHP keeps the first of equal names in the array that it holds for $_COOKIE, and knows that by its address. */
	zval *own = &PG(http_globals)[TRACK_VARS_COOKIE];
	zval kept;
	ZVAL_COPY_VALUE(&kept, own);
	ZVAL_COPY_VALUE(own, array);
	apus_status status = apus_register_variable(name, bytes, len, array);
	ZVAL_COPY_VALUE(own, &kept);
	return status;
}

void apus_replace_numbers(zend_array *array, const zend_array *list)
{
	zval *element;
	ZEND_HASH_FOREACH_VAL(array, element) {
		if (Z_TYPE_P(element) == IS_ARRAY) {
			apus_replace_numbers(Z_ARRVAL_P(element), list);
		} else if (Z_TYPE_P(element) == IS_LONG) {
			zval *value = zend_hash_index_find(list, (zend_ulong) Z_LVAL_P(element));
			if (value != NULL) {
				ZVAL_COPY(element, value);
			}
		}
	} ZEND_HASH_FOREACH_END();
}

apus_status apus_register_value(const char *name, zval *value, zval *array)
{
	bool failed = false;
	GUARDED(failed, php_register_variable_ex(name, value, array));
	return failed ? APUS_BAILED : APUS_OK;
}

static void free_uploaded_name(zval *entry)
{
	zend_string_release(Z_STR_P(entry));
}

apus_status apus_uploaded_file_add(const char *path, size_t len)
{
	bool failed = false;
	GUARDED(failed, {
		if (SG(rfc1867_uploaded_files) == NULL) {
			ALLOC_HASHTABLE(SG(rfc1867_uploaded_files));
			zend_hash_init(SG(rfc1867_uploaded_files), 8, NULL, free_uploaded_name, 0);
		}
		zval name;
		ZVAL_STRINGL(&name, path, len);
		zend_hash_str_update(SG(rfc1867_uploaded_files), path, len, &name);
	});
	return failed ? APUS_BAILED : APUS_OK;
}

void apus_uploaded_file_remove(const char *path, size_t len)
{
	if (SG(rfc1867_uploaded_files) != NULL) {
		zend_hash_str_del(SG(rfc1867_uploaded_files), path, len);
	}
}

bool apus_array_next(zend_array *array, uint32_t *pos, zend_string **key, zend_ulong *index, zval **value)
{
	HashPosition at = *pos;
	zval *found = zend_hash_get_current_data_ex(array, &at);
	if (found == NULL) {
		return false;
	}
	*key = NULL;
	zend_hash_get_current_key_ex(array, key, index, &at);
	if (Z_TYPE_P(found) == IS_INDIRECT) {
		found = Z_INDIRECT_P(found);
	}
	ZVAL_DEREF(found);
	*value = found;
	zend_hash_move_forward_ex(array, &at);
	*pos = at;
	return true;
}

zval *apus_array_find(zend_array *array, const char *key, size_t key_len)
{
	zval *found = zend_symtable_str_find(array, key, key_len);
	if (found != NULL) {
		ZVAL_DEREF(found);
	}
	return found;
}

uint32_t apus_array_count(const zend_array *array)
{
	return zend_hash_num_elements(array);
}

void apus_zval_copy(zval *to, zval *from)
{
	ZVAL_COPY_DEREF(to, from);
}

void apus_object_addref(zend_object *object)
{
	GC_ADDREF(object);
}

void apus_string_release(zend_string *string)
{
	zend_string_release(string);
}

size_t apus_memory_usage(bool real)
{
	return zend_memory_usage(real);
}
