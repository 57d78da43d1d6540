#include "apus_shim.h"
#include "php_network.h"
#include "php_streams.h"
#include <sys/stat.h>

static php_stream *stream_of(zval *value)
{
	ZVAL_DEREF(value);
	return Z_TYPE_P(value) != IS_RESOURCE ? NULL
		: zend_fetch_resource2_ex(value, NULL, php_file_le_stream(), php_file_le_pstream());
}

apus_stream_kind apus_stream_look(zval *value, int *fd)
{
	volatile apus_stream_kind kind = APUS_STREAM_OTHER;
	php_stream *stream = stream_of(value);
	php_socket_t found = -1;
	if (stream == NULL) {
		return APUS_STREAM_NONE;
	}
	/* A wrapper in PHP could run any code to answer. */
	if (stream->ops == &php_stream_userspace_ops) {
		return APUS_STREAM_OTHER;
	}
	apus_try {
		if (php_stream_cast(stream, PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL, (void *) &found,
			false) == SUCCESS) {
			struct stat facts;
			if (found >= 0 && fstat(found, &facts) == 0) {
				bool file = S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode) || S_ISBLK(facts.st_mode);
				kind = !file ? APUS_STREAM_WAITABLE
					: stream->ops == &php_stream_stdio_ops ? APUS_STREAM_FILE : APUS_STREAM_OTHER;
			}
		}
	} apus_catch {
		kind = APUS_STREAM_OTHER;
	} apus_end_try();
	*fd = (int) found;
	return kind;
}

static apus_status ended(bool failed)
{
	return failed ? APUS_BAILED : EG(exception) != NULL ? APUS_THREW : APUS_OK;
}

apus_status apus_stream_read(zval *value, size_t len, zend_string **out)
{
	bool failed = false;
	php_stream *stream = stream_of(value);
	zend_string *volatile bytes = NULL;
	if (stream != NULL) {
		apus_try {
			bytes = php_stream_read_to_str(stream, len);
		} apus_catch {
			failed = true;
		} apus_end_try();
	}
	*out = bytes;
	return ended(failed);
}

bool apus_stream_eof(zval *value)
{
	php_stream *stream = stream_of(value);
	return stream == NULL || (stream->writepos == stream->readpos && stream->eof);
}

bool apus_stream_has_line(zval *value, size_t max)
{
	php_stream *stream = stream_of(value);
	if (stream == NULL || stream->eof || (size_t) (stream->writepos - stream->readpos) >= max) {
		return true;
	}
	return stream->writepos > stream->readpos && php_stream_locate_eol(stream, NULL) != NULL;
}

apus_status apus_stream_fill(zval *value)
{
	bool failed = false;
	php_stream *stream = stream_of(value);
	if (stream != NULL) {
		apus_try {
			/* One more byte than there is asks for one read of the stream's chunk. */
			_php_stream_fill_read_buffer(stream, (size_t) (stream->writepos - stream->readpos) + 1);
		} apus_catch {
			failed = true;
		} apus_end_try();
	}
	return ended(failed);
}

apus_status apus_stream_line(zval *value, size_t max, zend_string **out)
{
	bool failed = false;
	php_stream *stream = stream_of(value);
	zend_string *volatile line = NULL;
	if (stream != NULL) {
		apus_try {
			size_t len = 0;
			zend_string *room = zend_string_alloc(max, false);
			if (php_stream_get_line(stream, ZSTR_VAL(room), max + 1, &len) == NULL) {
				zend_string_efree(room);
			} else {
				room = zend_string_truncate(room, len, false);
				ZSTR_VAL(room)[len] = '\0';
				line = room;
			}
		} apus_catch {
			failed = true;
		} apus_end_try();
	}
	*out = line;
	return ended(failed);
}

apus_status apus_stream_write(zval *value, const char *bytes, size_t len, zend_long *written)
{
	bool failed = false;
	php_stream *stream = stream_of(value);
	volatile zend_long count = -1;
	if (stream != NULL) {
		apus_try {
			count = (zend_long) php_stream_write(stream, bytes, len);
		} apus_catch {
			failed = true;
		} apus_end_try();
	}
	*written = count;
	return ended(failed);
}

bool apus_stream_write_beside(zval *value)
{
	php_stream *stream = stream_of(value);
	if (stream == NULL || stream->writefilters.head != NULL || stream->ops->seek == NULL) {
		return false;
	}
	if (stream->writepos != stream->readpos && !(stream->flags & PHP_STREAM_FLAG_NO_SEEK)) {
		/* PHP has read ahead: the descriptor stands further on than the program thinks. */
		stream->readpos = stream->writepos = 0;
		stream->ops->seek(stream, stream->position, SEEK_SET, &stream->position);
	}
	return true;
}

void apus_stream_moved(zval *value, size_t count)
{
	php_stream *stream = stream_of(value);
	if (stream != NULL) {
		stream->position += (zend_off_t) count;
	}
}
