#include "apus_shim.h"

/* One class, one autoloader at a time: who else needs a class that a coroutine is loading or declaring waits until it
 * has ended. */

static zend_class_entry *(*inner_autoload)(zend_string *name, zend_string *lc_name);
static apus_autoload_hooks loading;

static zend_class_entry *linked(zend_string *lc_name)
{
	zend_class_entry *ce = zend_hash_find_ptr(EG(class_table), lc_name);
	return ce != NULL && (ce->ce_flags & ZEND_ACC_LINKED) ? ce : NULL;
}

/* The class whose declaration has asked for another one, or NULL. */
static const zend_string *declaring(void)
{
	const zend_execute_data *ex = EG(current_execute_data);
	if (ex == NULL || ex->func == NULL || !ZEND_USER_CODE(ex->func->type)
		|| (ex->opline->opcode != ZEND_DECLARE_CLASS && ex->opline->opcode != ZEND_DECLARE_CLASS_DELAYED)) {
		return NULL;
	}
	return Z_STR_P(RT_CONSTANT(ex->opline, ex->opline->op1));
}

static void end_loading(const zend_string *lc_name)
{
	if (lc_name != NULL) {
		loading.end(ZSTR_VAL(lc_name), ZSTR_LEN(lc_name));
	}
}

/* `ours`, `claimed`: what others wait for, and are told when this bails out; `ours` when it returns, too. */
static zend_class_entry *load(zend_string *name, zend_string *lc_name, const zend_string *ours,
	const zend_string *claimed)
{
	zend_class_entry *ce = NULL;
	bool bailed = false;
	zend_try {
		ce = inner_autoload(name, lc_name);
	} zend_catch {
		bailed = true;
	} zend_end_try();
	end_loading(ours);
	if (bailed) {
		end_loading(claimed);
		zend_bailout();
	}
	return ce;
}

static zend_class_entry *load_in_turn(zend_string *name, zend_string *lc_name, const zend_string *claimed)
{
	for (;;) {
		apus_c_waits = true;
		switch (loading.begin(ZSTR_VAL(lc_name), ZSTR_LEN(lc_name))) {
			case APUS_AUTOLOAD_OURS:
				return load(name, lc_name, lc_name, claimed);
			case APUS_AUTOLOAD_NESTED:
				/* A circle through a class that is being declared: PHP says that there is none yet. */
				return apus_class_is_hidden(lc_name) ? NULL : load(name, lc_name, NULL, claimed);
			case APUS_AUTOLOAD_FAILED:
				return NULL;
			case APUS_AUTOLOAD_LOADED:
				break;
		}
		zend_class_entry *ce = linked(lc_name);
		if (ce != NULL) {
			return ce;
		}
		if (!apus_class_is_hidden(lc_name)) {
			/* The other one's autoloader did not find it: ours will not, but is to say so itself. */
			return load(name, lc_name, NULL, claimed);
		}
	}
}

static zend_class_entry *autoload(zend_string *name, zend_string *lc_name)
{
	const zend_string *class = declaring();
	const zend_string *claimed = class != NULL && loading.claim(ZSTR_VAL(class), ZSTR_LEN(class)) ? class : NULL;
	zend_class_entry *ce = load_in_turn(name, lc_name, claimed);
	end_loading(claimed);
	return ce;
}

void apus_autoload_install(const apus_autoload_hooks *hooks)
{
	if (zend_autoload != NULL && zend_autoload != autoload) {
		loading = *hooks;
		inner_autoload = zend_autoload;
		zend_autoload = autoload;
	}
}
