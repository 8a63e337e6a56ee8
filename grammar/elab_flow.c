/*
 * Control flow: if, for, while and scan become operators with regions.
 *
 *   x = with (h = x0) for i in 0..L { yield f(h, blk[i]); };
 *
 * gives `for` with operand x0 and one region over (i, h) that ends in yield.
 */
#include "grammar/elab.h"

#include <string.h>

/* ---- Regions as blocks ------------------------------------------------- */

/* A block that is not the body: its parent is set when the op is made. */
static struct tn_block *open_region(struct frame *frame,
				    struct tn_builder *saved)
{
	struct tn_op *place;
	struct tn_block *block;

	*saved = frame->b;
	place = tn_graph_op(frame->b.fn, TN_OP_yield, 0, NULL, 0,
			    (struct tn_span){0, 0, 0});
	block = place ? tn_graph_block(frame->b.fn, place) : NULL;
	if (!block)
		return NULL;
	frame->b.block = block;
	frame->b.before = NULL;
	return block;
}

static void close_region(struct frame *frame, const struct tn_builder *saved)
{
	frame->b.block = saved->block;
	frame->b.before = saved->before;
}

static bool end_region(struct frame *frame, struct tn_block *block, int count,
		       const struct ev *values, const enum tn_dtype *dtypes,
		       int nemits, struct tn_span span)
{
	struct tn_block *saved = frame->b.block;
	struct tn_value **in;
	struct tn_op *yield;
	bool ok = true;
	int i;

	in = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
			    sizeof(*in));
	if (!in)
		return false;
	frame->b.block = block;
	for (i = 0; i < count; i++) {
		in[i] = elab_to_value(frame, &values[i],
				      ev_is_literal(&values[i]) ? dtypes[i] :
								  ELAB_ANY);
		ok = ok && in[i] && !tn_type_is_poison(in[i]->type);
	}
	frame->b.block = saved;
	if (!ok)
		return false;
	yield = tn_graph_op(frame->b.fn, TN_OP_yield, count, in, 0, span);
	if (!yield || !elab_set_attr(frame->e, yield,
				     tn_attr_int("emits", nemits)))
		return false;
	tn_graph_insert(block, yield, NULL);
	return tn_infer_op(yield);
}

/* An operator with regions; results are named and typed. */
static struct tn_op *flow_op(struct frame *frame, enum tn_opcode code, int nin,
			     struct tn_value *const *in, int nregions,
			     struct tn_block *const *regions, int nout,
			     struct tn_span span)
{
	struct tn_op *op = tn_graph_op(frame->b.fn, code, nin, in, nout, span);

	return op && tn_graph_set_regions(op, nregions, regions) ? op : NULL;
}

static struct ev finish_op(struct frame *frame, struct tn_op *op)
{
	tn_graph_insert(frame->b.block, op, NULL);
	if (!tn_infer_op(op))
		return ev_poison(op->span);
	return elab_results(frame, op);
}

/* ---- if ---------------------------------------------------------------- */

/* Element types of results: of what has one, else wanted, else by kind. */
static enum tn_dtype *branch_types(struct frame *frame,
				   const struct outcome *a,
				   const struct outcome *b,
				   const enum tn_dtype *wants, int nwants)
{
	enum tn_dtype *out;
	int i;

	out = tn_arena_array(&frame->e->scratch, (size_t)a->nvalues + 1,
			     sizeof(*out));
	for (i = 0; out && i < a->nvalues; i++) {
		const struct ev *x = &a->values[i], *y = &b->values[i];

		out[i] = i < nwants ? wants[i] : ELAB_ANY;
		if (!ev_is_literal(x))
			out[i] = elab_default(x);
		else if (!ev_is_literal(y))
			out[i] = elab_default(y);
		else if (out[i] == ELAB_ANY)
			out[i] = elab_default(x) == TN_i64 ? elab_default(y) :
							     elab_default(x);
	}
	return out;
}

