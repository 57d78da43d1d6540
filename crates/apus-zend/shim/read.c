/* Making values of packed bytes, in one pass. The bytes may come from anywhere: none is looked at before it is known to
 * be there, and no array is made for more elements than the bytes that are left can hold. What has a number of its own
 * (objects, references) is left to Rust, which comes back afterwards. Numbers and strings are read in apus_read.h. */
#include "apus_shim.h"
#include "apus_read.h"

/* apus_unpack_exhausted() without a call. */
#ifdef ZEND_HAS_OOM
# define EXHAUSTED() ZEND_HAS_OOM()
#else
# define EXHAUSTED() false
#endif

/* ---- keys ---- */

/* Puts null under a key that is not there yet into an array that has room, taking the reference; NULL: it is there. */
static zend_always_inline zval *put_new(zend_array *map, zend_string *key)
{
	const zend_ulong hash = ZSTR_HASH(key);
	const uint32_t chain = hash | map->nTableMask;
	Bucket *const buckets = map->arData;
	const uint32_t first = HT_HASH_EX(buckets, chain);
	for (uint32_t at = first; at != HT_INVALID_IDX; at = Z_NEXT(HT_HASH_TO_BUCKET_EX(buckets, at)->val)) {
		const Bucket *other = HT_HASH_TO_BUCKET_EX(buckets, at);
		if (UNEXPECTED(other->h == hash && other->key != NULL && zend_string_equals(other->key, key))) {
			return NULL;
		}
	}
	if (!ZSTR_IS_INTERNED(key)) {
		HT_FLAGS(map) &= ~HASH_FLAG_STATIC_KEYS;
	}
	const uint32_t index = map->nNumUsed++;
	map->nNumOfElements++;
	Bucket *bucket = buckets + index;
	bucket->key = key;
	bucket->h = hash;
	ZVAL_NULL(&bucket->val);
	Z_NEXT(bucket->val) = first;
	HT_HASH_EX(buckets, chain) = HT_IDX_TO_HASH(index);
	return &bucket->val;
}

static zend_never_inline zval *put_index(zend_array *map, zend_ulong index)
{
	zval null;
	ZVAL_NULL(&null);
	return zend_hash_index_add(map, index, &null);
}

/* The same into one that may have to grow. */
static zend_never_inline zval *put_anywhere(zend_array *map, zend_string *key)
{
	zval null;
	ZVAL_NULL(&null);
	zval *to = zend_hash_add(map, key, &null);
	zend_string_release(key);
	return to;
}

static zend_always_inline zval *put_text(apus_reader *reader, zend_string *key, zend_array *map, bool room)
{
	zend_ulong index;
	zval *to;
	if (UNEXPECTED(ZEND_HANDLE_NUMERIC_STR(ZSTR_VAL(key), ZSTR_LEN(key), index))) {
		/* The array does not keep it, and it may be mentioned again. */
		apus_reader_own(reader);
		zend_string_release(key);
		return put_index(map, index);
	}
	if (!room) {
		return put_anywhere(map, key);
	}
	to = put_new(map, key);
	if (UNEXPECTED(to == NULL)) {
		zend_string_release(key);
	}
	return to;
}

/* An integer that serves as a key and whose tag was read. */
static zend_always_inline bool read_index(reading *now, unsigned char tag, zend_long *index)
{
	if (tag < APUS_TAG_SHORT_TEXT) {
		*index = tag;
		return true;
	}
	if (UNEXPECTED(tag < APUS_TAG_INT_1 || tag > APUS_TAG_INT_8)) {
		now->failed = APUS_READ_NO_KEY;
		return false;
	}
	const unsigned width = 1u << (tag - APUS_TAG_INT_1);
	if (UNEXPECTED(width > left(now))) {
		now->failed = APUS_READ_SHORT;
		return false;
	}
	*index = int_at(now->at, tag);
	now->at += width;
	return true;
}

/* Reads the next key of an array, and makes its place; NULL: it failed. */
static zend_always_inline zval *key(reading *now, unsigned char tag, bool room)
{
	zend_array *map = now->top->of.array;
	zend_long index;
	zval *to;
	if (EXPECTED(is_text(tag))) {
		zend_string *name = text(now, tag, true);
		if (UNEXPECTED(name == NULL)) {
			return NULL;
		}
		to = put_text(now->reader, name, map, room);
	} else if (read_index(now, tag, &index)) {
		to = put_index(map, (zend_ulong) index);
	} else {
		return NULL;
	}
	if (UNEXPECTED(to == NULL)) {
		now->failed = APUS_READ_TWICE;
	}
	return to;
}

