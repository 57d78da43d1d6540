/* Counts calls of malloc and its relatives into a file that the test maps, too: LD_PRELOAD=this.so ALLOCATIONS=file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long nowhere;
static unsigned long *count = &nowhere;
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t), *(*real_memalign)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
/* dlsym() itself calls calloc(). */
static char early[8192];
static size_t early_used;

__attribute__((constructor)) static void map(void)
{
	const char *path = getenv("ALLOCATIONS");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd >= 0) {
		void *at = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED) {
			count = at;
		}
		close(fd);
	}
}

static void add(void)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	if (real_malloc == NULL) {
		real_malloc = dlsym(RTLD_NEXT, "malloc");
	}
	add();
	return real_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (real_calloc == NULL) {
		static int looking;
		if (looking) {
			void *at = early + early_used;
			early_used += (n * size + 15) & ~(size_t)15;
			return early_used <= sizeof early ? at : NULL;
		}
		looking = 1;
		real_calloc = dlsym(RTLD_NEXT, "calloc");
	}
	add();
	return real_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	if (real_realloc == NULL) {
		real_realloc = dlsym(RTLD_NEXT, "realloc");
	}
	add();
	return real_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	if (real_memalign == NULL) {
		real_memalign = dlsym(RTLD_NEXT, "aligned_alloc");
	}
	add();
	return real_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	if (real_posix_memalign == NULL) {
		real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	}
	add();
	return real_posix_memalign(out, alignment, size);
}