static struct ev if_from(struct frame *frame, const struct tn_region *region,
			 uint32_t arm, const enum tn_dtype *wants, int nwants);

/* The block of an arm, or the rest of an else-if chain. */
static bool arm_block(struct frame *frame, const struct tn_region *region,
		      uint32_t arm, const enum tn_dtype *wants, int nwants,
		      struct outcome *out)
{
	struct ev ev;

	if (!region->arms.at[arm]->cond)
		return elab_block(frame, &region->arms.at[arm]->body,
				  BLOCK_REGION, wants, nwants, out);
	ev = if_from(frame, region, arm, wants, nwants);
	out->ended = true;
	out->span = region->span;
	out->nvalues = ev.kind == EV_TUPLE ? ev.u.list.len : 1;
	out->values = tn_arena_array(&frame->e->scratch,
				     (size_t)out->nvalues + 1,
				     sizeof(struct ev));
	if (!out->values)
		return false;
	if (ev.kind == EV_TUPLE)
		out->values = ev.u.list.at;
	else
		out->values[0] = ev;
	return ev.kind != EV_POISON;
}

static struct ev ev_outcome(struct frame *frame, const struct outcome *out,
			    struct tn_span span)
{
	struct ev ev;

	if (out->nvalues == 1)
		return out->values[0];
	ev = ev_list(frame->e, out->values, out->nvalues, span);
	if (ev.kind == EV_LIST)
		ev.kind = EV_TUPLE;
	return ev;
}

static struct ev dynamic_if(struct frame *frame,
			    const struct tn_region *region, uint32_t arm,
			    struct tn_value *cond, const enum tn_dtype *wants,
			    int nwants)
{
	struct outcome yes = {0}, no = {0};
	struct tn_block *blocks[2];
	struct tn_builder saved;
	enum tn_dtype *dtypes;
	struct tn_op *op;
	bool ok;
	int i;

	blocks[0] = open_region(frame, &saved);
	ok = blocks[0] && elab_block(frame, &region->arms.at[arm]->body,
				     BLOCK_REGION, wants, nwants, &yes);
	close_region(frame, &saved);
	dtypes = tn_arena_array(&frame->e->scratch, (size_t)yes.nvalues + 1,
				sizeof(*dtypes));
	for (i = 0; dtypes && i < yes.nvalues; i++)
		dtypes[i] = !ev_is_literal(&yes.values[i]) ?
			    elab_default(&yes.values[i]) :
			    i < nwants ? wants[i] : ELAB_ANY;
	blocks[1] = open_region(frame, &saved);
	ok = blocks[1] && arm_block(frame, region, arm + 1, dtypes,
				    dtypes ? yes.nvalues : 0, &no) && ok;
	close_region(frame, &saved);
	if (!ok)
		return ev_poison(region->span);
	if (yes.nvalues != no.nvalues) {
		struct tn_diag *diag;

		diag = tn_diag_report(frame->e->sink, TN_E0702, no.span,
				      "this branch yields %d value%s, the "
				      "other %d", no.nvalues,
				      no.nvalues == 1 ? "" : "s", yes.nvalues);
		tn_diag_also(frame->e->sink, diag, yes.span, "the other");
		return ev_poison(region->span);
	}
	dtypes = branch_types(frame, &yes, &no, wants, nwants);
	if (!dtypes ||
	    !end_region(frame, blocks[0], yes.nvalues, yes.values, dtypes, 0,
			yes.span) ||
	    !end_region(frame, blocks[1], no.nvalues, no.values, dtypes, 0,
			no.span))
		return ev_poison(region->span);
	op = flow_op(frame, TN_OP_if, 1, &cond, 2, blocks, yes.nvalues,
			  region->span);
	return op ? finish_op(frame, op) : ev_poison(region->span);
}

