/* ---- pack.c: what a serializer needs of arrays and objects ---- */
#ifndef APUS_PACK_H
#define APUS_PACK_H

enum {
	APUS_HASH_PACKED = HASH_FLAG_PACKED,
	APUS_IS_REFERENCE_EX = IS_REFERENCE_EX,
};

/* How an object is to be written. */
typedef enum {
	APUS_FORM_SLOTS, /* by its declared properties, in order; *out holds nothing */
	APUS_FORM_TABLE, /* by the array in *out, mangled names as keys */
	APUS_FORM_TEXT,  /* by the string in *out, which Serializable::serialize() returned */
	APUS_FORM_ENUM,  /* by the name of its case, in *out */
	APUS_FORM_NULL,  /* as null: what serialize() writes for it, too */
} apus_form;
/* Asks the object for its contents; its magic methods run. `out` is released by the caller, *class_name, too. */
apus_status apus_pack_object(zend_object *object, apus_form *form, zval *out, zend_string **class_name);
/* The mangled name of declared property `slot`, the value to write in *value; false: there is nothing in it. */
bool apus_pack_slot(zend_object *object, uint32_t slot, zend_string **name, zval **value);
bool apus_pack_is_real(const zend_object *object); /* not a lazy one that has not been made yet */
uint32_t apus_pack_slots(const zend_object *object);
zend_ulong apus_pack_hash(zend_string *string);

/* The memory limit was passed: PHP says so when the running function has returned, and until then gives more, up to a
 * hard limit. */
bool apus_unpack_exhausted(void);
/* An array whose first `size` elements need no allocation: packed, or with keys of any kind. NULL: bailed out. */
zend_array *apus_unpack_array(uint32_t size, bool list);
/* Puts null under a key into an array with room for it, and says where; NULL: the key is there already. "7" means 7. */
zval *apus_unpack_map_text(zend_array *map, zend_string *key);
zval *apus_unpack_map_index(zend_array *map, zend_ulong key);
/* A string that others may have already. NULL: bailed out. */
zend_string *apus_unpack_name(const char *bytes, size_t len);
zend_reference *apus_unpack_reference(void); /* to null; NULL: bailed out */

typedef struct {
	zend_object *object;    /* one reference */
	zend_class_entry *ce;
	bool unserialize, wakeup; /* what is to be called on it when all is read */
	bool serialized;          /* apus_unpack_text() makes the object; there is none yet */
} apus_made;
/* An object of a class, whose name may have it loaded; an unknown or forbidden class gives a __PHP_Incomplete_Class. No
 * constructor runs. */
apus_status apus_unpack_object(zend_string *class_name, bool allowed, apus_made *made);
/* Has Serializable::unserialize() make an object. */
apus_status apus_unpack_text(zend_class_entry *ce, zval *object, const char *bytes, size_t len);
/* Writes a property by its mangled name, taking the value's reference; types are held to. */
apus_status apus_unpack_property(zend_object *object, zend_string *name, zval *value);
/* __unserialize() with `data`, or __wakeup() when `data` is NULL. */
apus_status apus_unpack_finish(zend_object *object, zval *data);
/* The destructor of an object that was not finished is not to run. */
void apus_unpack_spoiled(zend_object *object);
/* A case of an enumeration; *out is NULL when there is no such. */
apus_status apus_unpack_case(zend_string *class_name, zend_string *name, zend_object **out);

#endif
