/* closure.c: where the code of a closure stands, so that another process of the same program finds it. */

typedef struct {
	apus_bytes scope;    /* the class of the method that the closure is written in; empty for none */
	apus_bytes function; /* the function or method; empty for the main script */
	uint32_t number;     /* its place among the closures written there, nested ones included */
	uint32_t first_line, last_line;
	apus_bytes bound;    /* the class whose private members it may use; empty for none */
} apus_closure_place;

typedef enum {
	APUS_CLOSURE_WRITTEN, /* `place` says where */
	APUS_CLOSURE_NAMED,   /* made of a function or method: `place` has its `scope` and `function` */
	APUS_CLOSURE_UNKNOWN, /* its code stands outside functions in a file that was included, or was made by eval() */
} apus_closure_kind;

void apus_closure_main(void); /* the script that runs is the main one */
apus_closure_kind apus_closure_find(zval *closure, apus_closure_place *place);
zval *apus_closure_this(zval *closure); /* NULL: none */
/* The closure of a place; `self` is an object or NULL. *out is undefined when nothing is there. May load classes. */
apus_status apus_closure_make(const apus_closure_place *place, zval *self, zval *out);
apus_status apus_closure_bind(zval *closure, const char *name, size_t len, zval *value); /* takes the reference */
