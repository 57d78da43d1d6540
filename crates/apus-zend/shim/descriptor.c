#include "apus_shim.h"
#include "php_network.h"
#include "php_streams.h"
#include <fcntl.h>

/* The first member of ext/sockets' object, which its header has declared so since PHP 8.0. Read by offset, so that Apus
 * needs neither that extension's header nor its symbols: it may be absent, or loaded later. */
typedef int sockets_descriptor;

static bool of_module(const zend_class_entry *ce, const char *module)
{
	return ce->type == ZEND_INTERNAL_CLASS && ce->info.internal.module != NULL
		&& strcasecmp(ce->info.internal.module->name, module) == 0;
}

/* The innermost internal class: a user's class may extend one of ours. */
static const zend_class_entry *native_class(const zend_class_entry *ce)
{
	while (ce != NULL && ce->type != ZEND_INTERNAL_CLASS) {
		ce = ce->parent;
	}
	return ce;
}

static int of_stream(zval *value)
{
	php_stream *stream = zend_fetch_resource2_ex(value, NULL, php_file_le_stream(), php_file_le_pstream());
	php_socket_t fd = -1;
	if (stream == NULL) {
		return -1;
	}
	if (php_stream_cast(stream, PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL, (void *) &fd,
		false) != SUCCESS) {
		return -1;
	}
	return (int) fd;
}

/* An object of Apus that has a descriptor shows it in one of these properties. */
static int of_property(zend_object *object, const zend_class_entry *ce)
{
	static const char *const names[] = {"fd", "sock", "pipe"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		zval room, *value;
		if (!zend_hash_str_exists(&ce->properties_info, names[i], strlen(names[i]))) {
			continue;
		}
		value = zend_read_property(object->ce, object, names[i], strlen(names[i]), true, &room);
		ZVAL_DEREF(value);
		if (Z_TYPE_P(value) == IS_LONG && Z_LVAL_P(value) >= 0 && Z_LVAL_P(value) <= INT_MAX) {
			return (int) Z_LVAL_P(value);
		}
	}
	return -1;
}

static int of_object(zend_object *object)
{
	const zend_class_entry *ce = native_class(object->ce);
	if (ce == NULL) {
		return -1;
	}
	if (of_module(ce, "sockets") && zend_string_equals_literal(ce->name, "Socket")) {
		return *(sockets_descriptor *) ((char *) object - object->handlers->offset);
	}
	return of_module(ce, "apus") || of_module(ce, "swoole") ? of_property(object, ce) : -1;
}

apus_status apus_descriptor(zval *value, int *fd)
{
	bool failed = false;
	volatile int found = -1;
	ZVAL_DEREF(value);
	apus_try {
		switch (Z_TYPE_P(value)) {
			case IS_LONG:
				found = Z_LVAL_P(value) >= 0 && Z_LVAL_P(value) <= INT_MAX ? (int) Z_LVAL_P(value) : -1;
				break;
			case IS_RESOURCE:
				found = of_stream(value);
				break;
			case IS_OBJECT:
				found = of_object(Z_OBJ_P(value));
				break;
			default:
				break;
		}
	} apus_catch {
		failed = true;
	} apus_end_try();
	*fd = found;
	return failed ? APUS_BAILED : EG(exception) != NULL ? APUS_THREW : APUS_OK;
}

size_t apus_descriptor_buffered(zval *value)
{
	php_stream *stream;
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) != IS_RESOURCE) {
		return 0;
	}
	stream = zend_fetch_resource2_ex(value, NULL, php_file_le_stream(), php_file_le_pstream());
	return stream == NULL ? 0 : (size_t) (stream->writepos - stream->readpos);
}

apus_status apus_descriptor_stream(int fd, zval *out)
{
	bool failed = false;
	const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0) {
		return APUS_OK;
	}
	apus_try {
		php_stream *stream = php_stream_sock_open_from_socket(own, NULL);
		if (stream != NULL) {
			php_stream_to_zval(stream, out);
		}
	} apus_catch {
		failed = true;
	} apus_end_try();
	if (Z_TYPE_P(out) != IS_RESOURCE) {
		close(own);
	}
	return failed ? APUS_BAILED : APUS_OK;
}
