/* Telling why the process dies when the C stack of a coroutine overflows. */
#include "apus_shim.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sigaction before_overflow;

static void overflowed(int signal, siginfo_t *info, void *context)
{
	if (info->si_code <= 0) {
		/* Somebody sent it: no instruction will do it again. It comes again when this handler returns. */
		sigaction(signal, &before_overflow, NULL);
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
		return;
	}
	const char *stack = apus_running_stack();
	if (stack != NULL) {
		const char *address = info->si_addr;
		if (address < stack && address >= stack - sysconf(_SC_PAGESIZE)) {
			static const char text[] = "apus: the C stack of a coroutine is too small for what runs on it (deeply nested "
				"data, deep recursion in C code), the process ends: raise the setting stack_size\n";
			const ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
			(void) written;
		}
	}
	/* What was to happen happens when the instruction is done again. */
	sigaction(signal, &before_overflow, NULL);
}

/* On a stack of its own: the one that overflowed has no room. */
void apus_watch_overflow(void)
{
	static bool done;
	static char own_stack[16384];
	if (done) {
		return;
	}
	done = true;
	stack_t current;
	if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
		const stack_t own = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)};
		sigaltstack(&own, NULL);
	}
	struct sigaction action = {.sa_sigaction = overflowed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGSEGV, &action, &before_overflow);
}
