/*
 * Steps on loops: split, reorder, fuse, the kinds, and names.
 */
#include "passes/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"

struct tn_kvar *tn_step_derive(const struct tn_step *step,
			       const struct tn_kvar *var, const char *suffix)
{
	char *name = tn_arena_printf(&step->kernel->module->arena, "%s__%s",
				     var->name, suffix);

	return name ? tn_kernel_var(step->kernel, name, TN_i64) : NULL;
}

bool tn_step_may_derive(const struct tn_step *step, const char *name,
			const char *suffix)
{
	struct tn_module *module = step->kernel->module;
	char *text = tn_arena_printf(&module->arena, "%s__%s", name, suffix);
	const char *taken = text ? tn_intern_text(module->names, text) : NULL;

	if (!taken)
		return false;
	if (tn_schedule_is_taken(step->kernel, &step->kernel->body, taken))
		return tn_step_refuse(step, "the name '%s' is taken", text);
	return true;
}

static bool is_derived(const void *data, const char *name)
{
	const char *base = data;
	size_t n = strlen(base);

	return !strncmp(name, base, n) && !strncmp(name + n, "__", 2) &&
		tn_ascii_is_digit(name[n + 2]);
}

bool tn_schedule_may_derive(const struct tn_kernel *kernel,
			    const struct tn_kblock *block, const char *name)
{
	return !tn_schedule_has_name(kernel, block, is_derived, name);
}

/* Tidies the loops of the name that the step made. */
static bool tidy_derived(const struct tn_step *step, const char *suffix)
{
	struct tn_module *module = step->kernel->module;
	char *text = tn_arena_printf(&module->arena, "%s__%s", step->args[0],
				     suffix);
	const char *name = text ? tn_intern_text(module->names, text) : NULL;
	struct tn_vec loops;
	bool good;

	if (!name)
		return false;
	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	good = tn_step_find(step, name, &loops) &&
		tn_schedule_tidy(step->kernel, &loops);
	tn_vec_fini(&loops);
	return good;
}

bool tn_step_each(const struct tn_step *step, int arg,
		  bool (*apply)(const struct tn_step *step,
				struct tn_kstmt *loop))
{
	struct tn_vec loops;
	bool good;
	size_t i;

	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	good = tn_step_find(step, step->args[arg],
				&loops);
	if (good && loops.len == 0)
		good = tn_step_refuse(step, "there is no loop '%s'",
				      step->args[arg]);
	for (i = 0; good && i < loops.len; i++)
		good = apply(step, tn_vec_ptr(&loops, i));
	tn_vec_fini(&loops);
	return good;
}

/* for outer in from..to { for inner in 0..n { body(base + outer*size + inner) } }
 * under `if index < limit` when limit is given. */
struct pair {
	const struct tn_kexpr *base, *from, *to, *n;
	int64_t size;
	const struct tn_kexpr *limit;
};

/* Puts the pair before `old`. Of a `par` loop the outer one stays so, of a
 * `vec` loop the inner one. */
static bool two_loops(const struct tn_step *step, struct tn_kstmt *old,
		      const struct pair *pair)
{
	struct tn_kernel *k = step->kernel;
	struct tn_kvar *outer = tn_step_derive(step, old->var, "0");
	struct tn_kvar *inner = tn_step_derive(step, old->var, "1");
	struct tn_kblock scratch = { NULL, NULL }, *body;
	const struct tn_kexpr *index, *args[2];
	struct tn_kstmt *first, *second, *guard;

	index = tn_kexpr_mul(k, tn_kexpr_var(k, outer),
			     tn_kexpr_int(k, TN_i64, pair->size));
	index = tn_kexpr_add(k, index, tn_kexpr_var(k, inner));
	index = tn_kexpr_add(k, pair->base, index);
	first = tn_kstmt_loop(k, &scratch, old->loop, outer, pair->from,
			      pair->to);
	second = first ? tn_kstmt_loop(k, &first->body, old->loop, inner,
				       tn_kexpr_int(k, TN_i64, 0), pair->n) :
		NULL;
	if (!second || !index)
		return false;
	first->is_independent = second->is_independent =
		tn_schedule_is_independent(k->module, old);
	first->bind = old->bind;
	first->min = old->min ? (old->min - 1) / pair->size + 1 : 0;
	if (old->loop == TN_LOOP_PAR)
		second->loop = TN_LOOP_FOR;
	if (old->loop == TN_LOOP_VEC)
		first->loop = TN_LOOP_FOR;
	body = &second->body;
	if (pair->limit) {
		args[0] = index;
		args[1] = pair->limit;
		guard = tn_kstmt_if(k, body, tn_kexpr_op(k, TN_OP_lt, TN_bool,
							 2, args));
		if (!guard)
			return false;
		body = &guard->body;
	}
	if (!tn_kblock_clone(k, &old->body, body, old->var, index))
		return false;
	tn_kstmt_remove(first);
	tn_kstmt_insert(old->parent, first, old);
	return true;
}

