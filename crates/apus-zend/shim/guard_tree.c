#include "apus_guard.h"

/* Trees of nodes: DOM and SimpleXML.
 *
 * Their objects are data that any number of coroutines may read. But a call that walks through a tree may call PHP code
 * (a function in an XPath expression, a stylesheet, a stream that a document is written to), and who changes the tree
 * meanwhile frees what it points to. The key of a node is its document. A method that only reads is refused while a
 * call that may change the tree waits; one that changes it, and writing to a property, while any does. Reading a
 * property never is: nothing is left half changed where PHP code is called. */

/* What stands before each object of ext/dom, in all versions of PHP. Its header wants libxml's own. */
typedef struct { void *node; void **document, *properties; } node_fields;
/* What an object of SimpleXML begins with. */
typedef struct { void *node; void **document; } simplexml_fields;

/* A document is counted in a record that has libxml's own first; a node may be of none. */
static uintptr_t tree_of(zend_object *object, void **document)
{
	return (uintptr_t) (document == NULL ? object : *document != NULL ? *document : document);
}

uintptr_t apus_tree_of_node(zend_object *object)
{
	return tree_of(object, ((node_fields *) object - 1)->document);
}

uintptr_t apus_tree_of_simplexml(zend_object *object)
{
	return tree_of(object, ((simplexml_fields *) ((char *) object - object->handlers->offset))->document);
}

/* ---- methods ---- */

/* How the names of those begin that change nothing. */
static const char *const READING[] = {
	"get", "has", "is", "lookup", "item", "count", "create", "save", "compare", "contains", "C14N", "matches",
	"closest", "query", "clone",
	"substring", "current", "key", "valid", "next", "rewind", "children", "attributes", "asXML", "xpath", "__toString",
};

static bool only_reads(const zend_function *method)
{
	const char *name = ZSTR_VAL(method->common.function_name);
	for (size_t i = 0; i < sizeof(READING) / sizeof(*READING); i++) {
		if (strncasecmp(name, READING[i], strlen(READING[i])) == 0) {
			return true;
		}
	}
	return false;
}

void apus_tree_refine(const zend_function *method, bool of_xpath, apus_guarded *how)
{
	const apus_use reads = {APUS_USES_OUT, APUS_USES_KEEPS};
	if (!of_xpath && !only_reads(method)) {
		return;
	}
	if (!of_xpath) {
		how->self = reads;
	}
	for (int i = 0; i < APUS_GUARD_ARGS; i++) {
		if (how->args[i].marks != 0) {
			how->args[i] = reads;
		}
	}
}

/* ---- properties and elements: written to without a call ---- */

/* The tables of handlers that the classes share, and what stood in them before. The first is that of most. */
enum { TABLES = 8 };
static struct { const zend_object_handlers *at; zend_object_handlers theirs; } before[TABLES];
static int tables;

static const zend_object_handlers *theirs(const zend_object *object)
{
	int i = 0;
	while (i < tables - 1 && before[i].at != object->handlers) {
		i++;
	}
	return &before[i].theirs;
}

static zend_never_inline ZEND_COLD bool is_refused(zend_object *object)
{
	const apus_use all = {APUS_USES_ALL, APUS_USES_ALL};
	return apus_guard_refuses(apus_guard_tree_key(object), all);
}

#define REFUSED(object) (UNEXPECTED(apus_trees_held != 0) && is_refused(object))

static zval *write_property(zend_object *object, zend_string *name, zval *value, void **cache)
{
	return REFUSED(object) ? &EG(error_zval) : theirs(object)->write_property(object, name, value, cache);
}

static void unset_property(zend_object *object, zend_string *name, void **cache)
{
	if (!REFUSED(object)) {
		theirs(object)->unset_property(object, name, cache);
	}
}

static void write_dimension(zend_object *object, zval *offset, zval *value)
{
	if (!REFUSED(object)) {
		theirs(object)->write_dimension(object, offset, value);
	}
}

static void unset_dimension(zend_object *object, zval *offset)
{
	if (!REFUSED(object)) {
		theirs(object)->unset_dimension(object, offset);
	}
}

/* SimpleXML makes an element that is asked for in order to write into it. */
static bool makes(int type)
{
	return type == BP_VAR_W || type == BP_VAR_RW;
}

static zval *read_property(zend_object *object, zend_string *name, int type, void **cache, zval *room)
{
	return makes(type) && REFUSED(object) ? &EG(error_zval)
		: theirs(object)->read_property(object, name, type, cache, room);
}

static zval *read_dimension(zend_object *object, zval *offset, int type, zval *room)
{
	return makes(type) && REFUSED(object) ? &EG(error_zval)
		: theirs(object)->read_dimension(object, offset, type, room);
}

static zval *get_property_ptr_ptr(zend_object *object, zend_string *name, int type, void **cache)
{
	return makes(type) && REFUSED(object) ? &EG(error_zval)
		: theirs(object)->get_property_ptr_ptr(object, name, type, cache);
}

void apus_tree_watch(zend_class_entry *ce, bool simplexml)
{
	zend_object_handlers *handlers = apus_guard_handlers_of(ce);
	if (handlers == NULL || handlers->write_property == write_property || tables == TABLES) {
		return;
	}
	before[tables].at = handlers;
	before[tables++].theirs = *handlers;
	handlers->write_property = write_property;
	handlers->unset_property = unset_property;
	handlers->write_dimension = write_dimension;
	handlers->unset_dimension = unset_dimension;
	if (simplexml) {
		handlers->read_property = read_property;
		handlers->read_dimension = read_dimension;
		handlers->get_property_ptr_ptr = get_property_ptr_ptr;
	}
}
