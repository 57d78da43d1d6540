/* Before the runtime of AddressSanitizer in LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* php loads extensions with RTLD_DEEPBIND, which would lead their calls past the runtime, so that it refuses. */
void *dlopen(const char *file, int flags)
{
	static void *(*next)(const char *, int);
	if (next == NULL) {
		*(void **) &next = dlsym(RTLD_NEXT, "dlopen");
	}
	return next(file, flags & ~RTLD_DEEPBIND);
}

/* A shell starts php with the runtime and other programs without: curl waits for ever under it. */
int execve(const char *file, char *const arguments[], char *const environment[])
{
	static int (*next)(const char *, char *const *, char *const *);
	const char *slash = strrchr(file, '/');
	const bool is_php = strncmp(slash != NULL ? slash + 1 : file, "php", 3) == 0;
	size_t count = 0, kept = 0;
	if (next == NULL) {
		*(void **) &next = dlsym(RTLD_NEXT, "execve");
	}
	while (environment[count] != NULL) {
		count++;
	}
	char *reduced[count + 1];
	for (size_t i = 0; i < count; i++) {
		if (is_php || strncmp(environment[i], "LD_PRELOAD=", 11) != 0) {
			reduced[kept++] = environment[i];
		}
	}
	reduced[kept] = NULL;
	return next(file, arguments, reduced);
}