/* The whole number of argument 1, or -1. */
static int64_t size_argument(const struct tn_step *step)
{
	char *end;
	long long size = strtoll(step->args[1], &end, 10);

	return *end || size > INT32_MAX ? -1 : size;
}

/* The number of turns, fixed and at least 0; NULL with a reason. */
static const struct tn_kexpr *turns_of(const struct tn_step *step,
				       const struct tn_kstmt *loop)
{
	const struct tn_kexpr *turns = tn_kloop_distance(step->kernel, loop);
	int64_t lo, hi;

	if (!turns)
		return NULL;
	if (turns->kind == TN_KEXPR_INT)
		return turns->i > 0 ? turns :
			tn_kexpr_int(step->kernel, TN_i64, 0);
	tn_kexpr_bounds(turns, &lo, &hi);
	if (turns->kind == TN_KEXPR_DIM && lo >= 0)
		return turns;
	tn_step_refuse(step, turns->kind == TN_KEXPR_DIM ?
		       "'%s' may run backwards" : "the bounds of '%s' depend "
		       "on other loops", loop->var->name);
	return NULL;
}

/* What a loop of `extent` turns is cut into. */
struct cut {
	int64_t size;
	const struct tn_kexpr *n, *zero, *extent, *whole, *up, *rest;
};

static bool make_cut(const struct tn_step *step, const struct tn_kstmt *loop,
		     struct cut *cut)
{
	struct tn_kernel *k = step->kernel;

	cut->size = size_argument(step);
	if (cut->size < 1 || loop->step != 1)
		return tn_step_refuse(step, "needs a size from 1 to 2147483647 "
				      "and a loop of step 1");
	cut->n = tn_kexpr_int(k, TN_i64, cut->size);
	cut->zero = tn_kexpr_int(k, TN_i64, 0);
	cut->extent = turns_of(step, loop);
	cut->whole = tn_kexpr_fdiv(k, cut->extent, cut->n);
	cut->rest = tn_kexpr_mod(k, cut->extent, cut->n);
	cut->up = tn_kexpr_add(k, cut->extent,
			       tn_kexpr_int(k, TN_i64, cut->size - 1));
	cut->up = tn_kexpr_fdiv(k, cut->up, cut->n);
	return cut->whole && cut->rest && cut->up && cut->n && cut->zero;
}

/* The remainder as a nest of its own: one turn of rest (peel), or rest turns
 * of one (ones). */
static bool split_tail(const struct tn_step *step, struct tn_kstmt *loop,
		       const struct cut *cut, bool ones)
{
	struct tn_kernel *k = step->kernel;
	struct pair rest = {
		loop->from, cut->whole, cut->up, cut->rest, cut->size, NULL
	};
	struct pair single = {
		NULL, cut->zero, cut->rest, tn_kexpr_int(k, TN_i64, 1), 1, NULL
	};

	if (!ones)
		return two_loops(step, loop, &rest);
	single.base = tn_kexpr_mul(k, cut->whole, cut->n);
	single.base = tn_kexpr_add(k, loop->from, single.base);
	return single.base && two_loops(step, loop, &single);
}

static bool split_loop(const struct tn_step *step, struct tn_kstmt *loop)
{
	const char *tail = tn_step_option(step, "tail", "peel");
	struct cut cut = { 0 };
	struct pair pair;
	bool exact;

	if (!make_cut(step, loop, &cut))
		return false;
	exact = tn_kexpr_is_int(cut.rest, 0);
	pair = (struct pair){
		loop->from, cut.zero, cut.whole, cut.n, cut.size, NULL
	};
	if (!strcmp(tail, "guard") && !exact) {
		pair.to = cut.up;
		pair.limit = loop->to;
		if (!two_loops(step, loop, &pair))
			return false;
	} else {
		if ((exact || !tn_kexpr_is_int(cut.whole, 0)) &&
		    !two_loops(step, loop, &pair))
			return false;
		if (!exact &&
		    !split_tail(step, loop, &cut, !strcmp(tail, "ones")))
			return false;
	}
	tn_kstmt_remove(loop);
	return true;
}

