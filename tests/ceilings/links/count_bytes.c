/* Keeps the bytes of all live blocks of malloc and its relatives, and the number of allocations, in a file that the
 * test maps, too: LD_PRELOAD=this.so BYTES=file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
	*__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

struct counts {
	long bytes, calls;
};

static struct counts nowhere;
static struct counts *live = &nowhere;

__attribute__((constructor)) static void map(void)
{
	const char *path = getenv("BYTES");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd >= 0) {
		void *at = mmap(NULL, sizeof *live, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED) {
			live = at;
		}
		close(fd);
	}
}

/* PHP loads its modules with RTLD_DEEPBIND, which would have them call libc's malloc() past this one. */
void *dlopen(const char *path, int flags)
{
	static void *(*real)(const char *, int);
	if (real == NULL) {
		real = dlsym(RTLD_NEXT, "dlopen");
	}
	return real(path, flags & ~RTLD_DEEPBIND);
}

/* The word before a block is the allocator's, too. */
static void *add(void *block)
{
	if (block != NULL) {
		__atomic_fetch_add(&live->calls, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&live->bytes, (long) (malloc_usable_size(block) + sizeof(size_t)), __ATOMIC_RELAXED);
	}
	return block;
}

static void take(void *block)
{
	if (block != NULL) {
		__atomic_fetch_sub(&live->bytes, (long) (malloc_usable_size(block) + sizeof(size_t)), __ATOMIC_RELAXED);
	}
}

void *malloc(size_t size)
{
	return add(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return add(__libc_calloc(n, size));
}

void *realloc(void *block, size_t size)
{
	take(block);
	void *moved = __libc_realloc(block, size);
	add(moved == NULL && size != 0 ? block : moved);
	return moved;
}

void free(void *block)
{
	take(block);
	__libc_free(block);
}

void *memalign(size_t alignment, size_t size)
{
	return add(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
	void *block = memalign(alignment, size);
	if (block == NULL) {
		return ENOMEM;
	}
	*result = block;
	return 0;
}
