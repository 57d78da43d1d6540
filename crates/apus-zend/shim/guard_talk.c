#include "apus_guard.h"
#include <sys/socket.h>

/* Who has asked, and awaits the answer.
 *
 * One coroutine may read from a stream while another writes to it. Two coroutines that share a client by mistake do the
 * same at first: one waits for the answer to what it wrote, and the other writes its own question; the answers then
 * come to the wrong ones. What tells them apart: a reader that has itself written since it last read something awaits
 * an answer, and nobody else may write meanwhile, but for those who have only ever written to this stream. A reader for
 * whom that fails, who has written and then may not read, ends the connection, since its answer would come to
 * another. */

static apus_talk *find(apus_talks *talks, const zend_resource *stream)
{
	for (uint32_t i = 0; i < talks->count; i++) {
		if (talks->last[i].stream == stream->handle) {
			return &talks->last[i];
		}
	}
	return NULL;
}

static apus_talk *find_or_add(apus_talks *talks, const zend_resource *stream)
{
	apus_talk *talk = find(talks, stream);
	if (EXPECTED(talk != NULL)) {
		return talk;
	}
	talk = &talks->last[talks->next];
	talks->next = (talks->next + 1) % APUS_TALKS;
	talks->count = MIN(talks->count + 1, APUS_TALKS);
	*talk = (apus_talk) {stream->handle, false, false};
	return talk;
}

/* The call's stream, if a coroutine made the call and it did something. */
static apus_talk *talk_of(zend_execute_data *ex, const zval *result)
{
	if (EXPECTED(apus_running_fiber == NULL) || Z_TYPE_P(result) == IS_FALSE || ZEND_CALL_NUM_ARGS(ex) == 0) {
		return NULL;
	}
	zval *stream = ZEND_CALL_ARG(ex, 1);
	ZVAL_DEREF(stream);
	return Z_TYPE_P(stream) == IS_RESOURCE ? find_or_add(apus_fiber_talks(apus_running_fiber), Z_RES_P(stream)) : NULL;
}

void apus_guard_read(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	apus_talk *talk = talk_of(execute_data, return_value);
	if (talk != NULL) {
		talk->has_read = true;
		talk->awaits = false;
	}
}

void apus_guard_write(INTERNAL_FUNCTION_PARAMETERS)
{
	apus_guard_enter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	apus_talk *talk = talk_of(execute_data, return_value);
	if (talk != NULL) {
		talk->awaits = EG(exception) == NULL || talk->awaits;
	}
}

bool apus_talk_awaits(const apus_fiber *fiber, const zend_resource *stream)
{
	const apus_talk *talk = find(apus_fiber_talks((apus_fiber *) fiber), stream);
	return talk != NULL && talk->awaits;
}

bool apus_talk_only_writes(const apus_fiber *fiber, const zend_resource *stream)
{
	const apus_talk *talk = find(apus_fiber_talks((apus_fiber *) fiber), stream);
	return talk != NULL && talk->awaits && !talk->has_read;
}

void apus_talk_end(const zend_resource *resource)
{
	int fd = -1;
	php_stream *stream = resource->ptr;
	if (resource->type != php_file_le_stream() && resource->type != php_file_le_pstream()) {
		return;
	}
	if (php_stream_cast(stream, PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL, (void **) &fd, 0) == SUCCESS
		&& fd >= 0) {
		shutdown(fd, SHUT_RDWR);
	}
}
