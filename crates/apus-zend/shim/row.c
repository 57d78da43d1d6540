#include "apus_shim.h"

/* A shape is an array with the columns' names as keys and null as values, of one owner: a row is a copy of it with its
 * values filled in, and its hash table tells which column a key means. No element is ever removed, so bucket i is
 * column i. */

zend_array *apus_row_shape(const apus_bytes *names, uint32_t count)
{
	zend_array *volatile shape = NULL;
	apus_try {
		zval null;
		ZVAL_NULL(&null);
		shape = zend_new_array(count);
		zend_hash_real_init_mixed(shape);
		for (uint32_t i = 0; i < count; i++) {
			zend_string *name = zend_string_init_interned(names[i].bytes, names[i].len, false);
			zend_hash_update(shape, name, &null);
			zend_string_release(name);
		}
	} apus_catch {
		shape = NULL;
	} apus_end_try();
	return shape;
}

static void fill(zval *value, const apus_cell *cell)
{
	switch (cell->kind) {
	case APUS_CELL_INT:
		ZVAL_LONG(value, cell->of.l);
		break;
	case APUS_CELL_FLOAT:
		ZVAL_DOUBLE(value, cell->of.d);
		break;
	default:
		ZVAL_STRINGL_FAST(value, cell->of.text.bytes, cell->of.text.len);
	}
}

zend_array *apus_row_new(zend_array *shape, const apus_cell *cells)
{
	zend_array *volatile row = NULL;
	apus_try {
		zend_array *array = zend_array_dup(shape);
		for (uint32_t i = 0; i < array->nNumUsed; i++) {
			fill(&array->arData[i].val, &cells[i]);
		}
		row = array;
	} apus_catch {
		/* The request's memory limit is reached; what was built is freed with the request. */
		row = NULL;
	} apus_end_try();
	return row;
}

bool apus_is_thrown(void)
{
	return EG(exception) != NULL;
}

static uint32_t place(const zend_array *shape, const zval *found)
{
	return (uint32_t) ((const Bucket *) found - shape->arData);
}

uint32_t apus_row_match(zend_array *shape, zend_array *given, apus_given *out, zend_string **key, zend_ulong *index)
{
	uint32_t count = 0;
	zend_string *name;
	zend_ulong number;
	zval *value;
	ZEND_HASH_FOREACH_KEY_VAL_IND(given, number, name, value) {
		uint32_t column = count;
		/* Most arrays name the columns in their order, by the very same interned string. */
		if (name == NULL || column >= shape->nNumUsed || shape->arData[column].key != name) {
			const zval *found = name == NULL ? NULL : zend_hash_find(shape, name);
			if (found == NULL) {
				*key = name;
				*index = number;
				return APUS_UNKNOWN_COLUMN;
			}
			column = place(shape, found);
		}
		ZVAL_DEREF(value);
		out[count].column = column;
		out[count].value = value;
		count++;
	} ZEND_HASH_FOREACH_END();
	return count;
}

uint32_t apus_row_column(zend_array *shape, const char *name, size_t len)
{
	const zval *found = zend_hash_str_find(shape, name, len);
	return found == NULL ? APUS_UNKNOWN_COLUMN : place(shape, found);
}

zend_array *apus_list_of_ints(const zend_long *numbers, size_t count)
{
	zend_array *volatile list = NULL;
	apus_try {
		zend_array *array = zend_new_array((uint32_t) count);
		zend_hash_real_init_packed(array);
		ZEND_HASH_FILL_PACKED(array) {
			for (size_t i = 0; i < count; i++) {
				ZEND_HASH_FILL_SET_LONG(numbers[i]);
				ZEND_HASH_FILL_NEXT();
			}
		} ZEND_HASH_FILL_END();
		list = array;
	} apus_catch {
		list = NULL;
	} apus_end_try();
	return list;
}

zend_string *apus_number_text(zval *number)
{
	zend_string *volatile text = NULL;
	apus_try {
		text = zval_get_string(number);
	} apus_catch {
	} apus_end_try();
	return text;
}

bool apus_text_number(const char *text, size_t len, apus_cell *out)
{
	switch (is_numeric_string(text, len, &out->of.l, &out->of.d, false)) {
	case IS_LONG:
		out->kind = APUS_CELL_INT;
		return true;
	case IS_DOUBLE:
		out->kind = APUS_CELL_FLOAT;
		return true;
	default:
		return false;
	}
}