bool tn_step_split(const struct tn_step *step)
{
	const char *tail = tn_step_option(step, "tail", "peel");

	if (strcmp(tail, "peel") != 0 && strcmp(tail, "guard") != 0 &&
	    strcmp(tail, "ones") != 0)
		return tn_step_refuse(step, "tail is peel, guard or ones");
	if (!tn_step_may_derive(step, step->args[0], "0") ||
	    !tn_step_may_derive(step, step->args[0], "1"))
		return false;
	return tn_step_each(step, 0, split_loop) && tidy_derived(step, "0");
}

/* What a loop says of itself, apart from its body. */
struct header {
	enum tn_kloop_kind loop;
	enum tn_kbind bind;
	int64_t min;
	struct tn_kvar *var;
	const struct tn_kexpr *from, *to;
	int64_t step;
	bool is_independent;
};

static void take_header(struct header *h, const struct tn_kstmt *s)
{
	h->loop = s->loop;
	h->bind = s->bind;
	h->min = s->min;
	h->var = s->var;
	h->from = s->from;
	h->to = s->to;
	h->step = s->step;
	h->is_independent = s->is_independent;
}

static void give_header(struct tn_kstmt *s, const struct header *h)
{
	s->loop = h->loop;
	s->bind = h->bind;
	s->min = h->min;
	s->var = h->var;
	s->from = h->from;
	s->to = h->to;
	s->step = h->step;
	s->is_independent = h->is_independent;
}

static int place_in(const struct tn_step *step, const struct tn_kstmt *loop)
{
	int i, n = tn_step_positional(step);

	for (i = 0; i < n; i++)
		if (loop->kind == TN_KSTMT_LOOP &&
		    loop->var->name == step->args[i])
			return i;
	return -1;
}

/* The listed loops from `loop` inwards, each the only statement of the one
 * before. */
static bool chain_of(const struct tn_step *step, struct tn_kstmt *loop,
		     struct tn_kstmt **chain, int n)
{
	int i, k;

	for (i = 0; i < n; i++) {
		if (!loop || place_in(step, loop) < 0)
			return tn_step_refuse(step, "the loops are not one "
					      "perfect nest");
		for (k = 0; k < i; k++)
			if (chain[k]->var->name == loop->var->name)
				return tn_step_refuse(step, "the loops are "
					"not one perfect nest");
		chain[i] = loop;
		if (i + 1 < n && loop->body.first != loop->body.last)
			return tn_step_refuse(step, "'%s' holds more than "
					      "the next loop",
					      loop->var->name);
		loop = loop->body.first;
	}
	return true;
}

/* Loops that are not free carry dependences, which stay as they are if these
 * loops keep their order; the free ones may go anywhere. */
static bool may_permute(const struct tn_step *step, struct tn_kstmt **chain,
			int n)
{
	const struct tn_kstmt *last = NULL;
	int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			if (tn_kexpr_reads(chain[i]->from,
					      chain[j]->var) ||
			    tn_kexpr_reads(chain[i]->to, chain[j]->var))
				return tn_step_refuse(step, "the bounds of "
					"'%s' depend on '%s'",
					chain[i]->var->name,
					chain[j]->var->name);
	for (i = 0; i < n; i++) {
		if (tn_schedule_is_free(step->kernel->module, chain[0],
					chain[i]))
			continue;
		if (last && place_in(step, last) > place_in(step, chain[i]))
			return tn_step_refuse(step, "'%s' and '%s' carry "
				"dependences and must keep their order",
				last->var->name, chain[i]->var->name);
		last = chain[i];
	}
	return true;
}

static bool reorder_nest(const struct tn_step *step, struct tn_kstmt *loop)
{
	struct tn_kstmt *chain[TN_STEP_ARGS];
	struct header headers[TN_STEP_ARGS];
	int i, n = tn_step_positional(step);

	if (!chain_of(step, loop, chain, n) || !may_permute(step, chain, n))
		return false;
	for (i = 0; i < n; i++)
		take_header(&headers[place_in(step, chain[i])], chain[i]);
	for (i = 0; i < n; i++)
		give_header(chain[i], &headers[i]);
	return true;
}

/* Every nest whose outermost listed loop stands in `block` or deeper. */
static bool reorder_in(const struct tn_step *step, struct tn_kblock *block,
		       int *found)
{
	struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_LOOP && place_in(step, s) >= 0) {
			++*found;
			if (!reorder_nest(step, s))
				return false;
			continue;
		}
		if (!reorder_in(step, &s->body, found) ||
		    !reorder_in(step, &s->orelse, found))
			return false;
	}
	return true;
}

