#include "apus_shim.h"

/* As php_output_activate() leaves it: no handler, writing allowed. */
static void fresh_output(void)
{
	const int kept = OG(flags) & PHP_OUTPUT_IMPLICITFLUSH;
	memset(&output_globals, 0, sizeof(output_globals));
	zend_stack_init(&OG(handlers), sizeof(php_output_handler *));
	OG(flags) = PHP_OUTPUT_ACTIVATED | kept;
}

static void take_output(apus_ambient *into)
{
	into->has_output = OG(handlers).elements != NULL || OG(active) != NULL || OG(running) != NULL;
	if (EXPECTED(!into->has_output)) {
		return;
	}
	into->output = output_globals;
	fresh_output();
}

static void put_output(apus_ambient *from)
{
	if (UNEXPECTED(from->has_output)) {
		zend_stack_destroy(&OG(handlers));
		output_globals = from->output;
		from->has_output = false;
	}
}

static void take_serialize(apus_ambient *into)
{
	into->has_serialize = BG(serialize).level != 0 || BG(unserialize).level != 0 || BG(serialize_lock) != 0;
	if (EXPECTED(!into->has_serialize)) {
		return;
	}
	into->serialize_lock = BG(serialize_lock);
	into->serialize_data = BG(serialize).data;
	into->serialize_level = BG(serialize).level;
	into->unserialize_data = BG(unserialize).data;
	into->unserialize_level = BG(unserialize).level;
	BG(serialize_lock) = 0;
	BG(serialize).data = NULL;
	BG(serialize).level = 0;
	BG(unserialize).data = NULL;
	BG(unserialize).level = 0;
}

static void put_serialize(apus_ambient *from)
{
	if (UNEXPECTED(from->has_serialize)) {
		BG(serialize_lock) = from->serialize_lock;
		BG(serialize).data = from->serialize_data;
		BG(serialize).level = from->serialize_level;
		BG(unserialize).data = from->unserialize_data;
		BG(unserialize).level = from->unserialize_level;
		from->has_serialize = false;
	}
}

/* PHP refuses to autoload a class inside its own autoloader: that is meant for one context, not for all. */
static void take_autoload(apus_ambient *into)
{
	into->in_autoload = NULL;
	if (UNEXPECTED(EG(in_autoload) != NULL && zend_hash_num_elements(EG(in_autoload)) != 0)) {
		into->in_autoload = EG(in_autoload);
		EG(in_autoload) = NULL;
	}
}

static void put_autoload(apus_ambient *from)
{
	if (EXPECTED(from->in_autoload == NULL)) {
		return;
	}
	if (EG(in_autoload) != NULL) {
		QUIETLY(zend_hash_destroy(EG(in_autoload)));
		FREE_HASHTABLE(EG(in_autoload));
	}
	EG(in_autoload) = from->in_autoload;
	from->in_autoload = NULL;
}

static bool is_running(zval *handler)
{
	zend_fcall_info_cache cache;
	if (!zend_is_callable_ex(handler, NULL, IS_CALLABLE_SUPPRESS_DEPRECATIONS, NULL, &cache, NULL)) {
		return false;
	}
	const zend_function *function = cache.function_handler;
	bool found = false;
	if (function->type == ZEND_USER_FUNCTION && !(function->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)) {
		for (zend_execute_data *ex = EG(current_execute_data); ex != NULL && !found; ex = ex->prev_execute_data) {
			found = ex->func != NULL && ex->func->type == ZEND_USER_FUNCTION
				&& ex->func->op_array.opcodes == function->op_array.opcodes;
		}
	}
	zend_release_fcall_info_cache(&cache);
	return found;
}

/* Does the function `handler` run in this context? */
static bool runs(zval *handler)
{
	volatile bool found = false;
	QUIETLY(found = is_running(handler));
	return found;
}

/* PHP unsets the error handler for the time it runs: others would have none while it waits. */
static void take_handler(apus_ambient *into, zval *handler)
{
	into->handler = NULL;
	if (UNEXPECTED(Z_TYPE(EG(user_error_handler)) == IS_UNDEF && Z_TYPE_P(handler) != IS_UNDEF) && runs(handler)) {
		into->handler = Z_PTR_P(handler);
		ZVAL_COPY(&EG(user_error_handler), handler);
	}
}