static struct ev if_from(struct frame *frame, const struct tn_region *region,
			 uint32_t arm, const enum tn_dtype *wants, int nwants)
{
	const struct tn_expr *expr = region->arms.at[arm]->cond;
	struct ev cond = elab_expr(frame, expr, ELAB_ANY);
	struct outcome out = {0};
	struct tn_value *value;
	struct tn_diag *diag;

	if (cond.kind == EV_BOOL) {
		if (!cond.u.truth)
			arm++;
		else if (!elab_block(frame, &region->arms.at[arm]->body,
				     BLOCK_REGION, wants, nwants, &out))
			return ev_poison(region->span);
		if (!cond.u.truth && !arm_block(frame, region, arm, wants,
						nwants, &out))
			return ev_poison(region->span);
		return ev_outcome(frame, &out, region->span);
	}
	if (ev_is_poison(&cond))
		return ev_poison(region->span);
	value = elab_to_value(frame, &cond, ELAB_ANY);
	if (!value)
		return ev_poison(region->span);
	if (value->type->dtype != TN_bool || value->type->rank != 0) {
		diag = tn_diag_report(frame->e->sink, TN_E0705, expr->span,
				      "a condition is one bool, this is %s",
				      elab_type_text(frame->e, value->type));
		tn_diag_help(frame->e->sink, diag,
			     value->type->dtype == TN_bool ?
			     "use all(..) or any(..), or select(c, a, b) for "
			     "each element" : "compare it: x != 0");
		return ev_poison(region->span);
	}
	return dynamic_if(frame, region, arm, value, wants, nwants);
}

/* ---- Loops ------------------------------------------------------------- */

struct loop {
	struct frame *frame;
	const struct tn_region *region;
	int ncarries, ninputs;
	struct ev *inits;
	enum tn_dtype *dtypes;		/* of carries, ELAB_ANY: as it is */
	struct tn_value **in;		/* carries, then inputs */
	int axis;
	struct outcome out;
};

static void bind_index(struct loop *loop, struct tn_block *block)
{
	struct tn_module *module = loop->frame->e->module;
	struct tn_value *index;
	struct ev ev;

	if (loop->region->kind != TN_REGION_FOR)
		return;
	index = tn_graph_param(block, loop->region->var.text,
			       tn_type_get(module, TN_i64, 0, NULL));
	if (index)
		index->span = loop->region->var.span;
	ev = ev_value(index, loop->region->var.span);
	ev.soft = true;
	frame_bind(loop->frame, loop->region->var, ev);
}

static const struct tn_type *slice_type(struct loop *loop,
					const struct tn_type *type)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int rank = 0, i;

	for (i = 0; i < type->rank; i++)
		if (i != loop->axis)
			dims[rank++] = type->dims[i];
	return tn_type_get(loop->frame->e->module, type->dtype, rank, dims);
}

static void bind_inputs(struct loop *loop, struct tn_block *block)
{
	int i;

	for (i = 0; i < loop->ninputs; i++) {
		const struct tn_name *name =
			&loop->region->inputs.at[i]->name;
		struct tn_value *value;

		value = tn_graph_param(block, name->text,
			slice_type(loop, loop->in[loop->ncarries + i]->type));
		if (value)
			value->span = name->span;
		frame_bind(loop->frame, *name, ev_value(value, name->span));
	}
}

/* Parameters of a region for index, carries and slices, bound to names. */
static void bind_params(struct loop *loop, struct tn_block *block)
{
	const struct tn_carries *carries = &loop->region->carries;
	int i;

	bind_index(loop, block);
	for (i = 0; i < loop->ncarries; i++) {
		const struct tn_name *name = &carries->at[i]->name;
		struct tn_value *value;

		value = tn_graph_param(block, name->text, loop->in[i]->type);
		if (value)
			value->span = name->span;
		frame_bind(loop->frame, *name, ev_value(value, name->span));
	}
	bind_inputs(loop, block);
}