bool tn_step_reorder(const struct tn_step *step)
{
	int found = 0;

	if (!tn_step_names_once(step, 0))
		return false;
	if (!reorder_in(step, &step->kernel->body, &found))
		return false;
	if (!found)
		return tn_step_refuse(step, "there is no such nest");
	return true;
}

/* Turns of both loops that pay for what these of the outer one did. Those of a
 * sized inner loop were counted already. */
static int64_t fused_min(const struct tn_kstmt *outer,
			 const struct tn_kstmt *inner)
{
	int64_t turns = tn_kloop_turns(inner), min;

	if (turns < 1 || !outer->min)
		return outer->min;
	return tn_num_mul(outer->min, turns, &min) ? min : INT64_MAX;
}

static bool fuse_nest(const struct tn_step *step, struct tn_kstmt *outer)
{
	struct tn_kernel *k = step->kernel;
	struct tn_kstmt *inner = outer->body.first, *fused;
	struct tn_kblock once = { NULL, NULL };
	const struct tn_kexpr *zero = tn_kexpr_int(k, TN_i64, 0), *total, *f;
	struct tn_kvar *var;
	bool independent;

	if (!inner || inner != outer->body.last ||
	    inner->kind != TN_KSTMT_LOOP ||
	    inner->var->name != step->args[1])
		return tn_step_refuse(step, "'%s' is not the only statement "
				      "of '%s'", step->args[1],
				      outer->var->name);
	if (!tn_kloop_is_plain(outer) || !tn_kloop_is_plain(inner) ||
	    tn_kexpr_reads(inner->to, outer->var))
		return tn_step_refuse(step, "both loops must run from 0 by "
				      "1, with bounds of their own");
	if (tn_kexpr_is_int(inner->to, 0))
		return tn_step_refuse(step, "'%s' has no turns",
				      inner->var->name);
	if (outer->loop != inner->loop || outer->bind != inner->bind)
		return tn_step_refuse(step, "the loops are of two kinds");
	if (tn_kexpr_loads(inner->to))
		return tn_step_refuse(step, "the bounds of '%s' are data",
				      inner->var->name);
	if (outer->loop == TN_LOOP_UNROLL &&
	    tn_kloop_turns(outer) * tn_kloop_turns(inner) > TN_KLOOP_WRITTEN)
		return tn_step_refuse(step, "%lld turns are too many to write "
				      "out (at most %d)", (long long)
				      (tn_kloop_turns(outer) *
				       tn_kloop_turns(inner)),
				      TN_KLOOP_WRITTEN);
	independent = tn_schedule_is_independent(k->module, outer) &&
		tn_schedule_is_independent(k->module, inner);
	var = tn_step_derive(step, outer->var, inner->var->name);
	total = tn_kexpr_mul(k, outer->to, inner->to);
	f = tn_kexpr_var(k, var);
	fused = tn_kstmt_loop(k, outer->parent, outer->loop, var, zero,
			      total);
	if (!fused || !f)
		return false;
	if (!tn_kblock_clone(k, &inner->body, &once, outer->var,
			     tn_kexpr_fdiv(k, f, inner->to)) ||
	    !tn_kblock_clone(k, &once, &fused->body, inner->var,
			     tn_kexpr_mod(k, f, inner->to)))
		return false;
	fused->bind = outer->bind;
	fused->min = fused_min(outer, inner);
	fused->is_independent = independent;
	tn_kstmt_remove(fused);
	tn_kstmt_insert(outer->parent, fused, outer);
	tn_kstmt_remove(outer);
	return true;
}

bool tn_step_fuse(const struct tn_step *step)
{
	if (!tn_step_may_derive(step, step->args[0], step->args[1]))
		return false;
	return tn_step_each(step, 0, fuse_nest);
}

/* Writes a buffer of one thread that stands outside the block. */
static bool writes_private(void *data, const struct tn_kstmt *s)
{
	const struct tn_kblock *block = data;

	return s->kind == TN_KSTMT_STORE &&
		(s->buf->space == TN_SPACE_REG ||
		 s->buf->space == TN_SPACE_STACK) &&
		!tn_kblock_declares(block, s->buf);
}

static bool may_be_kind(const struct tn_step *step,
			struct tn_kstmt *loop, enum tn_kloop_kind kind)
{
	const struct tn_kstmt *write = NULL;

