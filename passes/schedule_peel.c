/*
 * peel: the first and the last turns of a loop become nests of their own.
 *
 *   peel(w, 1, 1)     for w in 0..1 { .. }      left of the border: clipped
 *                     for w in 1..55 { .. }     the middle: bounds are numbers
 *                     for w in 55..56 { .. }
 *
 * In: a loop of step 1 whose bounds are numbers or sizes. Out: up to three
 * loops of the same name, in the order of their turns, the middle without
 * what borders need: minima and maxima that are always one side are written
 * as that side (schedule_tidy.c). Of a size too small for all three the first
 * turns go to the first loop, then the last to the last.
 */
#include "passes/schedule.h"

#include "base/num.h"

struct peeler {
	const struct tn_step *step;
	struct tn_vec nests;	/* struct tn_kstmt *: what came of it */
	int64_t lo, hi;
};

/* A turn count of an argument. */
static bool read_turns(const struct tn_step *step, int arg, int64_t *turns)
{
	uint64_t value;

	if (!tn_num_parse_u64(step->args[arg], &value) || value > INT32_MAX)
		return tn_step_refuse(step, "'%s' is not a number of turns",
				      step->args[arg]);
	*turns = (int64_t)value;
	return true;
}

/* The loop over from..to, ahead of the old one. */
static bool put_part(struct peeler *p, struct tn_kstmt *old,
		     const struct tn_dim *from, const struct tn_dim *to)
{
	struct tn_kernel *k = p->step->kernel;
	struct tn_kblock scratch = { NULL, NULL };
	struct tn_kvar *var = tn_kernel_var(k, old->var->name, TN_i64);
	struct tn_kstmt *part;

	if (from && to && tn_dim_is_const(from) && tn_dim_is_const(to) &&
	    from->value >= to->value)
		return true;
	part = from && to && var ?
		tn_kstmt_loop(k, &scratch, old->loop, var,
			      tn_kexpr_dim(k, from), tn_kexpr_dim(k, to)) :
		NULL;
	if (!part || !tn_kblock_clone(k, &old->body, &part->body, old->var,
				      tn_kexpr_var(k, var)) ||
	    !tn_schedule_inline(k, &part->body, NULL, NULL))
		return false;
	part->is_independent = tn_schedule_is_independent(k->module, old);
	part->bind = old->bind;
	part->min = old->min;
	tn_kstmt_remove(part);
	tn_kstmt_insert(old->parent, part, old);
	if (!tn_vec_push_ptr(&p->nests, part)) {
		k->module->failed = true;
		return false;
	}
	return true;
}

/* from..first, first..last, last..to; where lo + hi turns may be more than
 * there are, bounds of run time see to it. */
static bool peel_loop(struct peeler *p, struct tn_kstmt *loop)
{
	struct tn_dim_pool *pool = &p->step->kernel->module->dims;
	const struct tn_dim *from = tn_kexpr_as_dim(pool, loop->from);
	const struct tn_dim *to = tn_kexpr_as_dim(pool, loop->to);
	const struct tn_dim *first, *last, *end, *begin;
	bool overflowed = pool->overflowed;

	if (loop->step != 1)
		return tn_step_refuse(p->step, "'%s' must step by 1",
				      loop->var->name);
	if (!from || !to)
		return tn_step_refuse(p->step, "the bounds of '%s' depend on "
				      "other loops", loop->var->name);
	first = tn_dim_add(pool, from, tn_dim_const(pool, p->lo));
	last = tn_dim_sub(pool, to, tn_dim_const(pool, p->hi));
	end = tn_dim_min(pool, first, to);
	begin = tn_dim_max(pool, last, end);
	pool->overflowed = overflowed;
	if (!begin)
		return tn_step_refuse(p->step, "the bounds of '%s' are too "
				      "large", loop->var->name);
	if ((p->lo && !put_part(p, loop, from, end)) ||
	    !put_part(p, loop, first, last) ||
	    (p->hi && !put_part(p, loop, begin, to)))
		return false;
	tn_kstmt_remove(loop);
	return true;
}

bool tn_step_peel(const struct tn_step *step)
{
	struct peeler p = { .step = step };
	struct tn_vec loops;
	bool good;
	size_t i;

	if (!read_turns(step, 1, &p.lo) || !read_turns(step, 2, &p.hi))
		return false;
	if (!p.lo && !p.hi)
		return tn_step_refuse(step, "no turns are to be peeled");
	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	tn_vec_init(&p.nests, sizeof(struct tn_kstmt *), NULL);
	good = tn_step_find(step, step->args[0], &loops);
	if (good && loops.len == 0)
		good = tn_step_refuse(step, "there is no loop '%s'",
				      step->args[0]);
	for (i = 0; good && i < loops.len; i++)
		good = peel_loop(&p, tn_vec_ptr(&loops, i));
	good = good && tn_schedule_tidy(step->kernel, &p.nests);
	tn_vec_fini(&loops);
	tn_vec_fini(&p.nests);
	return good;
}
