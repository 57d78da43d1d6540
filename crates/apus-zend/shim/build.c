/* Making values of what Rust has read and checked: many steps a call, so that one guard serves all. */
#include "apus_shim.h"

/* apus_unpack_exhausted() without a call. */
#ifdef ZEND_HAS_OOM
# define EXHAUSTED() ZEND_HAS_OOM()
#else
# define EXHAUSTED() false
#endif

/* Little-endian, wherever it lies. */
static zend_always_inline zend_ulong number_at(const unsigned char *at, unsigned width)
{
	zend_ulong number = 0;
	for (unsigned i = 0; i < width; i++) {
		number |= (zend_ulong) at[i] << (8 * i);
	}
	return number;
}

static zend_array *numbers(const apus_step *step)
{
	const unsigned char *at = (const unsigned char *) step->of.bytes;
	zend_array *made = zend_new_array(step->count);
	zend_hash_real_init_packed(made);
	zval *to = made->arPacked, *end = to + step->count;
#define FILL(width, set) for (; to < end; to++, at += (width)) { set; }
	switch (step->kind) {
		case APUS_STEP_INTS_1: FILL(1, ZVAL_LONG(to, (int8_t) *at)); break;
		case APUS_STEP_INTS_2: FILL(2, ZVAL_LONG(to, (int16_t) number_at(at, 2))); break;
		case APUS_STEP_INTS_4: FILL(4, ZVAL_LONG(to, (int32_t) number_at(at, 4))); break;
		case APUS_STEP_INTS_8: FILL(8, ZVAL_LONG(to, (zend_long) number_at(at, 8))); break;
		default:
			FILL(8, {
				const zend_ulong bits = number_at(at, 8);
				double value;
				memcpy(&value, &bits, sizeof(value));
				ZVAL_DOUBLE(to, value);
			});
	}
#undef FILL
	made->nNumUsed = made->nNumOfElements = step->count;
	made->nNextFreeElement = step->count;
	return made;
}

/* A string of one's own, or one that everybody has. */
static zend_always_inline zend_string *text(apus_build *build, const apus_step *step)
{
	zend_string *made;
	if (step->count <= 1) {
		return step->count == 0 ? ZSTR_EMPTY_ALLOC() : ZSTR_CHAR((zend_uchar) step->of.bytes[0]);
	}
	made = step->name ? zend_string_init_existing_interned(step->of.bytes, step->count, 0)
		: zend_string_init(step->of.bytes, step->count, 0);
	if (step->numbered) {
		/* Released with the others at the end. */
		build->texts[build->known++] = made;
		if (!ZSTR_IS_INTERNED(made)) {
			GC_ADDREF(made);
		}
	}
	return made;
}

/* Where the next value goes: NULL when none may come here. */
static zend_always_inline zval *place(const apus_frame *top)
{
	return top->left != 0 ? top->slot : NULL;
}

/* The place has been filled. */
static zend_always_inline void advance(apus_frame *top)
{
	top->left--;
	if (top->map) {
		top->slot = NULL;
	} else if (top->array != NULL) {
		top->array->nNumUsed++;
		top->slot++;
	}
}

/* An array that is full is left, and those that end with it. The first frame of a value has no array, and stays. */
static zend_always_inline void leave_full(apus_build *build)
{
	while (build->frames[build->top].left == 0 && build->frames[build->top].array != NULL) {
		build->top--;
	}
}

/* An array that is reached from where it belongs before anything is in it: whatever happens, it is released with that.
 * Its first `count` elements need no allocation. */
static zend_always_inline void open_array(apus_build *build, zval *to, const apus_step *step)
{
	const bool map = step->kind != APUS_STEP_LIST;
	zend_array *made = zend_new_array(step->count);
	Z_ARR_P(to) = made;
	Z_TYPE_INFO_P(to) = IS_ARRAY_EX;
	advance(&build->frames[build->top]);
	if (map) {
		zend_hash_real_init_mixed(made);
	} else {
		zend_hash_real_init_packed(made);
		made->nNumOfElements = step->count;
		made->nNextFreeElement = step->count;
	}
	build->frames[++build->top] = (apus_frame) {
		.array = made, .slot = map ? NULL : made->arPacked,
		.left = step->kind == APUS_STEP_TABLE ? UINT32_MAX : step->count, .map = map,
	};
}

/* Only parts of a zval in a hash are the value's: the rest links to the next of its chain. */
#define SET_STRING(to, string) do { \
		zend_string *set = (string); \
		Z_STR_P(to) = set; \
		Z_TYPE_INFO_P(to) = ZSTR_IS_INTERNED(set) ? IS_INTERNED_STRING_EX : IS_STRING_EX; \
	} while (0)