/* ---- arrays ---- */

static zend_array *numbers(const unsigned char *at, unsigned char tag, uint32_t count)
{
	zend_array *made = zend_new_array(count);
	zend_hash_real_init_packed(made);
	zval *to = made->arPacked, *end = to + count;
#define FILL(width, set) for (; to < end; to++, at += (width)) { set; }
	switch (tag) {
		case APUS_TAG_INTS_1: FILL(1, ZVAL_LONG(to, (int8_t) *at)); break;
		case APUS_TAG_INTS_2: FILL(2, ZVAL_LONG(to, (int16_t) number_at(at, 2))); break;
		case APUS_TAG_INTS_4: FILL(4, ZVAL_LONG(to, (int32_t) number_at(at, 4))); break;
		case APUS_TAG_INTS_8: FILL(8, ZVAL_LONG(to, (zend_long) number_at(at, 8))); break;
		default: FILL(8, ZVAL_DOUBLE(to, double_at(at)));
	}
#undef FILL
	made->nNumUsed = made->nNumOfElements = count;
	made->nNextFreeElement = count;
	return made;
}

static zend_always_inline bool read_numbers(reading *now, unsigned char tag, zval *to)
{
	static const uint8_t widths[] = {1, 2, 4, 8, 8};
	const size_t width = widths[tag - APUS_TAG_INTS_1];
	size_t count;
	if (!read_count(now, &count) || !fits(now, count, width, 0)) {
		return false;
	}
	if (count == 0) {
		ZVAL_EMPTY_ARRAY(to);
		return true;
	}
	Z_ARR_P(to) = numbers(now->at, tag, (uint32_t) count);
	Z_TYPE_INFO_P(to) = IS_ARRAY_EX;
	now->at += count * width;
	return true;
}

/* Bytes that a frame still needs at least. */
static zend_always_inline size_t owed(const apus_frame *frame)
{
	return frame->kind == APUS_FRAME_LIST ? frame->left : frame->kind == APUS_FRAME_MAP ? (size_t) frame->left * 2 : 0;
}

/* An array that is reached from where it belongs before anything is in it: whatever happens, it is released with that.
 * Its elements come next, and need no allocation. */
static zend_always_inline bool open_array(reading *now, zval *to, size_t count, bool list)
{
	apus_reader *reader = now->reader;
	if (count == 0) {
		Z_ARR_P(to) = (zend_array *) &zend_empty_array;
		Z_TYPE_INFO_P(to) = IS_ARRAY;
		return true;
	}
	const size_t around = reader->owed + owed(now->top);
	if (UNEXPECTED(!fits(now, count, list ? 1 : 2, around))) {
		return false;
	}
	if (UNEXPECTED(EXHAUSTED())) {
		now->failed = APUS_READ_EXHAUSTED;
		return false;
	}
	if (UNEXPECTED(reader->depth == APUS_PACK_DEPTH || now->top == reader->frames + APUS_PACK_FRAMES - 1)) {
		now->failed = APUS_READ_DEEP;
		return false;
	}
	zend_array *made = zend_new_array((uint32_t) count);
	Z_ARR_P(to) = made;
	Z_TYPE_INFO_P(to) = IS_ARRAY_EX;
	if (list) {
		zend_hash_real_init_packed(made);
		made->nNumOfElements = (uint32_t) count;
		made->nNextFreeElement = (zend_long) count;
	} else {
		zend_hash_real_init_mixed(made);
	}
	reader->owed = around;
	reader->depth++;
	apus_frame *top = ++now->top;
	top->of.array = made;
	top->slot = list ? made->arPacked : NULL;
	top->left = (uint32_t) count;
	top->kind = list ? APUS_FRAME_LIST : APUS_FRAME_MAP;
	return true;
}

static zend_always_inline bool read_array(reading *now, unsigned char tag, zval *to)
{
	size_t count;
	if (tag < APUS_TAG_SHORT_MAP) {
		return open_array(now, to, tag - APUS_TAG_SHORT_LIST, true);
	}
	if (tag < APUS_TAG_NULL) {
		return open_array(now, to, tag - APUS_TAG_SHORT_MAP, false);
	}
	return read_count(now, &count) && open_array(now, to, count, tag == APUS_TAG_LIST);
}

/* ---- values ---- */

