/*
 * Tests: each becomes a function without parameters that returns what its
 * `expect`s compare. `reject` is checked here, in a sink of its own.
 */
#include "grammar/elab.h"

#include <string.h>

/* ---- expect ------------------------------------------------------------ */

static int add_result(struct frame *frame, struct tn_value *value)
{
	if (!tn_vec_push_ptr(frame->results, value))
		frame->e->module->failed = true;
	return (int)frame->results->len - 1;
}

/* One of two sides in the shape of the other, if it stretches. */
static struct tn_value *stretch(struct frame *frame, struct tn_value *value,
				const struct tn_type *to, struct tn_span span)
{
	struct tn_attr attr = tn_attr_dims("shape", to->rank, to->dims);
	struct ev ev;

	if (value->type == to)
		return value;
	ev = elab_make(frame, TN_OP_broadcast, 1, &value, 1, &attr, span);
	return ev.kind == EV_VALUE ? ev.u.value : NULL;
}

static bool stretches(const struct tn_type *from, const struct tn_type *to)
{
	int shift = to->rank - from->rank, i;

	if (shift < 0 || from->dtype != to->dtype)
		return false;
	for (i = 0; i < from->rank; i++)
		if (from->dims[i] != to->dims[i + shift] &&
		    !tn_dim_is(from->dims[i], 1))
			return false;
	return true;
}

static bool same_shapes(struct frame *frame, struct tn_value *in[2],
			struct tn_span span)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;

	if (stretches(in[1]->type, in[0]->type)) {
		in[1] = stretch(frame, in[1], in[0]->type, span);
		return in[1] != NULL;
	}
	if (stretches(in[0]->type, in[1]->type)) {
		in[0] = stretch(frame, in[0], in[1]->type, span);
		return in[0] != NULL;
	}
	diag = tn_diag_report(e->sink, TN_E0283, span,
			      "the sides of `expect` are %s and %s",
			      elab_type_text(e, in[0]->type),
			      elab_type_text(e, in[1]->type));
	tn_diag_help(e->sink, diag, "compare values of one shape");
	return false;
}

static void read_tolerances(struct frame *frame, const struct tn_stmt *stmt,
			    struct tn_expect *expect)
{
	uint32_t i;

	for (i = 0; i < stmt->args.len; i++) {
		const struct tn_arg *arg = stmt->args.at[i];
		struct ev ev;
		bool rtol, atol;

		if (arg->kind != TN_ARG_NAMED)
			continue;
		rtol = strcmp(arg->name.text, "rtol") == 0;
		atol = strcmp(arg->name.text, "atol") == 0;
		if (!rtol && !atol) {
			tn_diag_report(frame->e->sink, TN_E0208, arg->span,
				       "`expect` has no option '%s', only "
				       "rtol and atol", arg->name.text);
			continue;
		}
		ev = elab_expr(frame, arg->value, ELAB_ANY);
		if (ev.kind != EV_FLOAT && ev.kind != EV_DIM) {
			tn_diag_report(frame->e->sink, TN_E0210, arg->span,
				       "a tolerance is a number");
			continue;
		}
		*(rtol ? &expect->rtol : &expect->atol) = ev_to_f64(&ev);
	}
}

static void put_expect(struct frame *frame, const struct tn_expect *from)
{
	struct tn_expect *expect = tn_vec_push(&frame->test->expects);

	if (expect)
		*expect = *from;
	else
		frame->e->module->failed = true;
}

void elab_expect(struct frame *frame, const struct tn_stmt *stmt)
{
	const struct tn_expr *expr = stmt->values.at[0];
	struct tn_expect expect = {.kind = TN_EXPECT_TRUE};
	struct tn_value *in[2];
	struct ev sides[2];

	expect.span = expr->span;
	read_tolerances(frame, stmt, &expect);
	if (expr->kind == TN_EXPR_BINARY &&
	    (expr->op == TN_INFIX_EQ || expr->op == TN_INFIX_APPROX)) {
		sides[0] = elab_expr(frame, expr->u.binary.left, ELAB_ANY);
		sides[1] = elab_expr(frame, expr->u.binary.right, ELAB_ANY);
		if (sides[0].kind == EV_STRING || sides[0].kind == EV_ELEM ||
		    sides[0].kind == EV_LIST) {
			sides[0] = elab_binary(frame, TN_INFIX_EQ, &sides[0],
					       &sides[1], ELAB_ANY,
					       expr->span);
			in[0] = elab_to_value(frame, &sides[0], TN_bool);
			if (in[0]) {
				expect.left = add_result(frame, in[0]);
				expect.right = expect.left;
				put_expect(frame, &expect);
			}
			return;
		}
		if (!elab_adopt(frame, 2, sides, in, ELAB_ANY, expr->span,
				tn_infixes[expr->op].text) ||
		    !same_shapes(frame, in, expr->span))
			return;
		expect.kind = expr->op == TN_INFIX_EQ ? TN_EXPECT_EQ :
						     TN_EXPECT_APPROX;
		expect.left = add_result(frame, in[0]);
		expect.right = add_result(frame, in[1]);
		put_expect(frame, &expect);
		return;
	}
	in[0] = elab_expr_value(frame, expr, ELAB_ANY);
	if (!in[0] || tn_type_is_poison(in[0]->type))
		return;
	if (in[0]->type->dtype != TN_bool) {
		tn_diag_report(frame->e->sink, TN_E0705, expr->span,
			       "`expect` wants a bool, this is %s",
			       elab_type_text(frame->e, in[0]->type));
		return;
	}
	expect.left = expect.right = add_result(frame, in[0]);
	put_expect(frame, &expect);
}