/* NULL: the key is there already. */
static zend_always_inline zval *add_text(zend_array *map, zend_string *key)
{
	zval null;
	zend_ulong index;
	ZVAL_NULL(&null);
	if (ZEND_HANDLE_NUMERIC_STR(ZSTR_VAL(key), ZSTR_LEN(key), index)) {
		return zend_hash_index_add(map, index, &null);
	}
	return zend_hash_add(map, key, &null);
}

/* A string that came before; NULL: there is no such. */
static zend_always_inline zend_string *again(const apus_build *build, const apus_step *step)
{
	zend_string *known = step->of.number < build->known ? build->texts[step->of.number] : NULL;
	if (known != NULL && !ZSTR_IS_INTERNED(known)) {
		GC_ADDREF(known);
	}
	return known;
}

static zend_always_inline apus_built key(apus_build *build, apus_frame *top, const apus_step *step)
{
	if (UNEXPECTED(!top->map || top->slot != NULL || top->left == 0)) {
		return APUS_BUILT_WRONG;
	}
	if (step->kind == APUS_STEP_KEY_INDEX) {
		zval null;
		ZVAL_NULL(&null);
		top->slot = zend_hash_index_add(top->array, step->of.number, &null);
	} else {
		zend_string *name = step->kind == APUS_STEP_KEY_TEXT ? text(build, step) : again(build, step);
		if (name == NULL) {
			return APUS_BUILT_WRONG;
		}
		top->slot = add_text(top->array, name);
		zend_string_release(name);
	}
	return top->slot != NULL ? APUS_BUILT : APUS_BUILT_TWICE;
}

/* A value that is whole with this step. */
static zend_always_inline bool whole(apus_build *build, const apus_step *step, zval *to)
{
	zend_string *string;
	switch (step->kind) {
		case APUS_STEP_PLAIN:
			to->value.lval = (zend_long) step->of.number;
			Z_TYPE_INFO_P(to) = step->count;
			return true;
		case APUS_STEP_TEXT:
		case APUS_STEP_AGAIN:
			string = step->kind == APUS_STEP_TEXT ? text(build, step) : again(build, step);
			if (string == NULL) {
				return false;
			}
			Z_STR_P(to) = string;
			Z_TYPE_INFO_P(to) = ZSTR_IS_INTERNED(string) ? IS_INTERNED_STRING_EX : IS_STRING_EX;
			return true;
		case APUS_STEP_EMPTY:
			Z_ARR_P(to) = (zend_array *) &zend_empty_array;
			Z_TYPE_INFO_P(to) = IS_ARRAY;
			return true;
		default:
			Z_ARR_P(to) = numbers(step);
			Z_TYPE_INFO_P(to) = IS_ARRAY_EX;
			return true;
	}
}

/* The end of an array of which nobody knew how long it would be. */
static bool end_table(apus_build *build)
{
	apus_frame *top = &build->frames[build->top];
	if (top->left <= UINT32_MAX >> 1 || top->slot != NULL) {
		return false;
	}
	top->left = 0;
	leave_full(build);
	return true;
}

static zend_never_inline apus_built run(apus_build *build, const apus_step *step, const apus_step *end)
{
	for (; step < end; step++) {
		apus_frame *top = &build->frames[build->top];
		if (step->kind <= APUS_STEP_KEY_INDEX) {
			const apus_built built = key(build, top, step);
			if (UNEXPECTED(built != APUS_BUILT)) {
				return built;
			}
			continue;
		}
		if (step->kind == APUS_STEP_END) {
			if (!end_table(build)) {
				return APUS_BUILT_WRONG;
			}
			continue;
		}
		zval *to = place(top);
		if (to == NULL) {
			return APUS_BUILT_WRONG;
		}
		if (step->kind <= APUS_STEP_TABLE) {
			open_array(build, to, step);
			if (EXHAUSTED()) {
				return APUS_BUILT_EXHAUSTED;
			}
			continue;
		}
		if (!whole(build, step, to)) {
			return APUS_BUILT_WRONG;
		}
		advance(top);
		leave_full(build);
	}
	return EXHAUSTED() ? APUS_BUILT_EXHAUSTED : APUS_BUILT;
}

apus_built apus_build_run(apus_build *build, const apus_step *steps, size_t count)
{
	volatile apus_built built = APUS_BUILT_BAILED;
	QUIETLY(built = run(build, steps, steps + count));
	return built;
}

bool apus_build_put(apus_build *build, const zval *value)
{
	apus_frame *top = &build->frames[build->top];
	zval *to = place(top);
	if (to == NULL) {
		return false;
	}
	to->value = value->value;
	Z_TYPE_INFO_P(to) = Z_TYPE_INFO_P(value);
	advance(top);
	leave_full(build);
	return true;
}

void apus_build_release(zend_string *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		zend_string_release(texts[i]);
	}
}