void elab_drop_fn(struct tn_elab *e, struct tn_fn *fn)
{
	size_t number = (size_t)fn->number;
	struct tn_fn **fns = e->module->fns.data;
	size_t i;

	while (fn->body->last)
		tn_graph_remove(fn->body->last);
	tn_map_fini(&fn->names);
	tn_map_fini(&fn->name_counts);
	for (i = number; i + 1 < e->module->fns.len; i++) {
		fns[i] = fns[i + 1];
		fns[i]->number = (int)i;
	}
	tn_vec_pop(&e->module->fns);
}

static void trial_body(struct loop *loop)
{
	const struct tn_carries *carries = &loop->region->carries;
	struct frame *frame = loop->frame;
	struct outcome out = {0};
	size_t mark = frame_mark(frame);
	int i;

	bind_index(loop, frame->b.block);
	for (i = 0; i < loop->ncarries; i++)
		frame_bind(frame, carries->at[i]->name, loop->inits[i]);
	bind_inputs(loop, frame->b.block);
	if (elab_block(frame, &loop->region->body,
		       loop->region->kind == TN_REGION_SCAN ? BLOCK_SCAN :
							      BLOCK_REGION,
		       NULL, 0, &out))
		for (i = 0; i < loop->ncarries && i < out.nvalues; i++)
			if (ev_is_literal(&loop->inits[i]) &&
			    loop->dtypes[i] == ELAB_ANY &&
			    !ev_is_poison(&out.values[i]) &&
			    elab_fits(&loop->inits[i],
				      elab_default(&out.values[i])))
				loop->dtypes[i] =
					elab_default(&out.values[i]);
	frame_release(frame, mark);
}

/* A carry that starts as a literal has the type that the body yields: the
 * body is tried with the literal itself, out of sight. */
static void try_types(struct loop *loop)
{
	struct frame *frame = loop->frame;
	struct tn_builder saved = frame->b;
	struct elab_trial trial;

	if (!elab_trial_begin(&trial, frame->e, "trial"))
		return;
	tn_builder_init(&frame->b, trial.fn->body);
	trial_body(loop);
	frame->b = saved;
	elab_trial_end(&trial);
	elab_trial_drop(&trial);
}

static bool read_carries(struct loop *loop)
{
	const struct tn_carries *carries = &loop->region->carries;
	struct frame *frame = loop->frame;
	bool any_literal = false;
	int i;

	for (i = 0; i < loop->ncarries; i++) {
		const struct tn_carry *carry = carries->at[i];
		const struct tn_type *type;

		loop->dtypes[i] = ELAB_ANY;
		if (carry->type) {
			type = elab_type(frame, carry->type);
			if (!type)
				return false;
			loop->dtypes[i] = type->dtype;
		}
		loop->inits[i] = elab_expr(frame, carry->init,
					   loop->dtypes[i]);
		if (ev_is_poison(&loop->inits[i]))
			return false;
		any_literal |= ev_is_literal(&loop->inits[i]) &&
			       loop->dtypes[i] == ELAB_ANY;
	}
	if (any_literal && !frame->e->is_dry)
		try_types(loop);
	return true;
}

static bool make_carries(struct loop *loop)
{
	const struct tn_carries *carries = &loop->region->carries;
	struct frame *frame = loop->frame;
	int i;

	for (i = 0; i < loop->ncarries; i++) {
		const struct tn_carry *carry = carries->at[i];
		bool literal = ev_is_literal(&loop->inits[i]) ||
			       loop->inits[i].kind == EV_LIST;
		const struct tn_type *type;

		loop->in[i] = elab_to_value(frame, &loop->inits[i],
					    literal ? loop->dtypes[i] :
						      ELAB_ANY);
		if (!loop->in[i] || tn_type_is_poison(loop->in[i]->type))
			return false;
		loop->dtypes[i] = loop->in[i]->type->dtype;
		if (!carry->type)
			continue;
		type = elab_type(frame, carry->type);
		if (type == loop->in[i]->type)
			continue;
		tn_diag_report(frame->e->sink, TN_E0703, carry->init->span,
			       "'%s' is declared %s, this is %s",
			       carry->name.text,
			       elab_type_text(frame->e, type),
			       elab_type_text(frame->e, loop->in[i]->type));
		return false;
	}
	return true;
}