/* An integer or a float whose tag was read. */
static zend_always_inline bool read_number(reading *now, unsigned char tag, zval *to)
{
	static const uint8_t widths[] = {8, 4, 1, 2, 4, 8};
	const unsigned width = widths[tag - APUS_TAG_FLOAT];
	if (UNEXPECTED(width > left(now))) {
		now->failed = APUS_READ_SHORT;
		return false;
	}
	if (tag == APUS_TAG_FLOAT) {
		ZVAL_DOUBLE(to, double_at(now->at));
	} else if (tag == APUS_TAG_FLOAT_4) {
		ZVAL_DOUBLE(to, float_at(now->at));
	} else {
		ZVAL_LONG(to, int_at(now->at, tag));
	}
	now->at += width;
	return true;
}

/* Reads a value whose tag was read into a place that holds null. */
static zend_always_inline bool value(reading *now, unsigned char tag, zval *to)
{
	if (tag < APUS_TAG_SHORT_TEXT) {
		ZVAL_LONG(to, tag);
		return true;
	}
	if (EXPECTED(is_text(tag))) {
		zend_string *made = text(now, tag, false);
		if (UNEXPECTED(made == NULL)) {
			return false;
		}
		set_text(to, made);
		return true;
	}
	if (tag < APUS_TAG_NULL || tag == APUS_TAG_LIST || tag == APUS_TAG_MAP) {
		return read_array(now, tag, to);
	}
	if (tag <= APUS_TAG_TRUE) {
		Z_TYPE_INFO_P(to) = tag == APUS_TAG_NULL ? IS_NULL : tag == APUS_TAG_FALSE ? IS_FALSE : IS_TRUE;
		return true;
	}
	if (tag <= APUS_TAG_INT_8) {
		return read_number(now, tag, to);
	}
	if (EXPECTED(tag <= APUS_TAG_FLOATS)) {
		return read_numbers(now, tag, to);
	}
	now->at--;
	now->reader->to = to;
	now->failed = APUS_READ_OTHER;
	return false;
}

/* The property whose value has been read, if there is one. */
static zend_always_inline bool write_property(reading *now)
{
	apus_frame *top = now->top;
	zend_string *name = top->name;
	if (name != NULL) {
		zval property;
		ZVAL_COPY_VALUE(&property, top->slot);
		ZVAL_NULL(top->slot);
		apus_unpack_property(top->of.object, name, &property, &top->next);
		top->name = NULL;
		zend_string_release(name);
		if (UNEXPECTED(EG(exception))) {
			now->failed = APUS_READ_THROWN;
			return false;
		}
	}
	return true;
}

/* Reads the name of the next property, whose value goes by way of the frame's slot; NULL: it failed. */
static zend_always_inline zval *property(reading *now, unsigned char tag)
{
	zend_long index;
	if (EXPECTED(is_text(tag))) {
		now->top->name = text(now, tag, true);
	} else if (read_index(now, tag, &index)) {
		now->top->name = zend_long_to_str(index);
	}
	return now->top->name != NULL ? now->top->slot : NULL;
}

/* The next byte of what is not at its end. */
static zend_always_inline bool next(reading *now, unsigned char *tag)
{
	if (UNEXPECTED(now->at == now->end)) {
		now->failed = APUS_READ_SHORT;
		return false;
	}
	*tag = *now->at++;
	return true;
}

/* Reads what stands before the next value of the innermost frame, which is not full, and makes its place; NULL: it
 * failed, or the end stands there. */
static zend_always_inline zval *place(reading *now)
{
	apus_frame *top = now->top;
	unsigned char tag;
	switch (top->kind) {
		case APUS_FRAME_LIST:
			top->left--;
			top->of.array->nNumUsed++;
			ZVAL_NULL(top->slot);
			return top->slot++;
		case APUS_FRAME_VALUE:
			top->left--;
			return top->slot;
		case APUS_FRAME_MAP:
			top->left--;
			return EXPECTED(next(now, &tag)) ? key(now, tag, true) : NULL;
		default:
			if (top->kind == APUS_FRAME_PROPERTIES && !write_property(now)) {
				return NULL;
			}
			if (!next(now, &tag)) {
				return NULL;
			}
			if (tag == APUS_TAG_END) {
				now->failed = APUS_READ_END;
				return NULL;
			}
			return top->kind == APUS_FRAME_PROPERTIES ? property(now, tag) : key(now, tag, false);
	}
}

