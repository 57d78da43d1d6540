/* Reading numbers and strings of packed bytes: a part of read.c. */
#ifndef APUS_READ_H
#define APUS_READ_H

/* What read_on() has at hand. Whatever takes it is inlined, so it stays in registers. */
typedef struct {
	apus_reader *reader;
	const unsigned char *at, *end;
	apus_frame *top;
	apus_read failed; /* why there is no string, no key, no array */
} reading;

static zend_always_inline size_t left(const reading *now)
{
	return now->end - now->at;
}

/* Little-endian, wherever it lies. */
static zend_always_inline zend_ulong number_at(const unsigned char *at, unsigned width)
{
	zend_ulong number = 0;
	for (unsigned i = 0; i < width; i++) {
		number |= (zend_ulong) at[i] << (8 * i);
	}
	return number;
}

static zend_always_inline double double_at(const unsigned char *at)
{
	const zend_ulong bits = number_at(at, 8);
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static zend_always_inline double float_at(const unsigned char *at)
{
	const uint32_t bits = number_at(at, 4);
	float value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static zend_always_inline zend_long int_at(const unsigned char *at, unsigned char tag)
{
	switch (tag) {
		case APUS_TAG_INT_1: return (int8_t) *at;
		case APUS_TAG_INT_2: return (int16_t) number_at(at, 2);
		case APUS_TAG_INT_4: return (int32_t) number_at(at, 4);
		default: return (zend_long) number_at(at, 8);
	}
}

/* ---- counts ---- */

/* A count of at most 5 bytes, the lowest seven bits first; NULL: *count is an apus_read. */
static zend_never_inline const unsigned char *count_at(const unsigned char *at, const unsigned char *end, size_t *count)
{
	size_t sum = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		if (at == end) {
			*count = APUS_READ_SHORT;
			return NULL;
		}
		sum |= (size_t) (*at & 0x7f) << shift;
		if ((*at++ & 0x80) == 0) {
			*count = sum;
			return at;
		}
	}
	*count = APUS_READ_LONG_COUNT;
	return NULL;
}

static zend_always_inline bool read_count(reading *now, size_t *count)
{
	const unsigned char *behind = count_at(now->at, now->end, count);
	if (UNEXPECTED(behind == NULL)) {
		now->failed = (apus_read) *count;
		return false;
	}
	now->at = behind;
	return true;
}

/* Whether the bytes that are left can hold so many things of at least `each` bytes. */
static zend_always_inline bool fits(reading *now, size_t count, size_t each, size_t owed)
{
	if (UNEXPECTED(count > left(now) / each || count * each > left(now) - MIN(owed, left(now)))) {
		now->reader->wrong = count;
		now->failed = APUS_READ_COUNT;
		return false;
	}
	return true;
}

/* ---- strings ---- */

/* Short ones without a call, by two copies that may overlap. There are APUS_NUMBERED_LEAST bytes at least. */
static zend_always_inline void copy_bytes(char *to, const unsigned char *from, size_t len)
{
	if (len < 4) {
		memcpy(to, from, 2);
		to[len - 1] = (char) from[len - 1];
	} else if (len <= 8) {
		memcpy(to, from, 4);
		memcpy(to + len - 4, from + len - 4, 4);
	} else if (len <= 16) {
		memcpy(to, from, 8);
		memcpy(to + len - 8, from + len - 8, 8);
	} else if (len <= 32) {
		memcpy(to, from, 16);
		memcpy(to + len - 16, from + len - 16, 16);
	} else {
		memcpy(to, from, len);
	}
}

static zend_always_inline zend_string *copy_text(const unsigned char *bytes, size_t len)
{
	zend_string *made = zend_string_alloc(len, 0);
	copy_bytes(ZSTR_VAL(made), bytes, len);
	ZSTR_VAL(made)[len] = '\0';
	return made;
}

/* Names that were met lately, with a reference each, by their bytes: the same few come again with every value. Two
 * loads tell all bytes of a short one. */
typedef struct {
	uint64_t head, tail;
	zend_string *string;
} met_name;

enum { NAMES = 128, NAME_SHORT = 16 };
static met_name met[NAMES];

static zend_always_inline met_name look_at_name(const unsigned char *bytes, size_t len)
{
	met_name seen = {0, 0, NULL};
	if (len >= 8) {
		memcpy(&seen.head, bytes, 8);
		memcpy(&seen.tail, bytes + len - 8, 8);
	} else if (len >= 4) {
		memcpy(&seen.head, bytes, 4);
		memcpy(&seen.tail, bytes + len - 4, 4);
	} else {
		memcpy(&seen.head, bytes, 2);
		seen.tail = bytes[len - 1];
	}
	return seen;
}

static zend_always_inline zend_string *name_text(const unsigned char *bytes, size_t len)
{
	if (len > NAME_SHORT) {
		return zend_string_init_existing_interned((const char *) bytes, len, 0);
	}
	met_name seen = look_at_name(bytes, len);
	const uint64_t mixed = seen.head ^ (seen.tail + len) * UINT64_C(0xc4ceb9fe1a85ec53);
	met_name *place = &met[mixed * UINT64_C(0xff51afd7ed558ccd) >> 57];
	if (EXPECTED(place->string != NULL && place->head == seen.head && place->tail == seen.tail
			&& ZSTR_LEN(place->string) == len)) {
		return zend_string_copy(place->string);
	}
	seen.string = zend_string_init_existing_interned((const char *) bytes, len, 0);
	if (place->string != NULL) {
		zend_string_release(place->string);
	}
	*place = seen;
	return zend_string_copy(seen.string);
}

/* The next `len` bytes; `name`: as a string that PHP may have already. NULL: it failed. */
static zend_always_inline zend_string *new_text(reading *now, size_t len, bool name)
{
	apus_reader *reader = now->reader;
	zend_string *made;
	if (UNEXPECTED(len > left(now))) {
		now->failed = APUS_READ_SHORT;
		return NULL;
	}
	if (UNEXPECTED(len < APUS_NUMBERED_LEAST)) {
		made = len == 0 ? ZSTR_EMPTY_ALLOC() : ZSTR_CHAR((zend_uchar) *now->at);
		now->at += len;
		return made;
	}
	made = name ? name_text(now->at, len) : copy_text(now->at, len);
	if (EXPECTED(len <= APUS_NUMBERED_MOST)) {
		reader->texts[reader->known++] = made;
		if (UNEXPECTED(reader->owns) && !ZSTR_IS_INTERNED(made)) {
			GC_ADDREF(made);
		}
	}
	now->at += len;
	return made;
}

/* A string that came before. */
static zend_always_inline zend_string *known_text(reading *now, size_t number)
{
	if (UNEXPECTED(number >= now->reader->known)) {
		now->failed = APUS_READ_AGAIN;
		return NULL;
	}
	zend_string *known = now->reader->texts[number];
	if (!ZSTR_IS_INTERNED(known)) {
		GC_ADDREF(known);
	}
	return known;
}

static zend_always_inline bool is_text(unsigned char tag)
{
	return (tag >= APUS_TAG_SHORT_TEXT && tag < APUS_TAG_SHORT_LIST)
		|| (tag >= APUS_TAG_TEXT_1 && tag <= APUS_TAG_AGAIN);
}

/* The string of a tag of is_text() that was read. */
static zend_always_inline zend_string *text(reading *now, unsigned char tag, bool name)
{
	size_t count;
	if (EXPECTED(tag < APUS_TAG_NEAR_TEXT)) {
		return new_text(now, tag - APUS_TAG_SHORT_TEXT, name);
	}
	if (EXPECTED(tag < APUS_TAG_SHORT_LIST)) {
		return known_text(now, tag - APUS_TAG_NEAR_TEXT);
	}
	if (tag == APUS_TAG_TEXT_1 || tag == APUS_TAG_AGAIN_1) {
		if (UNEXPECTED(now->at == now->end)) {
			now->failed = APUS_READ_SHORT;
			return NULL;
		}
		count = *now->at++;
		return tag == APUS_TAG_TEXT_1 ? new_text(now, count, name)
			: known_text(now, count + (APUS_TAG_SHORT_LIST - APUS_TAG_NEAR_TEXT));
	}
	if (!read_count(now, &count)) {
		return NULL;
	}
	if (tag == APUS_TAG_AGAIN) {
		return known_text(now, count);
	}
	return fits(now, count, 1, 0) ? new_text(now, count, name) : NULL;
}

/* Only parts of a zval in a hash are the value's: the rest links to the next of its chain. */
static zend_always_inline void set_text(zval *to, zend_string *set)
{
	Z_STR_P(to) = set;
	Z_TYPE_INFO_P(to) = ZSTR_IS_INTERNED(set) ? IS_INTERNED_STRING_EX : IS_STRING_EX;
}

#endif
