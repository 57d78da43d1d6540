#include "apus_shim.h"

/* Functions whose C code keeps something in globals that nobody else can reach: one coroutine at a time is in those of a group,
 * others wait for it. */

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
	{"imap", {NULL, NULL, APUS_SERIAL_IMAP}}, {"snmp", {"snmp", NULL, APUS_SERIAL_SNMP}}, {"readline", {NULL, NULL, APUS_SERIAL_READLINE}},
};

static apus_serial_hooks hooks;

static void serial(INTERNAL_FUNCTION_PARAMETERS)
{
	const serial_row *row = apus_wrapped_row(execute_data);
	if (!hooks.enter(row->group)) {
		RETURN_FALSE;
	}
	const bool ended = apus_wrapped_call(INTERNAL_FUNCTION_PARAM_PASSTHRU);
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
	if (!apus_swap_knows_soap()) {
		for (size_t i = 0; i < sizeof(SOAP) / sizeof(*SOAP); i++) {
			apus_wrap_function(SOAP[i].class, SOAP[i].name, serial, &SOAP[i]);
		}
	}
}