static void put_handler(apus_ambient *from)
{
	/* Set anew meanwhile, it stays: PHP keeps what it finds when the handler returns. */
	if (UNEXPECTED(from->handler != NULL) && Z_TYPE(EG(user_error_handler)) != IS_UNDEF
		&& Z_PTR(EG(user_error_handler)) == from->handler) {
		zval old;
		ZVAL_COPY_VALUE(&old, &EG(user_error_handler));
		ZVAL_UNDEF(&EG(user_error_handler));
		apus_zval_release(&old);
	}
	from->handler = NULL;
}

bool apus_ambient_is_amidst(const zval *handler)
{
	return BG(serialize).level != 0 || BG(unserialize).level != 0 || BG(serialize_lock) != 0
		|| BG(user_compare_fci).size != 0
		|| apus_swap_in_use() || OG(active) != NULL || OG(running) != NULL || EG(error_handling) != EH_NORMAL
		|| EG(exception_class) != NULL
		|| (EG(in_autoload) != NULL && zend_hash_num_elements(EG(in_autoload)) != 0)
		|| (Z_TYPE_P(handler) != IS_UNDEF && Z_TYPE(EG(user_error_handler)) == IS_UNDEF);
}

ZEND_COLD void apus_ambient_take_all(apus_ambient *into, zval *handler)
{
	take_output(into);
	take_handler(into, handler);
	take_serialize(into);
	take_autoload(into);
	into->has_compare = BG(user_compare_fci).size != 0;
	if (into->has_compare) {
		into->compare_fci = BG(user_compare_fci);
		into->compare_cache = BG(user_compare_fci_cache);
		BG(user_compare_fci).size = 0;
	}
	into->error_handling = EG(error_handling);
	into->exception_class = EG(exception_class);
	EG(error_handling) = EH_NORMAL;
	EG(exception_class) = NULL;
	into->swap = apus_swap_in_use() ? apus_swap_take() : NULL;
	into->own = apus_own_current;
	if (into->own != NULL) {
		apus_own_switch(into->own);
		apus_own_current = NULL;
	}
}

ZEND_COLD void apus_ambient_put_all(apus_ambient *from)
{
	from->taken = false;
	if (from->own != NULL) {
		apus_own_current = from->own;
		from->own = NULL;
		apus_own_switch(apus_own_current);
	}
	if (from->swap != NULL) {
		apus_swap_put(from->swap);
		from->swap = NULL;
	}
	put_output(from);
	put_handler(from);
	put_serialize(from);
	put_autoload(from);
	if (from->has_compare) {
		BG(user_compare_fci) = from->compare_fci;
		BG(user_compare_fci_cache) = from->compare_cache;
		from->has_compare = false;
	}
	EG(error_handling) = from->error_handling;
	EG(exception_class) = from->exception_class;
}

void apus_ambient_start(apus_ambient *into, apus_own *own)
{
	if (UNEXPECTED(into->taken && into->own != NULL)) {
		/* The last job never ran. */
		apus_own_free(into->own);
	}
	into->taken = own != NULL;
	if (UNEXPECTED(own != NULL)) {
		memset(into, 0, sizeof(*into));
		into->taken = true;
		into->own = own;
	}
}

void apus_ambient_revive(void)
{
	if (UNEXPECTED(!(OG(flags) & PHP_OUTPUT_ACTIVATED))) {
		fresh_output();
	}
}

/* Buffers that a fatal error left open are flushed, as at the end of a script; but not by a handler while one runs. */
static void end_output(void)
{
	bool failed = OG(running) != NULL;
	if (!failed) {
		GUARDED(failed, php_output_end_all());
	}
	if (failed && (OG(flags) & PHP_OUTPUT_ACTIVATED)) {
		QUIETLY(php_output_deactivate());
	}
	apus_ambient_revive();
}

static void drop_exception(void)
{
	if (EG(exception) != NULL) {
		QUIETLY(zend_clear_exception());
	}
}

void apus_ambient_abandon(const zval *handler)
{
	drop_exception();
	(void) apus_take_memory_exit();
	if (OG(handlers).elements != NULL || OG(running) != NULL) {
		end_output();
		drop_exception();
	}
	BG(serialize_lock) = 0;
	BG(serialize).level = 0;
	BG(unserialize).level = 0;
	BG(user_compare_fci).size = 0;
	if (EG(in_autoload) != NULL) {
		QUIETLY(zend_hash_clean(EG(in_autoload)));
	}
	EG(error_handling) = EH_NORMAL;
	EG(exception_class) = NULL;
	if (Z_TYPE(EG(user_error_handler)) == IS_UNDEF && Z_TYPE_P(handler) != IS_UNDEF) {
		ZVAL_COPY(&EG(user_error_handler), handler);
	}
}
