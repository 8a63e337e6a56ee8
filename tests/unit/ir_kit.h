/*
 * Tools of the tests of the graph: a module of their own for each test, short
 * calls that make items, a small network and one of every kind of flow, and
 * what the printer and the verifier are held to.
 */
#ifndef TN_TESTS_IR_KIT_H
#define TN_TESTS_IR_KIT_H

#include "ir/builder.h"
#include "ir/graph_edit.h"

extern const struct tn_span nowhere;

struct ir_fixture {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
};

int ir_setup(void **state);
int ir_teardown(void **state);
struct tn_item *ir_add_item(struct tn_module *m, enum tn_item_kind kind,
			    const char *name);
const struct tn_dim *ir_add_dim(struct tn_module *m, const char *name,
				int64_t lo, int64_t hi);
struct tn_weight *ir_add_weight(struct tn_module *m, const char *name,
				const struct tn_type *type);
/* f32 of the dims; the list ends with NULL. */
const struct tn_type *ir_f32_of(struct tn_module *m, ...);
/* A function without parameters; the builder's end of it, with one result. */
struct tn_fn *ir_add_fn(struct tn_module *m, const char *name, int nresults);
void ir_finish(struct tn_fn *fn, struct tn_builder *b,
	       struct tn_value *result);
/* h = x @ w1; p = sort(h + 1.5). */
struct tn_fn *ir_make_mlp(struct tn_module *m);
/* A for, a while, an if, a scan and a dim, one after the other. */
struct tn_fn *ir_make_flow(struct tn_module *m);
int ir_count_uses(const struct tn_value *value);

void assert_text(const struct tn_buf *buf, const char *want);
/* The module prints as this. */
void assert_module(const struct tn_module *m, const char *want);
void assert_valid(const struct tn_module *m, unsigned props);
/* The verifier finds a fault whose text holds `part`. */
void assert_fault(const struct tn_module *m, unsigned props,
		  const char *part);

#endif
