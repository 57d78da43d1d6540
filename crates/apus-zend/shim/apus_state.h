/* State that C code keeps in globals of the process: what no coroutine may see of another. Included by apus_shim.h. */
#ifndef APUS_STATE_H
#define APUS_STATE_H

/* ---- wrap.c: standing in for the handlers of internal functions ---- */
void apus_wrap_startup(void); /* at module start */
/* When all modules are loaded: `by` is called instead. Names are lower-case; a function is wrapped once. */
void apus_wrap_function(const char *class, const char *name, zif_handler by, const void *row);
void apus_wrap_module(const char *module, zif_handler by, const void *row); /* its functions, not its methods */
const void *apus_wrapped_row(const zend_execute_data *ex);
bool apus_wrapped_call(INTERNAL_FUNCTION_PARAMETERS); /* what stood there before; false: bailed out */

/* ---- compiler.c ---- */
void apus_compiler_startup(void); /* at module start */
void apus_compiler_install(void); /* when all modules are loaded */
bool apus_compiling(void);

/* ---- serial.c ---- */
typedef enum { APUS_SERIAL_MULTISORT, APUS_SERIAL_COLLATOR, APUS_SERIAL_GROUPS } apus_serial_group;
typedef struct {
	bool (*enter)(apus_serial_group group); /* may wait; false: it could not, an exception may be pending */
	void (*leave)(apus_serial_group group);
} apus_serial_hooks;
void apus_serial_install(const apus_serial_hooks *hooks); /* when all modules are loaded */

#endif