	if (!tn_schedule_is_independent(step->kernel->module, loop))
		return tn_step_refuse(step, "the turns of '%s' depend on one "
				      "another", loop->var->name);
	if (kind == TN_LOOP_PAR)
		write = tn_kblock_find(&loop->body, writes_private,
				       &loop->body);
	if (write)
		return tn_step_refuse(step, "'%s' writes '%s', which stands "
				      "outside it and belongs to one thread",
				      loop->var->name, write->buf->name);
	return true;
}

static bool unroll_loop(const struct tn_step *step, struct tn_kstmt *loop)
{
	int64_t extent = tn_kloop_extent(loop);

	if (extent < 0)
		return tn_step_refuse(step, "the number of turns of '%s' is "
				      "not a constant (split it with tail=ones "
				      "if its size is a dim)",
				      loop->var->name);
	if (extent > TN_KLOOP_WRITTEN)
		return tn_step_refuse(step, "%lld turns are too many to "
				      "write out (at most %d: split it)",
				      (long long)extent, TN_KLOOP_WRITTEN);
	loop->loop = TN_LOOP_UNROLL;
	loop->bind = TN_BIND_THREADS;
	loop->min = 0;
	return true;
}

/* The turns that the option `min` names, 0 without it. */
static bool read_min(const struct tn_step *step, int64_t *min)
{
	const char *text = tn_step_option(step, "min", NULL);
	uint64_t value;

	*min = 0;
	if (!text)
		return true;
	if (!tn_num_parse_u64(text, &value) || value < 1 ||
	    value > INT64_MAX)
		return tn_step_refuse(step, "min is a number of turns, at "
				      "least 1");
	*min = (int64_t)value;
	return true;
}

static bool set_kind(const struct tn_step *step, struct tn_kstmt *loop)
{
	enum tn_kloop_kind kind = TN_LOOP_VEC;

	if (!strcmp(step->name, "unroll"))
		return unroll_loop(step, loop);
	if (!strcmp(step->name, "parallel"))
		kind = TN_LOOP_PAR;
	if (!may_be_kind(step, loop, kind) || !read_min(step, &loop->min))
		return false;
	loop->loop = kind;
	loop->bind = TN_BIND_THREADS;
	return true;
}

bool tn_step_kind(const struct tn_step *step)
{
	int i, n = tn_step_positional(step);

	for (i = 0; i < n; i++)
		if (!tn_step_each(step, i, set_kind))
			return false;
	return true;
}

static const struct {
	const char *name;
	enum tn_kbind bind;
} axes[] = {
	{ "threads", TN_BIND_THREADS }, { "grid.x", TN_BIND_GRID_X },
	{ "grid.y", TN_BIND_GRID_Y }, { "grid.z", TN_BIND_GRID_Z },
	{ "block.x", TN_BIND_BLOCK_X }, { "block.y", TN_BIND_BLOCK_Y },
	{ "block.z", TN_BIND_BLOCK_Z }, { "warp", TN_BIND_WARP }
};

static bool bind_loop(const struct tn_step *step, struct tn_kstmt *loop)
{
	size_t i;

	for (i = 0; i < sizeof axes / sizeof *axes; i++)
		if (!strcmp(axes[i].name, step->args[1]))
			break;
	if (i == sizeof axes / sizeof *axes)
		return tn_step_refuse(step, "'%s' is not an axis: grid.x to "
				      "block.z, warp or threads",
				      step->args[1]);
	if (!may_be_kind(step, loop, TN_LOOP_PAR))
		return false;
	loop->loop = TN_LOOP_PAR;
	loop->bind = axes[i].bind;
	loop->min = 0;
	return true;
}

bool tn_step_bind(const struct tn_step *step)
{
	return tn_step_each(step, 0, bind_loop);
}

static bool is_word(const char *name)
{
	size_t n = 0;

	while (tn_ascii_is_word(name[n]))
		n++;
	return n && !name[n] && !tn_ascii_is_digit(*name);
}

static bool rename_loop(const struct tn_step *step, struct tn_kstmt *loop)
{
	loop->var->name = step->args[1];
	return true;
}

bool tn_step_rename(const struct tn_step *step)
{
	const char *name = step->args[1], *fresh;

	if (!is_word(name))
		return tn_step_refuse(step, "'%s' is no name", name);
	fresh = tn_step_fresh(step, name);
	if (fresh && fresh != name)
		return tn_step_refuse(step, "the name '%s' is taken", name);
	return fresh && tn_step_each(step, 0, rename_loop);
}