static bool init_loop(struct loop *loop, struct frame *frame,
		      const struct tn_region *region)
{
	struct tn_arena *arena = &frame->e->scratch;
	size_t count;

	memset(loop, 0, sizeof(*loop));
	loop->frame = frame;
	loop->region = region;
	loop->ncarries = (int)region->carries.len;
	loop->ninputs = region->kind == TN_REGION_SCAN ?
			(int)region->inputs.len : 0;
	count = region->carries.len + region->inputs.len + 1;
	loop->inits = tn_arena_array(arena, count, sizeof(*loop->inits));
	loop->dtypes = tn_arena_array(arena, count, sizeof(*loop->dtypes));
	loop->in = tn_arena_array(arena, count, sizeof(*loop->in));
	return loop->inits && loop->dtypes && loop->in;
}

static bool check_yield(struct loop *loop)
{
	const struct tn_carries *carries = &loop->region->carries;
	const struct outcome *out = &loop->out;
	struct tn_elab *e = loop->frame->e;
	struct tn_diag *diag;
	int i;

	if (out->nvalues != loop->ncarries) {
		diag = tn_diag_report(e->sink, TN_E0703, out->span,
				      "%d value%s yielded for %d carr%s",
				      out->nvalues,
				      out->nvalues == 1 ? "" : "s",
				      loop->ncarries,
				      loop->ncarries == 1 ? "y" : "ies");
		if (loop->ncarries == 0)
			tn_diag_help(e->sink, diag, "what goes from turn to "
				     "turn is begun ahead of the loop: `with "
				     "(a = 0.0) for ..`");
		return false;
	}
	for (i = 0; i < out->nvalues; i++) {
		const struct ev *ev = &out->values[i];

		if (ev_is_poison(ev))
			return false;
		if (ev->kind != EV_VALUE || ev->soft ||
		    (ev->u.value->type->dtype == loop->in[i]->type->dtype &&
		     ev->u.value->type->rank == loop->in[i]->type->rank))
			continue;
		diag = tn_diag_report(e->sink, TN_E0703, ev->span,
				      "'%s' begins as %s, the body yields %s",
				      carries->at[i]->name.text,
				      elab_type_text(e, loop->in[i]->type),
				      ev_text(e, ev));
		tn_diag_also(e->sink, diag, carries->at[i]->init->span,
			     "%s", elab_type_text(e, loop->in[i]->type));
		return false;
	}
	return true;
}

/* The region of the body, ended by yield; NULL after a report. */
static struct tn_block *loop_body(struct loop *loop)
{
	struct frame *frame = loop->frame;
	enum block_role role = loop->region->kind == TN_REGION_SCAN ?
			       BLOCK_SCAN : BLOCK_REGION;
	size_t mark = frame_mark(frame);
	struct tn_builder saved;
	struct tn_block *block;
	struct ev *all;
	enum tn_dtype *dtypes;
	int count, i;
	bool ok;

	block = open_region(frame, &saved);
	if (!block)
		return NULL;
	bind_params(loop, block);
	ok = elab_block(frame, &loop->region->body, role, loop->dtypes,
			loop->ncarries, &loop->out) && check_yield(loop);
	close_region(frame, &saved);
	frame_release(frame, mark);
	count = loop->out.nvalues + loop->out.nemits;
	all = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
			     sizeof(*all));
	dtypes = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
				sizeof(*dtypes));
	if (!ok || !all || !dtypes)
		return NULL;
	for (i = 0; i < count; i++) {
		bool carry = i < loop->out.nvalues;

		all[i] = carry ? loop->out.values[i] :
				 loop->out.emits[i - loop->out.nvalues];
		dtypes[i] = carry ? loop->dtypes[i] : ELAB_ANY;
	}
	return end_region(frame, block, count, all, dtypes, loop->out.nemits,
			  loop->out.span) ? block : NULL;
}

