#include "apus_guard.h"

/* Functions whose C code keeps something in globals that nobody else can reach: one coroutine at a time is in those of
 * a group, others wait for it. */

typedef struct { const char *class, *name; apus_serial_group group; } serial_row;

static const serial_row ROWS[] = {
	{NULL, "array_multisort", APUS_SERIAL_MULTISORT},
	{"collator", "sort", APUS_SERIAL_COLLATOR},
	{"collator", "asort", APUS_SERIAL_COLLATOR},
	{"collator", "sortwithsortkeys", APUS_SERIAL_COLLATOR},
	{NULL, "collator_sort", APUS_SERIAL_COLLATOR},
	{NULL, "collator_asort", APUS_SERIAL_COLLATOR},
	{NULL, "collator_sort_with_sort_keys", APUS_SERIAL_COLLATOR},
};

static const serial_row SOAP[] = {
	{"soapclient", "__construct", APUS_SERIAL_SOAP}, {"soapclient", "__call", APUS_SERIAL_SOAP},
	{"soapclient", "__soapcall", APUS_SERIAL_SOAP}, {"soapserver", "__construct", APUS_SERIAL_SOAP},
	{"soapserver", "handle", APUS_SERIAL_SOAP},
};

/* Libraries that have one state for the process: all functions of the extension, and the methods of its class. */
static const struct { const char *module; serial_row row; } MODULES[] = {
	{"imap", {NULL, NULL, APUS_SERIAL_IMAP}}, {"snmp", {"snmp", NULL, APUS_SERIAL_SNMP}},
	{"readline", {NULL, NULL, APUS_SERIAL_READLINE}},
};

static apus_serial_hooks hooks;

/* ---- freeing an IMAP connection talks to its server, and forgets the user and the password of whoever is being logged
 * in ---- */

typedef struct parked { zend_object *object; struct parked *next; } parked;

static struct {
	unsigned calls; /* that are in the group, one inside another, frees included */
	parked *first;  /* what was to be freed meanwhile */
	zend_object_dtor_obj_t destroy;
	zend_object_free_obj_t free;
} imap;

/* The last reference is gone: the object is kept if this is not the moment to free it. */
static void destroy_imap(zend_object *object)
{
	imap.destroy(object);
	parked *one = imap.calls != 0 && !(EG(flags) & EG_FLAGS_IN_SHUTDOWN) ? malloc(sizeof(*one)) : NULL;
	if (one != NULL) {
		*one = (parked) {object, imap.first};
		imap.first = one;
		GC_ADDREF(object);
	}
}

static void enter_imap(void)
{
	imap.calls++;
}

/* False: bailed out. */
static bool leave_imap(void)
{
	bool failed = false;
	while (imap.calls == 1 && imap.first != NULL && !(EG(flags) & EG_FLAGS_IN_SHUTDOWN)) {
		parked *one = imap.first;
		zend_object *object = one->object;
		imap.first = one->next;
		free(one);
		GUARDED(failed, OBJ_RELEASE(object));
	}
	imap.calls--;
	return !failed;
}

static void free_imap(zend_object *object)
{
	/* While somebody else is in the group it is parked, so this does not wait for a turn. */
	const bool entered = hooks.enter(APUS_SERIAL_IMAP);
	bool failed = false;
	enter_imap();
	GUARDED(failed, imap.free(object));
	failed |= !leave_imap();
	if (entered) {
		hooks.leave(APUS_SERIAL_IMAP);
	}
	if (failed) {
		zend_bailout();
	}
}

static void install_imap(void)
{
	zend_object_handlers *handlers = apus_guard_handlers_of(apus_class_find("imap\\connection"));
	if (handlers != NULL && handlers->free_obj != free_imap) {
		imap.destroy = handlers->dtor_obj;
		imap.free = handlers->free_obj;
		handlers->dtor_obj = destroy_imap;
		handlers->free_obj = free_imap;
	}
}

/* ---- calls ---- */

static void serial(INTERNAL_FUNCTION_PARAMETERS)
{
	const serial_row *row = apus_wrapped_row(execute_data);
	apus_c_waits = true;
	if (!hooks.enter(row->group)) {
		RETURN_FALSE;
	}
	const bool is_imap = row->group == APUS_SERIAL_IMAP;
	if (is_imap) {
		enter_imap();
	}
	bool ended = apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (is_imap) {
		ended = leave_imap() && ended;
	}
	hooks.leave(row->group);
	if (!ended) {
		zend_bailout();
	}
}

void apus_serial_install(const apus_serial_hooks *of)
{
	hooks = *of;
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
		apus_wrap_function(ROWS[i].class, ROWS[i].name, serial, &ROWS[i]);
	}
	for (size_t i = 0; i < sizeof(MODULES) / sizeof(*MODULES); i++) {
		apus_wrap_module(MODULES[i].module, serial, &MODULES[i].row);
		if (MODULES[i].row.class != NULL) {
			apus_wrap_methods(MODULES[i].row.class, serial, &MODULES[i].row);
		}
	}
	install_imap();
	if (!apus_swap_knows_soap()) {
		for (size_t i = 0; i < sizeof(SOAP) / sizeof(*SOAP); i++) {
			apus_wrap_function(SOAP[i].class, SOAP[i].name, serial, &SOAP[i]);
		}
	}
}
