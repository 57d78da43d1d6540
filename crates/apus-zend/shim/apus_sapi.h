/* sapi.c: whole requests of PHP in a process of its own. */
#ifndef APUS_SAPI_H
#define APUS_SAPI_H

/* An entry of $_SERVER. Both texts end in NUL. */
typedef struct { const char *name; size_t name_len; const char *value; size_t value_len; } apus_sapi_pair;

/* A request. All of it stays as it is until it is over; texts end in NUL, and those that may miss are NULL then. */
typedef struct {
	const apus_sapi_pair *pairs;
	size_t count;
	const char *method, *uri, *query, *script;
	const char *content_type, *cookies, *authorization; /* may miss */
	uint64_t content_length;
	int protocol; /* 1000 or 1001 */
	double received_at; /* seconds since 1970 */
	/* Entries of php.ini, and those that nothing changes. */
	const apus_sapi_pair *values, *admin;
	size_t value_count, admin_count;
} apus_sapi_request;

/* What PHP reads and writes by. None runs PHP code, jumps or panics. */
typedef struct {
	/* false: the client is gone */
	bool (*write)(const char *text, size_t length);
	bool (*flush)(void);
	/* The head of the answer: these, in this order. */
	void (*status)(int status, const char *line, size_t length);
	void (*line)(const char *line, size_t length);
	void (*headed)(void);
	size_t (*read)(char *into, size_t length); /* of the body; 0 at its end */
} apus_sapi_hooks;

bool apus_sapi_wanted(void);  /* is this PHP there to serve scripts? */
void apus_sapi_startup(void); /* then: at module start */
/* In a child that was just forked: leaves the command line's request for ever. The process MUST end by _exit(). */
void apus_sapi_take_over(const apus_sapi_hooks *hooks);
/* The status that was answered. What a script prints that `stays` goes nowhere: it answers nothing by itself. */
int apus_sapi_run(const apus_sapi_request *request, bool stays);
/* In a script that stays, when apus_stay_end() has ended what it began with. */
bool apus_sapi_begin(const apus_sapi_request *request); /* false after a fatal error; apus_sapi_end() all the same */
int apus_sapi_end(void);                                /* the status that was answered */
bool apus_sapi_is_running(void);
bool apus_sapi_is_answering(void); /* is what it prints the answer? */
/* Ends the answer, and lets the script go on; `first`: it had not ended before. */
apus_status apus_sapi_finish(bool *first);
void apus_sapi_lines(void *context, void (*each)(void *context, const char *line, size_t length));
/* user_ini.c: the entries of .user.ini from the document root down to a script, for the request that begins. */
void apus_user_ini(const char *script, const char *root);
/* server_variables.c: $_SERVER, and what ext/filter has of it. */
void apus_variables_startup(void); /* at module start */
void apus_variables_add(const apus_sapi_request *request, zval *array);
void apus_variables_forget(void); /* the request is over */

/* ---- ini.c ---- */
bool apus_ini_is_known(const char *name);
/* The entries of a request: those that count before it begins, or the others when it begins. */
void apus_ini_apply(const apus_sapi_request *request, bool early);
bool apus_ini_begin_with(const char *name, const char *value); /* for all requests of this process; false: refused */

/* ---- error_page.c: an error that ended a request is answered with what `source` makes of it: it returns a function
 * (array $error, ?Throwable $exception) that gives a line for the head and the body. In a process that was taken
 * over. */
void apus_error_page_open(const apus_library_source *source);
/* When a request of PHP has begun, and before it ends: modules such as Xdebug take errors for their own meanwhile. */
void apus_error_page_begin(void);
void apus_error_page_end(void);
void apus_error_page_show(void); /* when PHP has left the script, and its answer has not ended */
void apus_error_page_uncaught(zend_object *exception); /* zend_exception_error(), for a script that goes on */

/* ---- leave.c: what PHP has settled at its start because it is the command line's; between requests, once the SAPI has
 * its other name ---- */
void apus_leave_command_line(void);

/* ---- stay.c: what is a request's, in a script that stays; false after a fatal error ---- */
bool apus_stay_begin(void);
bool apus_stay_end(void);
/* Reports an exception that nobody caught, as PHP does, but that the script goes on. */
bool apus_stay_uncaught(zend_object *exception);

#endif