static struct ev for_loop(struct frame *frame, const struct tn_region *region)
{
	const struct tn_dim *low = elab_dim(frame, region->low);
	const struct tn_dim *high = elab_dim(frame, region->high);
	struct tn_block *body;
	struct loop loop;
	struct tn_op *op;

	if (!init_loop(&loop, frame, region) || !read_carries(&loop) ||
	    !low || !high || !make_carries(&loop))
		return ev_poison(region->span);
	body = loop_body(&loop);
	if (!body)
		return ev_poison(region->span);
	op = flow_op(frame, TN_OP_for, loop.ncarries, loop.in, 1, &body,
			  loop.ncarries, region->span);
	if (!op || !elab_set_attr(frame->e, op, tn_attr_dim("from", low)) ||
	    !elab_set_attr(frame->e, op, tn_attr_dim("to", high)))
		return ev_poison(region->span);
	return finish_op(frame, op);
}

/* ---- while ------------------------------------------------------------- */

static const struct tn_expr *option(struct frame *frame,
				    const struct tn_region *region,
				    const char *const *known, int count,
				    const char *name)
{
	const struct tn_expr *found = NULL;
	uint32_t i;
	int k;

	for (i = 0; i < region->options.len; i++) {
		const struct tn_arg *arg = region->options.at[i];

		for (k = 0; k < count; k++)
			if (strcmp(known[k], arg->name.text) == 0)
				break;
		if (k == count)
			tn_diag_report(frame->e->sink, TN_E0208, arg->span,
				       "a loop has no option '%s' here",
				       arg->name.text);
		else if (strcmp(name, arg->name.text) == 0)
			found = arg->value;
	}
	return found;
}

/* The condition: an expression, or the one value that a block yields. */
static struct ev test_value(struct loop *loop)
{
	static const enum tn_dtype want = TN_bool;
	const struct tn_region *region = loop->region;
	struct frame *frame = loop->frame;
	struct outcome out = {0};

	if (region->cond)
		return elab_expr(frame, region->cond, TN_bool);
	if (!elab_block(frame, &region->test, BLOCK_REGION, &want, 1, &out))
		return ev_poison(region->test.span);
	if (out.nvalues == 1)
		return out.values[0];
	tn_diag_report(frame->e->sink, TN_E0705, out.span,
		       "a condition is one bool, this yields %d values",
		       out.nvalues);
	return ev_poison(region->test.span);
}

static struct tn_block *condition(struct loop *loop)
{
	struct frame *frame = loop->frame;
	enum tn_dtype dtype = TN_bool;
	size_t mark = frame_mark(frame);
	struct tn_builder saved;
	struct tn_block *block;
	struct tn_value *value;
	struct tn_span span;
	struct ev ev;

	block = open_region(frame, &saved);
	if (!block)
		return NULL;
	bind_params(loop, block);
	ev = test_value(loop);
	span = ev.span;
	value = elab_to_value(frame, &ev, ELAB_ANY);
	close_region(frame, &saved);
	frame_release(frame, mark);
	if (!value || tn_type_is_poison(value->type))
		return NULL;
	if (value->type->dtype != TN_bool || value->type->rank != 0) {
		tn_diag_report(frame->e->sink, TN_E0705, span,
			       "a condition is one bool, this is %s",
			       elab_type_text(frame->e, value->type));
		return NULL;
	}
	ev = ev_value(value, span);
	return end_region(frame, block, 1, &ev, &dtype, 0, span) ? block :
								   NULL;
}

