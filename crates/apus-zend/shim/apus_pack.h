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
zend_reference *apus_unpack_reference(void); /* to null; NULL: bailed out */

/* ---- read.c: values of packed bytes, objects excepted ---- */

/* What a value begins with. Documented where the bytes are: apus-php's memory/pack/format.rs. */
enum {
	APUS_TAG_SMALL_INT = 0x00, APUS_TAG_SHORT_TEXT = 0x60, APUS_TAG_NEAR_TEXT = 0x80, APUS_TAG_SHORT_LIST = 0xa0,
	APUS_TAG_SHORT_MAP = 0xb0,
	APUS_TAG_NULL = 0xc0, APUS_TAG_FALSE, APUS_TAG_TRUE, APUS_TAG_FLOAT, APUS_TAG_FLOAT_4,
	APUS_TAG_INT_1, APUS_TAG_INT_2, APUS_TAG_INT_4, APUS_TAG_INT_8,
	APUS_TAG_TEXT_1, APUS_TAG_TEXT, APUS_TAG_AGAIN_1, APUS_TAG_AGAIN, APUS_TAG_LIST, APUS_TAG_MAP,
	APUS_TAG_INTS_1, APUS_TAG_INTS_2, APUS_TAG_INTS_4, APUS_TAG_INTS_8, APUS_TAG_FLOATS,
	/* From here on it is Rust that reads. */
	APUS_TAG_OBJECT, APUS_TAG_END, APUS_TAG_WROTE, APUS_TAG_CASE, APUS_TAG_REFERENCE, APUS_TAG_SAME, APUS_TAG_NOTHING,
};

enum {
	APUS_PACK_DEPTH = 1024, /* arrays and objects inside each other */
	APUS_PACK_FRAMES = 2 * APUS_PACK_DEPTH + 2,
	APUS_NUMBERED_LEAST = 2, APUS_NUMBERED_MOST = 255, /* strings of this length are numbered as they come */
};

typedef enum {
	APUS_FRAME_VALUE,      /* one value, into `slot` */
	APUS_FRAME_LIST,       /* `left` elements more, the next into `slot` */
	APUS_FRAME_MAP,        /* `left` keys and elements more */
	APUS_FRAME_TABLE,      /* keys and elements up to APUS_TAG_END */
	APUS_FRAME_PROPERTIES, /* names and values up to APUS_TAG_END, by way of `slot` */
} apus_frame_kind;

/* What is being filled. */
typedef struct {
	union { zend_array *array; zend_object *object; } of;
	zval *slot;
	zend_string *name; /* of the property whose value is in `slot`; one reference */
	uint32_t left;
	uint32_t next; /* the property that is likely to come next */
	uint8_t kind;
} apus_frame;

typedef struct {
	const unsigned char *at, *end; /* what is left of the bytes */
	apus_frame *frames;            /* of APUS_PACK_FRAMES */
	zend_string **texts;           /* the numbered strings so far */
	zval *to;                      /* where the value goes that Rust reads */
	size_t wrong;                  /* the count that APUS_READ_COUNT is about */
	size_t owed;                   /* bytes that arrays around the innermost one still need at least */
	uint32_t known, room;          /* strings in `texts`, and how many fit */
	uint32_t used, depth;          /* frames in use; arrays and objects around what comes next */
	bool owns;                     /* `texts` has a reference to each: needed once PHP code may run */
} apus_reader;

typedef enum {
	APUS_READ_WHOLE, /* the value of the innermost frame */
	APUS_READ_END,   /* the table or the properties of the innermost frame */
	APUS_READ_OTHER, /* up to a tag that Rust is to read: its value goes into the null at `to` */
	APUS_READ_ROOM,  /* `texts` is to be made larger */
	APUS_READ_EXHAUSTED, /* the memory limit was passed: apus_unpack_exhausted() */
	APUS_READ_BAILED,
	APUS_READ_THROWN,
	/* What is wrong with the bytes before `at`. */
	APUS_READ_SHORT, APUS_READ_COUNT, APUS_READ_LONG_COUNT, APUS_READ_AGAIN, APUS_READ_NO_KEY, APUS_READ_NO_TEXT,
	APUS_READ_TWICE, APUS_READ_DEEP,
} apus_read;
/* When a request ends: gives back the names that were kept from one value for the next. */
void apus_reader_close(void);
/* Reads on. Whatever it returns, what is there so far is reached from a frame's slot or object, and can be released. */
apus_read apus_reader_run(apus_reader *reader);
/* Reads a string by itself, where nothing else may be; `name`: one that PHP may have already. APUS_READ_WHOLE: *out has
 * a reference of the caller's. */
apus_read apus_reader_text(apus_reader *reader, bool name, zend_string **out);
/* A frame of Rust's: a value, a table or the properties of an object; `slot` holds null. False: they lie too deep. */
bool apus_reader_begin(apus_reader *reader, apus_frame_kind kind, zval *slot, zend_object *object);
void apus_reader_end(apus_reader *reader);
/* Begins a value and reads on in it. */
apus_read apus_reader_value(apus_reader *reader, zval *slot);
/* The numbered strings get a reference each. */
void apus_reader_own(apus_reader *reader);
/* Gives back what a reader that owns has itself. */
void apus_reader_release(apus_reader *reader);

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
/* For read.c, which catches what it bails out of: writes a property by its mangled name, taking the value's reference;
 * types are held to. *next is the number of the declared property that is likely to be meant, and then of the one after
 * it. */
void apus_unpack_property(zend_object *object, zend_string *name, zval *value, uint32_t *next);
/* __unserialize() with `data`, or __wakeup() when `data` is NULL. */
apus_status apus_unpack_finish(zend_object *object, zval *data);
/* The destructor of an object that was not finished is not to run. */
void apus_unpack_spoiled(zend_object *object);
/* A case of an enumeration; *out is NULL when there is no such. */
apus_status apus_unpack_case(zend_string *class_name, zend_string *name, zend_object **out);

#endif