/* Leaves a full array. False: what is full is a value that Rust began. */
static zend_always_inline bool leave(reading *now)
{
	if (UNEXPECTED(now->top->kind == APUS_FRAME_VALUE)) {
		now->failed = APUS_READ_WHOLE;
		return false;
	}
	now->top--;
	now->reader->depth--;
	now->reader->owed -= owed(now->top);
	return true;
}

/* An array of which nobody knows how long it will be is made when it is first come to. */
static void make_table(apus_frame *frame)
{
	if (frame->kind == APUS_FRAME_TABLE && frame->of.array == NULL) {
		frame->of.array = zend_new_array(8);
		ZVAL_ARR(frame->slot, frame->of.array);
		zend_hash_real_init_mixed(frame->of.array);
	}
}

static zend_never_inline apus_read read_on(apus_reader *reader)
{
	reading now = {reader, reader->at, reader->end, reader->frames + reader->used - 1, APUS_READ_WHOLE};
	make_table(now.top);
	for (;;) {
		unsigned char tag;
		zval *to;
		if (now.top->left == 0) {
			if (leave(&now)) {
				continue;
			}
			break;
		}
		/* A key and a value are two at most. */
		if (UNEXPECTED(reader->room - reader->known < 2)) {
			now.failed = APUS_READ_ROOM;
			break;
		}
		if (UNEXPECTED((to = place(&now)) == NULL || !next(&now, &tag) || !value(&now, tag, to))) {
			break;
		}
	}
	reader->at = now.at;
	reader->used = now.top - reader->frames + 1;
	return now.failed < APUS_READ_EXHAUSTED && EXHAUSTED() ? APUS_READ_EXHAUSTED : now.failed;
}

apus_read apus_reader_run(apus_reader *reader)
{
	volatile apus_read done = APUS_READ_BAILED;
	QUIETLY(done = read_on(reader));
	return done;
}

static apus_read text_alone(apus_reader *reader, bool name, zend_string **out)
{
	reading now = {reader, reader->at, reader->end, NULL, APUS_READ_NO_TEXT};
	unsigned char tag;
	if (reader->room == reader->known) {
		return APUS_READ_ROOM;
	}
	*out = next(&now, &tag) && is_text(tag) ? text(&now, tag, name) : NULL;
	reader->at = now.at;
	return *out != NULL ? APUS_READ_WHOLE : now.failed;
}

apus_read apus_reader_text(apus_reader *reader, bool name, zend_string **out)
{
	volatile apus_read done = APUS_READ_BAILED;
	*out = NULL;
	QUIETLY(done = text_alone(reader, name, out));
	return done;
}

void apus_reader_close(void)
{
	for (size_t i = 0; i < NAMES; i++) {
		if (met[i].string != NULL) {
			zend_string_release(met[i].string);
			met[i].string = NULL;
		}
	}
}

bool apus_reader_begin(apus_reader *reader, apus_frame_kind kind, zval *slot, zend_object *object)
{
	if (reader->used == APUS_PACK_FRAMES) {
		return false;
	}
	if (reader->used > 0) {
		reader->owed += owed(&reader->frames[reader->used - 1]);
	}
	apus_frame *frame = &reader->frames[reader->used++];
	frame->of.object = object;
	frame->slot = slot;
	frame->name = NULL;
	frame->next = 0;
	frame->left = kind == APUS_FRAME_VALUE ? 1 : UINT32_MAX;
	frame->kind = kind;
	return true;
}

apus_read apus_reader_value(apus_reader *reader, zval *slot)
{
	return apus_reader_begin(reader, APUS_FRAME_VALUE, slot, NULL) ? apus_reader_run(reader) : APUS_READ_DEEP;
}

void apus_reader_end(apus_reader *reader)
{
	reader->used--;
	if (reader->used > 0) {
		reader->owed -= owed(&reader->frames[reader->used - 1]);
	}
}

void apus_reader_own(apus_reader *reader)
{
	if (!reader->owns) {
		for (uint32_t i = 0; i < reader->known; i++) {
			(void) zend_string_copy(reader->texts[i]);
		}
		reader->owns = true;
	}
}

void apus_reader_release(apus_reader *reader)
{
	for (uint32_t i = 0; i < reader->known; i++) {
		zend_string_release(reader->texts[i]);
	}
	for (uint32_t i = 0; i < reader->used; i++) {
		const apus_frame *frame = &reader->frames[i];
		if (frame->kind == APUS_FRAME_PROPERTIES && frame->name != NULL) {
			zend_string_release(frame->name);
		}
	}
}