static struct ev while_loop(struct frame *frame,
			    const struct tn_region *region)
{
	static const char *const known[] = {"max"};
	const struct tn_expr *max = option(frame, region, known, 1, "max");
	const struct tn_dim *most = max ? elab_dim(frame, max) : NULL;
	struct tn_block *blocks[2];
	struct loop loop;
	struct tn_op *op;

	if (!init_loop(&loop, frame, region) || !read_carries(&loop) ||
	    !make_carries(&loop) || (max && !most))
		return ev_poison(region->span);
	blocks[0] = condition(&loop);
	blocks[1] = loop_body(&loop);
	if (!blocks[0] || !blocks[1])
		return ev_poison(region->span);
	op = flow_op(frame, TN_OP_while, loop.ncarries, loop.in, 2,
			  blocks, loop.ncarries, region->span);
	if (!op || (most && !elab_set_attr(frame->e, op,
					   tn_attr_dim("max", most))))
		return ev_poison(region->span);
	return finish_op(frame, op);
}

/* ---- scan -------------------------------------------------------------- */

static const char *const scan_options[] = {"axis", "out_axis", "reverse"};

static bool scan_int(struct frame *frame, const struct tn_region *region,
		     const char *name, int64_t *out)
{
	const struct tn_expr *expr = option(frame, region, scan_options, 3,
					    name);

	*out = 0;
	return !expr || elab_constant(frame, expr, name, out);
}

static bool read_inputs(struct loop *loop)
{
	struct frame *frame = loop->frame;
	int i;

	for (i = 0; i < loop->ninputs; i++) {
		const struct tn_scan_in *input = loop->region->inputs.at[i];
		struct tn_value *value;

		value = elab_expr_value(frame, input->value, ELAB_ANY);
		if (!value || tn_type_is_poison(value->type))
			return false;
		if (loop->axis < 0)
			loop->axis += value->type->rank;
		if (loop->axis < 0 || loop->axis >= value->type->rank) {
			tn_diag_report(frame->e->sink, TN_E0287,
				       input->value->span,
				       "%s has no such axis to scan",
				       elab_type_text(frame->e, value->type));
			return false;
		}
		loop->in[loop->ncarries + i] = value;
	}
	return true;
}

static struct ev scan_loop(struct frame *frame,
			   const struct tn_region *region)
{
	const struct tn_expr *back = option(frame, region, scan_options, 3,
					    "reverse");
	struct ev reverse = {.kind = EV_BOOL};
	int64_t axis, out_axis;
	struct tn_block *body;
	struct loop loop;
	struct tn_op *op;

	if (back)
		reverse = elab_expr(frame, back, ELAB_ANY);
	if (!init_loop(&loop, frame, region) ||
	    !scan_int(frame, region, "axis", &axis) ||
	    !scan_int(frame, region, "out_axis", &out_axis))
		return ev_poison(region->span);
	loop.axis = (int)axis;
	if (!read_inputs(&loop) || !read_carries(&loop) ||
	    !make_carries(&loop))
		return ev_poison(region->span);
	body = loop_body(&loop);
	if (!body)
		return ev_poison(region->span);
	op = flow_op(frame, TN_OP_scan, loop.ncarries + loop.ninputs,
			  loop.in, 1, &body,
			  loop.ncarries + loop.out.nemits, region->span);
	if (!op ||
	    !elab_set_attr(frame->e, op,
			   tn_attr_int("carries", loop.ncarries)) ||
	    !elab_set_attr(frame->e, op, tn_attr_int("axis", loop.axis)) ||
	    !elab_set_attr(frame->e, op,
			   tn_attr_int("out_axis", out_axis)) ||
	    !elab_set_attr(frame->e, op,
			   tn_attr_bool("reverse", reverse.kind == EV_BOOL &&
					reverse.u.truth)))
		return ev_poison(region->span);
	return finish_op(frame, op);
}

struct ev elab_region(struct frame *frame, const struct tn_region *region,
		      const enum tn_dtype *wants, int nwants)
{
	switch (region->kind) {
	case TN_REGION_IF:
		return if_from(frame, region, 0, wants, nwants);
	case TN_REGION_FOR:
		return for_loop(frame, region);
	case TN_REGION_WHILE:
		return while_loop(frame, region);
	case TN_REGION_SCAN:
		return scan_loop(frame, region);
	}
	return ev_poison(region->span);
}
