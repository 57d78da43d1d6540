#include "apus_shim.h"

enum {
	KEY_METHOD, KEY_URI, KEY_PATH_INFO, KEY_QUERY, KEY_TIME, KEY_TIME_FLOAT, KEY_PROTOCOL, KEY_SERVER_PORT,
	KEY_REMOTE_PORT, KEY_SERVER_ADDR, KEY_REMOTE_ADDR, KEY_MASTER_TIME, KEYS
};

static const char *const key_names[KEYS] = {
	"request_method", "request_uri", "path_info", "query_string", "request_time", "request_time_float",
	"server_protocol",
	"server_port", "remote_port", "server_addr", "remote_addr", "master_time",
};
static const char *const common_words[] = { "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "HTTP/1.1",
	"HTTP/1.0", "HTTP/2" };
#define WORDS (sizeof(common_words) / sizeof(*common_words))
#define WORD_HTTP11 7

static zend_string *keys[KEYS];
static zend_string *words[WORDS];

void apus_request_keys(void)
{
	for (size_t i = 0; i < KEYS; i++) {
		keys[i] = zend_string_init_interned(key_names[i], strlen(key_names[i]), true);
	}
	for (size_t i = 0; i < WORDS; i++) {
		words[i] = zend_string_init_interned(common_words[i], strlen(common_words[i]), true);
	}
}

static void add(zend_array *array, int key, zval *value)
{
	zend_hash_add_new(array, keys[key], value);
}

static void add_bytes(zend_array *array, int key, apus_bytes text)
{
	zval value;
	ZVAL_STRINGL_FAST(&value, text.bytes, text.len);
	add(array, key, &value);
}

static void add_long(zend_array *array, int key, zend_long number)
{
	zval value;
	ZVAL_LONG(&value, number);
	add(array, key, &value);
}

static void add_method(zend_array *array, apus_bytes method)
{
	for (size_t i = 0; i < WORD_HTTP11; i++) {
		if (zend_string_equals_cstr(words[i], method.bytes, method.len)) {
			zval value;
			ZVAL_INTERNED_STR(&value, words[i]);
			add(array, KEY_METHOD, &value);
			return;
		}
	}
	add_bytes(array, KEY_METHOD, method);
}

static void fill(zend_array *array, const apus_server_fields *fields)
{
	zval value;
	zend_hash_real_init_mixed(array);
	add_method(array, fields->method);
	ZVAL_STRINGL_FAST(&value, fields->path.bytes, fields->path.len);
	add(array, KEY_URI, &value);
	if (fields->decoded_path.bytes == fields->path.bytes) {
		Z_TRY_ADDREF(value);
		add(array, KEY_PATH_INFO, &value);
	} else {
		add_bytes(array, KEY_PATH_INFO, fields->decoded_path);
	}
	if (fields->has_query) {
		add_bytes(array, KEY_QUERY, fields->query);
	}
	add_long(array, KEY_TIME, (zend_long) fields->received_at);
	ZVAL_DOUBLE(&value, fields->received_at);
	add(array, KEY_TIME_FLOAT, &value);
	ZVAL_INTERNED_STR(&value, words[WORD_HTTP11 + fields->protocol]);
	add(array, KEY_PROTOCOL, &value);
	add_long(array, KEY_SERVER_PORT, fields->server_port);
	add_long(array, KEY_REMOTE_PORT, fields->remote_port);
	add_bytes(array, KEY_SERVER_ADDR, fields->server_addr);
	add_bytes(array, KEY_REMOTE_ADDR, fields->remote_addr);
	add_long(array, KEY_MASTER_TIME, (zend_long) fields->connected_at);
}

zend_array *apus_server_array(const apus_server_fields *fields)
{
	zend_array *volatile array = NULL;
	apus_try {
		array = zend_new_array(16);
		fill(array, fields);
	} apus_catch {
		/* The request's memory limit is reached; what was built is freed with the request. */
		array = NULL;
	} apus_end_try();
	return array;
}
