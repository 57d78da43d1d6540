#include "apus_shim.h"
#include "SAPI.h"
#include <fcntl.h>
#include <unistd.h>

/* The command line's PHP takes a write to standard output that fails for a client that has gone, and ends the request
 * by a bailout. A server is not its reader's guest: here writing never fails, and whether it waits is the writer's
 * affair. */

static apus_writer output_writer, log_writer;
static size_t (*own_ub_write)(const char *, size_t);
static void (*own_flush)(void *);
static void (*own_log_message)(const char *, int);

static size_t write_output(const char *text, size_t length)
{
	output_writer(text, length);
	return length;
}

static void flush_output(void *context)
{
}

static void write_log(const char *message, int type)
{
	log_writer(message, strlen(message));
}

void apus_output_take(apus_writer output, apus_writer log)
{
	if (output_writer == NULL) {
		own_ub_write = sapi_module.ub_write;
		own_flush = sapi_module.flush;
		own_log_message = sapi_module.log_message;
	}
	output_writer = output;
	log_writer = log;
	sapi_module.ub_write = write_output;
	sapi_module.flush = flush_output;
	sapi_module.log_message = log != NULL ? write_log : own_log_message;
}

void apus_output_give_back(void)
{
	if (output_writer != NULL) {
		sapi_module.ub_write = own_ub_write;
		sapi_module.flush = own_flush;
		sapi_module.log_message = own_log_message;
		output_writer = NULL;
	}
}

void apus_output_open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) {
			return;
		}
	}
}
