/* .user.ini: entries of php.ini that hold for the scripts below a directory, as php-fpm reads them: those of the
 * document root first, those beside the script last. */
#include "apus_shim.h"
#include "SAPI.h"
#include "php_ini.h"

/* Directories that are remembered; then all are forgotten. */
#define MOST_DIRECTORIES 4096

typedef struct {
	double expires; /* seconds since 1970 */
	HashTable entries;
} user_ini;

/* By directory. Outside of PHP's heap, which the end of a request wipes. */
static HashTable directories;
static bool begun;

static void forget(zval *value)
{
	user_ini *of = Z_PTR_P(value);
	zend_hash_destroy(&of->entries);
	pefree(of, true);
}

static user_ini *of_directory(const char *name, size_t length)
{
	user_ini *of = zend_hash_str_find_ptr(&directories, name, length);
	if (of != NULL) {
		return of;
	}
	if (zend_hash_num_elements(&directories) >= MOST_DIRECTORIES) {
		zend_hash_clean(&directories);
	}
	of = pemalloc(sizeof(*of), true);
	of->expires = 0;
	zend_hash_init(&of->entries, 8, NULL, config_zval_dtor, true);
	zend_hash_str_update_ptr(&directories, name, length, of);
	return of;
}

static void activate(const char *name, size_t length)
{
	user_ini *of = of_directory(name, length);
	double now = sapi_get_request_time();
	if (now >= of->expires) {
		zend_hash_clean(&of->entries);
		php_parse_user_ini_file(name, PG(user_ini_filename), &of->entries);
		of->expires = now + (double) PG(user_ini_cache_ttl);
	}
	php_ini_activate_config(&of->entries, PHP_INI_PERDIR, PHP_INI_STAGE_HTACCESS);
}

void apus_user_ini(const char *script, const char *root)
{
	char directory[MAXPATHLEN];
	const char *slash = strrchr(script, '/');
	if (PG(user_ini_filename) == NULL || *PG(user_ini_filename) == '\0' || slash == NULL || slash == script) {
		return;
	}
	size_t whole = (size_t) (slash - script);
	if (whole >= sizeof(directory)) {
		return;
	}
	if (!begun) {
		zend_hash_init(&directories, 8, NULL, forget, true);
		begun = true;
	}
	/* Of a script elsewhere its own directory alone counts. */
	size_t at = root != NULL ? strlen(root) : 0;
	if (at == 0 || at > whole || memcmp(script, root, at) != 0 || script[at] != '/') {
		at = whole;
	}
	for (;;) {
		memcpy(directory, script, at);
		directory[at] = '\0';
		activate(directory, at);
		if (at >= whole) {
			return;
		}
		do {
			at++;
		} while (script[at] != '/');
	}
}