/* ---- reject ------------------------------------------------------------ */

static bool has_code(const struct tn_sink *sink, const char *name)
{
	size_t i;

	for (i = 0; i < sink->diags.len; i++) {
		const struct tn_diag *diag = tn_vec_ptr(&sink->diags, i);

		if (strcmp(tn_codes[diag->code].name, name) == 0)
			return true;
	}
	return false;
}

static void report_reject(struct frame *frame, const struct tn_stmt *stmt,
			  const struct tn_sink *got)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;
	size_t i;

	diag = tn_diag_report(e->sink, TN_E0227, stmt->code.span,
			      "%s was expected here, %s", stmt->code.text,
			      got->errors ? "something else came" :
					    "but nothing is wrong");
	for (i = 0; i < got->diags.len; i++) {
		const struct tn_diag *other = tn_vec_ptr(&got->diags, i);

		tn_diag_note(e->sink, diag, "%s: %s",
			     tn_codes[other->code].name, other->message);
	}
}

void elab_reject(struct frame *frame, const struct tn_stmt *stmt)
{
	struct tn_elab *e = frame->e;
	struct tn_builder saved = frame->b;
	struct outcome out = {0};
	struct tn_vec expects = frame->test->expects;
	size_t results = frame->results->len;
	struct elab_trial trial;

	if (tn_code_find(stmt->code.text) == TN_CODE_COUNT) {
		tn_diag_report(e->sink, TN_E0227, stmt->code.span,
			       "no diagnostic has the code '%s'",
			       stmt->code.text);
		return;
	}
	if (!elab_trial_begin(&trial, e, "reject"))
		return;
	tn_builder_init(&frame->b, trial.fn->body);
	tn_vec_init(&frame->test->expects, sizeof(struct tn_expect), NULL);
	elab_block(frame, &stmt->block, BLOCK_TEST, NULL, 0, &out);
	tn_vec_fini(&frame->test->expects);
	frame->test->expects = expects;
	frame->b = saved;
	while (frame->results->len > results)
		tn_vec_pop(frame->results);
	elab_trial_end(&trial);
	if (!has_code(&trial.quiet, stmt->code.text))
		report_reject(frame, stmt, &trial.quiet);
	elab_trial_drop(&trial);
}

/* ---- Whole tests ------------------------------------------------------- */

static bool end_test(struct frame *frame, struct tn_span span)
{
	struct tn_fn *fn = frame->b.fn;
	int count = (int)frame->results->len, i;
	struct tn_op *op;

	fn->result_names = elab_array(frame->e, (size_t)count,
				      sizeof(*fn->result_names));
	fn->result_types = elab_array(frame->e, (size_t)count,
				      sizeof(*fn->result_types));
	if (!fn->result_names || !fn->result_types)
		return false;
	for (i = 0; i < count; i++) {
		struct tn_value *value = tn_vec_ptr(frame->results, (size_t)i);

		fn->result_types[i] = value->type;
	}
	fn->nresults = count;
	op = tn_graph_op(fn, TN_OP_return, count, frame->results->data, 0,
			 span);
	if (!op)
		return false;
	tn_graph_insert(fn->body, op, NULL);
	return tn_infer_op(op);
}

static bool one_test(struct tn_elab *e, const struct decl *decl,
		     struct tn_test *test)
{
	uint32_t errors = e->sink->errors;
	struct outcome out = {0};
	struct tn_vec results;
	struct frame frame;
	const char *name;

	test->name = decl->item->name.text;
	test->span = decl->item->name.span;
	tn_vec_init(&test->expects, sizeof(struct tn_expect),
		    &e->module->arena);
	elab_annots(e, &decl->item->annots, &test->annots);
	name = tn_arena_printf(&e->scratch, "test__%zu", e->module->fns.len);
	test->fn = name ? tn_graph_fn(e->module, name, TN_FN_INSTANCE) : NULL;
	if (!test->fn)
		return false;
	test->fn->span = test->span;
	tn_vec_init(&results, sizeof(struct tn_value *), NULL);
	frame_init(&frame, e, NULL, decl, test->fn);
	frame.test = test;
	frame.results = &results;
	if (!elab_block(&frame, &decl->item->u.test.body, BLOCK_TEST, NULL, 0,
			&out) ||
	    e->sink->errors != errors ||
	    !end_test(&frame, decl->item->u.test.body.span))
		test->fn = NULL;
	frame_fini(&frame);
	tn_vec_fini(&results);
	return !e->module->failed;
}

bool tn_elab_tests(struct tn_elab *e, struct tn_vec *tests)
{
	uint32_t i;

	if (!e->module || !e->tree)
		return false;
	for (i = 0; i < e->tree->len; i++) {
		const struct tn_tree_item *item = e->tree->at[i];
		struct decl decl = {.item = item};
		struct tn_test *test;

		if (item->kind != TN_TREE_ITEM_TEST)
			continue;
		decl.name = item->name.text;
		test = tn_vec_push(tests);
		if (!test || !one_test(e, &decl, test))
			return false;
	}
	return true;
}
