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
/* A string that others may have already. NULL: bailed out. */
zend_string *apus_unpack_name(const char *bytes, size_t len);
zend_reference *apus_unpack_reference(void); /* to null; NULL: bailed out */

/* ---- build.c: values without objects, in steps ---- */

typedef enum {
	/* Keys of a map come first, then arrays that further steps fill, then what is whole with one step. */
	APUS_STEP_KEY_TEXT, APUS_STEP_KEY_AGAIN, APUS_STEP_KEY_INDEX,
	APUS_STEP_LIST, APUS_STEP_MAP, /* of `count` elements, at least one */
	APUS_STEP_TABLE,               /* a map that ends with APUS_STEP_END; room for `count` at first */
	APUS_STEP_PLAIN,               /* a value of no more than `of`, of type `count` */
	APUS_STEP_TEXT,                /* `count` bytes */
	APUS_STEP_AGAIN,               /* numbered string `of.number` */
	APUS_STEP_EMPTY,               /* an empty array */
	APUS_STEP_INTS_1, APUS_STEP_INTS_2, APUS_STEP_INTS_4, APUS_STEP_INTS_8, APUS_STEP_FLOATS, /* a list of numbers */
	APUS_STEP_END,
} apus_step_kind;

typedef struct {
	union { zend_ulong number; const char *bytes; } of;
	uint32_t count;
	uint8_t kind;
	bool name;     /* a string that PHP may know already */
	bool numbered; /* a string that may come again */
} apus_step;

/* What is being filled, and where its next value goes (NULL: a key is next). */
typedef struct {
	zend_array *array; /* NULL: the value itself */
	zval *slot;
	uint32_t left;
	bool map;
} apus_frame;

/* Both arrays have room for what the steps of a call need. */
typedef struct {
	apus_frame *frames;
	zend_string **texts; /* numbered so far, one reference each */
	size_t top, known;
} apus_build;

typedef enum {
	APUS_BUILT,
	APUS_BUILT_TWICE,     /* a key was there already */
	APUS_BUILT_WRONG,     /* a step where it cannot be, or a string that did not come before */
	APUS_BUILT_EXHAUSTED, /* the memory limit was passed: apus_unpack_exhausted() */
	APUS_BUILT_BAILED,
} apus_built;
/* Whatever it returns, what is there so far is reached from the first frame's slot, and can be released. */
apus_built apus_build_run(apus_build *build, const apus_step *steps, size_t count);
/* Moves a value into the next place; false: there is none. */
bool apus_build_put(apus_build *build, const zval *value);

/* Gives the numbered strings back. */
void apus_build_release(zend_string *const *texts, size_t count);

/* ---- objects ---- */

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
