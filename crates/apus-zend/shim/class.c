#include "apus_shim.h"

/* What is registered at module start lives as long as the process: allocated persistently, never freed. */
static zend_type type_of(uint32_t mask, const char *class_name, bool by_ref, bool variadic)
{
	uint32_t flags = _ZEND_ARG_INFO_FLAGS(by_ref, variadic, 0);
	if (class_name != NULL) {
		zend_type type = (zend_type) ZEND_TYPE_INIT_CLASS_CONST_MASK(class_name, mask | flags);
		return type;
	}
	zend_type type = (zend_type) ZEND_TYPE_INIT_MASK(mask | flags);
	return type;
}

static const zend_internal_arg_info *arg_info(const apus_method_def *method)
{
	zend_internal_arg_info *info = calloc(method->num_args + 1, sizeof(*info));
	info[0].name = (const char *) (uintptr_t) method->required;
	info[0].type = type_of(method->return_mask, method->return_class, false, false);
	for (uint32_t i = 0; i < method->num_args; i++) {
		const apus_arg_def *arg = &method->args[i];
		info[i + 1].name = arg->name;
		info[i + 1].type = type_of(arg->mask, arg->class_name, arg->by_ref, arg->variadic);
		info[i + 1].default_value = arg->default_value;
	}
	return info;
}

static zend_function_entry *entries(const apus_method_def *methods, size_t count)
{
	zend_function_entry *table = calloc(count + 1, sizeof(*table));
	for (size_t i = 0; i < count; i++) {
		table[i].fname = methods[i].name;
		table[i].handler = methods[i].handler;
		table[i].arg_info = arg_info(&methods[i]);
		/* Declared arguments; the element before them holds the return type. */
		table[i].num_args = methods[i].num_args;
		table[i].flags = methods[i].flags;
	}
	return table;
}

zend_class_entry *apus_class_register(const char *name, zend_class_entry *parent, uint32_t flags,
	const apus_method_def *methods, size_t count)
{
	zend_class_entry ce;
	zend_class_entry *registered;
	INIT_CLASS_ENTRY_EX(ce, name, strlen(name), entries(methods, count));
	if (flags & ZEND_ACC_INTERFACE) {
		registered = zend_register_internal_interface(&ce);
	} else {
		registered = zend_register_internal_class_ex(&ce, parent);
		registered->ce_flags |= flags;
	}
	return registered;
}

zend_class_entry *apus_class_find(const char *name)
{
	zend_class_entry *volatile found = NULL;
	apus_try {
		found = zend_hash_str_find_ptr_lc(CG(class_table), name, strlen(name));
	} apus_catch {
	} apus_end_try();
	return found;
}

void apus_class_implement(zend_class_entry *ce, zend_class_entry *interface)
{
	zend_class_implements(ce, 1, interface);
}

static void interned(zval *value)
{
	if (Z_TYPE_P(value) == IS_STRING) {
		ZVAL_STR(value, zend_string_init_interned(Z_STRVAL_P(value), Z_STRLEN_P(value), true));
	}
}

void apus_class_property(zend_class_entry *ce, const char *name, uint32_t mask, const char *class_name, zval *value,
	uint32_t flags)
{
	zend_string *key = zend_string_init_interned(name, strlen(name), true);
	zend_type type;
	if (class_name != NULL) {
		zend_string *of = zend_string_init_interned(class_name, strlen(class_name), true);
		type = (zend_type) ZEND_TYPE_INIT_CLASS(of, 0, mask);
	} else {
		type = (zend_type) ZEND_TYPE_INIT_MASK(mask);
	}
	interned(value);
	zend_declare_typed_property(ce, key, value, (int) flags, NULL, type);
}

void apus_class_constant(zend_class_entry *ce, const char *name, zval *value)
{
	interned(value);
	zend_declare_class_constant(ce, name, strlen(name), value);
}

void apus_class_alias(const char *name, zend_class_entry *ce)
{
	zend_register_class_alias_ex(name, strlen(name), ce, true);
}

void apus_class_set_name(zend_class_entry *ce, const char *name)
{
	zend_string *old = ce->name;
	ce->name = zend_string_init_interned(name, strlen(name), true);
	zend_string_release(old);
}

apus_status apus_functions_register(const apus_method_def *functions, size_t count, int module_number)
{
	return zend_register_functions(NULL, entries(functions, count), NULL, MODULE_PERSISTENT) == SUCCESS ? APUS_OK
		: APUS_THREW;
}

void apus_constant(const char *name, zval *value, int module_number)
{
	zend_constant constant;
	interned(value);
	ZVAL_COPY_VALUE(&constant.value, value);
	ZEND_CONSTANT_SET_FLAGS(&constant, CONST_CS | CONST_PERSISTENT, module_number);
	constant.name = zend_string_init_interned(name, strlen(name), true);
	zend_register_constant(&constant);
}
