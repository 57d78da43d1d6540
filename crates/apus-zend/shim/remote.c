/* What PHP code another process is in: one that was forked of this one, so that everything is where it is here. It is
 * read while it runs on, so what is read may be torn: every length is bounded, and what cannot be read ends it. */
#include "apus_shim.h"
#include <sys/uio.h>

/* Frames that are shown. */
enum { MOST_FRAMES = 64, LONGEST_NAME = 200, LONGEST_PATH = 1024 };

static bool peek(pid_t process, const void *from, void *into, size_t length)
{
	const struct iovec here = {into, length}, there = {(void *) from, length};
	return from != NULL && process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t) length;
}

/* A string's bytes up to `room`, with NUL behind; what is too long is cut. */
static bool peek_text(pid_t process, const zend_string *from, char *into, size_t room)
{
	size_t length;
	if (from == NULL || !peek(process, &from->len, &length, sizeof(length))) {
		return false;
	}
	length = length < room ? length : room - 1;
	into[length] = '\0';
	return length == 0 || peek(process, from->val, into, length);
}

typedef struct {
	zend_execute_data frame;
	zend_uchar type;
	char name[2 * LONGEST_NAME + 4]; /* "class::function"; empty for a file's own code */
	const zend_string *file;
} call_seen;

static void name_call(pid_t process, const zend_function *function, call_seen *seen)
{
	const zend_string *name = NULL, *class_name = NULL;
	const zend_class_entry *scope = NULL;
	char part[LONGEST_NAME];
	seen->name[0] = '\0';
	if (!peek(process, &function->common.function_name, &name, sizeof(name))
		|| !peek_text(process, name, part, sizeof(part))) {
		return;
	}
	if (peek(process, &function->common.scope, &scope, sizeof(scope))
		&& peek(process, scope != NULL ? &scope->name : NULL, &class_name, sizeof(class_name))
		&& peek_text(process, class_name, seen->name, LONGEST_NAME)) {
		strcat(seen->name, "::");
	}
	strcat(seen->name, part);
}

/* Reads a frame; false at the end. */
static bool look(pid_t process, const zend_execute_data *at, call_seen *seen)
{
	if (!peek(process, at, &seen->frame, sizeof(seen->frame))) {
		return false;
	}
	seen->type = 0;
	seen->file = NULL;
	seen->name[0] = '\0';
	const zend_function *function = seen->frame.func;
	if (function != NULL && peek(process, &function->type, &seen->type, sizeof(seen->type))) {
		name_call(process, function, seen);
		if (ZEND_USER_CODE(seen->type)) {
			(void) peek(process, &function->op_array.filename, &seen->file, sizeof(seen->file));
		}
	}
	return true;
}

/* Where the PHP code of a frame stands. */
static void tell_place(pid_t process, const call_seen *seen, void *context, apus_remote_call tell, const char *name)
{
	char path[LONGEST_PATH];
	uint32_t line = 0;
	if (!peek_text(process, seen->file, path, sizeof(path))) {
		path[0] = '\0';
	}
	if (seen->frame.opline != NULL) {
		(void) peek(process, &seen->frame.opline->lineno, &line, sizeof(line));
	}
	tell(context, name, path, line);
}

bool apus_remote_calls(int32_t process, void *context, apus_remote_call tell)
{
	const zend_execute_data *at = NULL;
	char waiting[MOST_FRAMES][2 * LONGEST_NAME + 4];
	int waits = 0;
	call_seen seen;
	if (!peek(process, &EG(current_execute_data), &at, sizeof(at))) {
		return false;
	}
	for (int depth = 0; depth < MOST_FRAMES && at != NULL && look(process, at, &seen); depth++) {
		at = seen.frame.prev_execute_data;
		if (!ZEND_USER_CODE(seen.type)) {
			/* It was called where the next frame of PHP code stands. */
			if (seen.name[0] != '\0') {
				strcpy(waiting[waits++], seen.name);
			}
			continue;
		}
		for (int each = 0; each < waits; each++) {
			tell_place(process, &seen, context, tell, waiting[each]);
		}
		waits = 0;
		tell_place(process, &seen, context, tell, seen.name);
	}
	return true;
}
