/*
 * Handlers of ensembles of trees: TreeEnsemble and the two older forms of it.
 * The trees become tables of their nodes, which `tree_leaves` of the library
 * walks for all rows and trees at once; what the leaves say is then looked up
 * and summed.
 *
 *   x, tables -> leaf [N, trees] -> weights[leaf] [N, trees, K] -> [N, K]
 *
 * Nodes are numbered leaves first, so that a table of weights has no rows for
 * those between.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "importers/onnx/ml.h"
#include "importers/onnx/table.h"

/* Weights of leaves, over all targets, are at most so many. */
#define WEIGHTS ((int64_t)1 << 26)

enum { LEQ, LT, GEQ, GT, EQ, NE, MEMBER, LEAF };

static const char *const modes[] = { "leq", "lt", "geq", "gt", "eq", "ne" };

/* The nodes, leaves first. */
struct forest {
	struct tn_onnx *n;
	int64_t count, leaves, roots, targets;
	int64_t *root, *feature, *yes, *no;
	double *bound;
	unsigned char *how, *missing;
	double *weight;			/* [leaves, targets] */
	bool *is_set;			/* of each weight */
	bool is_negative;		/* one of the weights is */
	int depth;
};

static bool no_memory(struct tn_onnx *n)
{
	n->job->module->failed = true;
	n->failed = true;
	return false;
}

static void *table(struct forest *f, int64_t count, size_t size)
{
	void *made = tn_arena_array(&f->n->job->arena, (size_t)count + 1,
				    size);

	if (!made)
		no_memory(f->n);
	return made;
}

static bool make_nodes(struct forest *f, int64_t count)
{
	int64_t i;

	f->count = count;
	f->feature = table(f, count, sizeof(*f->feature));
	f->yes = table(f, count, sizeof(*f->yes));
	f->no = table(f, count, sizeof(*f->no));
	f->bound = table(f, count, sizeof(*f->bound));
	f->how = table(f, count, sizeof(*f->how));
	f->missing = table(f, count, sizeof(*f->missing));
	for (i = 0; !f->n->failed && i < count; i++) {
		f->feature[i] = 0;
		f->yes[i] = f->no[i] = i;
		f->bound[i] = 0;
		f->how[i] = LEAF;
		f->missing[i] = 0;
	}
	return !f->n->failed;
}

static bool make_weights(struct forest *f)
{
	int64_t count, i;

	if (f->targets < 1 ||
	    !tn_num_mul(f->leaves, f->targets, &count) ||
	    count > WEIGHTS) {
		tn_onnx_refuse(f->n, "weights of %lld leaves for %lld targets",
			       (long long)f->leaves, (long long)f->targets);
		return false;
	}
	f->weight = table(f, count, sizeof(*f->weight));
	f->is_set = table(f, count, sizeof(*f->is_set));
	for (i = 0; !f->n->failed && i < count; i++) {
		f->weight[i] = 0;
		f->is_set[i] = false;
	}
	return !f->n->failed;
}

static void add_weight(struct forest *f, int64_t leaf, int64_t target,
		       double weight)
{
	int64_t at = leaf * f->targets + target;

	f->weight[at] += weight;
	f->is_set[at] = true;
	f->is_negative |= weight < 0;
}

/* ---- The older form: nodes by the numbers of their tree and their own -------------- */

struct names {
	int64_t tree, node, at;
};

static int by_name(const void *a, const void *b)
{
	const struct names *x = a, *y = b;

	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The node's number in the table of attributes; -1: there is none. */
static int64_t find(const struct names *names, int64_t count, int64_t tree,
		    int64_t node)
{
	int64_t lo = 0, hi = count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (names[mid].tree < tree ||
		    (names[mid].tree == tree && names[mid].node < node))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && names[lo].tree == tree &&
		names[lo].node == node ? names[lo].at : -1;
}

static int mode_of(const char *name)
{
	static const char *const known[] = {
		"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT",
		"BRANCH_EQ", "BRANCH_NEQ", "", "LEAF"
	};
	int i;

	for (i = 0; name && i <= LEAF; i++)
		if (!strcmp(known[i], name) && i != MEMBER)
			return i;
	return -1;
}

/* The attributes of the older form. */
struct older {
	struct tn_ml_ints tree, node, feature, yes, no, missing;
	struct tn_ml_reals bound;
	const struct onnx_attr *modes;
	unsigned char *mode;
	struct names *names;
	int64_t *place;			/* in the forest */
};

static bool read_modes(struct forest *f, struct older *o)
{
	const char *name;
	int64_t i;
	int mode;

	o->mode = table(f, o->tree.count, sizeof(*o->mode));
	for (i = 0; o->mode && i < o->tree.count; i++) {
		const struct wire *text = &o->modes->strings.at[i];

		name = tn_arena_strndup(&f->n->job->arena,
					(const char *)text->at,
					wire_size(text));
		mode = mode_of(name);
		if (mode < 0) {
			tn_onnx_report(f->n, TN_E1012, "mode '%s'",
				       name ? name : "");
			return false;
		}
		o->mode[i] = (unsigned char)mode;
	}
	return o->mode != NULL;
}

static bool read_older(struct forest *f, struct older *o)
{
	struct tn_onnx *n = f->n;

	if (!tn_ml_read_ints(n, "nodes_treeids", &o->tree) ||
	    !tn_ml_read_ints(n, "nodes_nodeids", &o->node) ||
	    !tn_ml_read_ints(n, "nodes_featureids", &o->feature) ||
	    !tn_ml_read_ints(n, "nodes_truenodeids", &o->yes) ||
	    !tn_ml_read_ints(n, "nodes_falsenodeids", &o->no) ||
	    !tn_ml_read_ints(n, "nodes_missing_value_tracks_true",
			  &o->missing) ||
	    !tn_ml_read_reals(n, "nodes_values", &o->bound))
		return false;
	o->modes = tn_onnx_attr(n, "nodes_modes");
	if (!o->tree.count || o->node.count != o->tree.count ||
	    o->feature.count != o->tree.count ||
	    o->yes.count != o->tree.count || o->no.count != o->tree.count ||
	    o->bound.count != o->tree.count || !o->modes ||
	    (int64_t)o->modes->strings.len != o->tree.count) {
		tn_onnx_report(n, TN_E1012, "the attributes of nodes are not "
			       "of one length");
		return false;
	}
	return read_modes(f, o);
}

static bool name_nodes(struct forest *f, struct older *o)
{
	int64_t count = o->tree.count, i;

	o->names = table(f, count, sizeof(*o->names));
	o->place = table(f, count, sizeof(*o->place));
	f->root = table(f, count, sizeof(*f->root));
	if (f->n->failed)
		return false;
	for (i = 0; i < count; i++) {
		o->names[i].tree = o->tree.at[i];
		o->names[i].node = o->node.at[i];
		o->names[i].at = i;
		if (o->mode[i] == LEAF)
			o->place[i] = f->leaves++;
	}
	qsort(o->names, (size_t)count, sizeof(*o->names), by_name);
	f->count = f->leaves;
	for (i = 0; i < count; i++)
		if (o->mode[i] != LEAF)
			o->place[i] = f->count++;
	for (i = 1; i < count; i++)
		if (o->names[i].tree == o->names[i - 1].tree &&
		    o->names[i].node == o->names[i - 1].node) {
			tn_onnx_report(f->n, TN_E1012, "node %lld of tree "
				       "%lld is there twice",
				       (long long)o->names[i].node,
				       (long long)o->names[i].tree);
			return false;
		}
	return true;
}

/* A tree begins with the first of its nodes. */
static void find_roots(struct forest *f, const struct older *o)
{
	int64_t count = o->tree.count, i, first;

	for (i = 0; i < count; i++) {
		if (!i || o->names[i].tree != o->names[i - 1].tree)
			f->root[f->roots++] = o->names[i].at;
		first = f->root[f->roots - 1];
		if (o->names[i].at < first)
			f->root[f->roots - 1] = o->names[i].at;
	}
	for (i = 0; i < f->roots; i++)
		f->root[i] = o->place[f->root[i]];
}

static bool link_older(struct forest *f, struct older *o)
{
	int64_t count = o->tree.count, i, yes, no, at;

	if (!name_nodes(f, o))
		return false;
	find_roots(f, o);
	if (!make_nodes(f, count))
		return false;
	for (i = 0; i < count; i++) {
		if (o->mode[i] == LEAF)
			continue;
		yes = find(o->names, count, o->tree.at[i], o->yes.at[i]);
		no = find(o->names, count, o->tree.at[i], o->no.at[i]);
		if (yes < 0 || no < 0) {
			tn_onnx_report(f->n, TN_E1012, "node %lld of tree "
				       "%lld has a branch to no node",
				       (long long)o->node.at[i],
				       (long long)o->tree.at[i]);
			return false;
		}
		at = o->place[i];
		f->feature[at] = o->feature.at[i];
		f->bound[at] = o->bound.at[i];
		f->how[at] = o->mode[i];
		f->missing[at] = i < o->missing.count && o->missing.at[i];
		f->yes[at] = o->place[yes];
		f->no[at] = o->place[no];
	}
	return true;
}

/* Weights of leaves by tree and node: attributes PREFIX_treeids and so on. */
static bool weigh_older(struct forest *f, const struct older *o,
			const char *prefix)
{
	struct tn_arena *arena = &f->n->job->arena;
	struct tn_ml_ints tree, node, target;
	struct tn_ml_reals weight;
	int64_t i, at;

	if (!make_weights(f) ||
	    !tn_ml_read_ints(f->n, tn_arena_printf(arena, "%s_treeids", prefix),
			  &tree) ||
	    !tn_ml_read_ints(f->n, tn_arena_printf(arena, "%s_nodeids", prefix),
			  &node) ||
	    !tn_ml_read_ints(f->n, tn_arena_printf(arena, "%s_ids", prefix),
			  &target) ||
	    !tn_ml_read_reals(f->n, tn_arena_printf(arena, "%s_weights", prefix),
			   &weight))
		return false;
	if (node.count != tree.count || target.count != tree.count ||
	    weight.count != tree.count) {
		tn_onnx_report(f->n, TN_E1012, "the attributes of weights are "
			       "not of one length");
		return false;
	}
	for (i = 0; i < tree.count; i++) {
		at = find(o->names, o->tree.count, tree.at[i], node.at[i]);
		if (at < 0 || target.at[i] < 0 ||
		    target.at[i] >= f->targets) {
			tn_onnx_report(f->n, TN_E1012, "weight %lld is of no "
				       "node, or no target", (long long)i);
			return false;
		}
		if (o->mode[at] == LEAF)
			add_weight(f, o->place[at], target.at[i],
				   weight.at[i]);
	}
	return true;
}

/* ---- The newer form: leaves and nodes apart ------------------------------------------ */

struct newer {
	struct tn_ml_ints roots, feature, mode, yes, no, yes_leaf, no_leaf;
	struct tn_ml_ints missing, target;
	struct tn_ml_reals bound, weight, members;
};

static bool read_newer(struct forest *f, struct newer *o)
{
	struct tn_onnx *n = f->n;

	if (!tn_ml_read_ints(n, "tree_roots", &o->roots) ||
	    !tn_ml_read_ints(n, "nodes_featureids", &o->feature) ||
	    !tn_ml_read_ints(n, "nodes_modes", &o->mode) ||
	    !tn_ml_read_ints(n, "nodes_truenodeids", &o->yes) ||
	    !tn_ml_read_ints(n, "nodes_falsenodeids", &o->no) ||
	    !tn_ml_read_ints(n, "nodes_trueleafs", &o->yes_leaf) ||
	    !tn_ml_read_ints(n, "nodes_falseleafs", &o->no_leaf) ||
	    !tn_ml_read_ints(n, "nodes_missing_value_tracks_true",
			  &o->missing) ||
	    !tn_ml_read_ints(n, "leaf_targetids", &o->target) ||
	    !tn_ml_read_reals(n, "nodes_splits", &o->bound) ||
	    !tn_ml_read_reals(n, "leaf_weights", &o->weight) ||
	    !tn_ml_read_reals(n, "membership_values", &o->members))
		return false;
	if (o->mode.count == o->feature.count &&
	    o->yes.count == o->feature.count &&
	    o->no.count == o->feature.count &&
	    o->yes_leaf.count == o->feature.count &&
	    o->no_leaf.count == o->feature.count &&
	    o->bound.count == o->feature.count &&
	    o->target.count == o->weight.count && o->weight.count)
		return true;
	tn_onnx_report(n, TN_E1012, "the attributes of nodes, or those of "
		       "leaves, are not of one length");
	return false;
}

/* A question whether the element is one of a set is one question for each. */
static void put_members(struct forest *f, const struct newer *o, int64_t at,
			int64_t *next, int64_t *spare)
{
	int64_t here = at, no = f->no[at];

	f->how[at] = EQ;
	f->bound[at] = *next < o->members.count ? o->members.at[*next] : 0;
	for (++*next; *next < o->members.count &&
	     o->members.at[*next] == o->members.at[*next]; ++*next) {
		f->no[here] = *spare;
		here = (*spare)++;
		f->feature[here] = f->feature[at];
		f->how[here] = EQ;
		f->bound[here] = o->members.at[*next];
		f->yes[here] = f->yes[at];
		f->no[here] = no;
		f->missing[here] = f->missing[at];
	}
	++*next;
}

static int64_t target_of(const struct forest *f, int64_t to, int64_t is_leaf,
			 int64_t nodes)
{
	if (to < 0 || to >= (is_leaf ? f->leaves : nodes))
		return -1;
	return is_leaf ? to : f->leaves + to;
}

static bool link_newer(struct forest *f, const struct newer *o)
{
	int64_t nodes = o->feature.count, spare, next = 0, i, at;

	f->leaves = o->weight.count;
	spare = f->leaves + nodes;
	if (!make_nodes(f, spare + o->members.count))
		return false;
	for (i = 0; i < nodes; i++) {
		at = f->leaves + i;
		f->feature[at] = o->feature.at[i];
		f->bound[at] = o->bound.at[i];
		f->how[at] = (unsigned char)o->mode.at[i];
		f->missing[at] = i < o->missing.count && o->missing.at[i];
		f->yes[at] = target_of(f, o->yes.at[i], o->yes_leaf.at[i],
				       nodes);
		f->no[at] = target_of(f, o->no.at[i], o->no_leaf.at[i],
				      nodes);
		if (f->yes[at] < 0 || f->no[at] < 0 || o->mode.at[i] < 0 ||
		    o->mode.at[i] > MEMBER) {
			tn_onnx_report(f->n, TN_E1012, "node %lld has a "
				       "branch to no node, or a mode that "
				       "nobody knows", (long long)i);
			return false;
		}
		if (o->mode.at[i] == MEMBER)
			put_members(f, o, at, &next, &spare);
	}
	f->count = spare;
	f->roots = o->roots.count;
	f->root = table(f, f->roots, sizeof(*f->root));
	for (i = 0; f->root && i < f->roots; i++) {
		f->root[i] = target_of(f, o->roots.at[i], 0, nodes);
		if (f->root[i] < 0) {
			tn_onnx_report(f->n, TN_E1012, "root %lld is no node",
				       (long long)i);
			return false;
		}
	}
	return f->root != NULL;
}

static bool weigh_newer(struct forest *f, const struct newer *o)
{
	int64_t i;

	if (!make_weights(f))
		return false;
	for (i = 0; i < f->leaves; i++) {
		if (o->target.at[i] < 0 || o->target.at[i] >= f->targets) {
			tn_onnx_report(f->n, TN_E1012, "leaf %lld is of no "
				       "target", (long long)i);
			return false;
		}
		add_weight(f, i, o->target.at[i], o->weight.at[i]);
	}
	return true;
}

/* ---- What is asked of both ------------------------------------------------------------- */

/* Level by level: a node between is reached once, so there are no circles. */
static bool measure(struct forest *f)
{
	int64_t *level = table(f, f->count, sizeof(*level)), count = 0, i;
	int64_t begin, end, to[2];
	bool *seen = table(f, f->count, sizeof(*seen));
	int k;

	if (f->n->failed)
		return false;
	for (i = 0; i < f->count; i++)
		seen[i] = false;
	for (i = 0; i < f->roots; i++)
		if (f->root[i] >= f->leaves && !seen[f->root[i]]) {
			seen[f->root[i]] = true;
			level[count++] = f->root[i];
		}
	for (begin = 0; begin < count; begin = end) {
		f->depth++;
		end = count;
		for (i = begin; i < end; i++) {
			to[0] = f->yes[level[i]];
			to[1] = f->no[level[i]];
			for (k = 0; k < 2; k++) {
				if (to[k] < f->leaves)
					continue;
				if (seen[to[k]]) {
					tn_onnx_report(f->n, TN_E1012,
						"a node of a tree is reached "
						"in two ways");
					return false;
				}
				seen[to[k]] = true;
				level[count++] = to[k];
			}
		}
	}
	return true;
}

/* Features that are there; one root at least. */
static bool check(struct forest *f, const struct tn_value *x)
{
	const struct tn_dim *width = x->type->dims[x->type->rank - 1];
	int64_t lo, hi, i;

	tn_dim_bounds(width, &lo, &hi);
	for (i = 0; i < f->count; i++)
		if (f->feature[i] < 0 || f->feature[i] >= lo) {
			tn_onnx_report(f->n, TN_E1012, "feature %lld of rows "
				       "that may have %lld",
				       (long long)f->feature[i],
				       (long long)lo);
			return false;
		}
	if (f->roots)
		return measure(f);
	tn_onnx_report(f->n, TN_E1012, "no tree");
	return false;
}

/* ---- The graph --------------------------------------------------------------------------- */

/* The mode of all nodes between, "each" if they differ. */
static const char *mode_name(const struct forest *f)
{
	int64_t i;

	for (i = f->leaves; i < f->count; i++)
		if (f->how[i] != f->how[f->leaves])
			return "each";
	return f->count > f->leaves ? modes[f->how[f->leaves]] : "leq";
}

static struct tn_value *bytes(struct forest *f, const char *name,
			      const unsigned char *from, enum tn_dtype dtype)
{
	int64_t *wide = table(f, f->count, sizeof(*wide)), i;

	if (!wide)
		return NULL;
	for (i = 0; i < f->count; i++)
		wide[i] = from[i] == LEAF ? 0 : from[i];
	return tn_ml_ints(f->n, name, dtype, f->count, wide);
}

/* Which leaf each row comes to in each tree. */
static struct tn_value *leaves_of(struct forest *f, struct tn_value *x)
{
	struct tn_onnx *n = f->n;
	const char *mode = mode_name(f);
	struct tn_value *root, *feature, *bound, *yes, *no, *how, *missing;
	int64_t i, any = 0;

	for (i = 0; i < f->count; i++)
		any |= f->missing[i];
	root = tn_ml_ints(n, "root", TN_i32, f->roots, f->root);
	feature = tn_ml_ints(n, "feature", TN_i32, f->count, f->feature);
	bound = tn_ml_vector(n, "bound", x->type->dtype, f->count, f->bound);
	yes = tn_ml_ints(n, "yes", TN_i32, f->count, f->yes);
	no = tn_ml_ints(n, "no", TN_i32, f->count, f->no);
	how = strcmp(mode, "each") ? tn_onnx_text(n, "cast(0, u8)") :
		bytes(f, "how", f->how, TN_u8);
	missing = any ? bytes(f, "missing", f->missing, TN_bool) :
		tn_onnx_text(n, "cast(false, bool)");
	if (!root || !feature || !bound || !yes || !no || !how || !missing)
		return NULL;
	return tn_onnx_text(n, "tree_leaves(%v, %v, %v, %v, %v, %v, %v, %v, "
			    "depth=%i, mode=\"%s\")", x, root, feature, bound,
			    yes, no, how, missing, (int64_t)f->depth, mode);
}

/* The weights, with what wins against none in the place of those not set. */
static struct tn_value *weights_of(struct forest *f, enum tn_dtype dtype,
				   const char *how)
{
	double other = !strcmp(how, "MIN") ? INFINITY :
		!strcmp(how, "MAX") ? -INFINITY : 0;
	int64_t i;

	for (i = 0; i < f->leaves * f->targets; i++)
		if (!f->is_set[i])
			f->weight[i] = other;
	return tn_ml_matrix(f->n, "weights", dtype, f->leaves, f->targets,
			f->weight);
}

/* What the trees say together, [N, K], before base values. */
static struct tn_value *scores_of(struct forest *f, struct tn_value *x,
				  const char *how)
{
	struct tn_value *leaf = leaves_of(f, x);
	struct tn_value *w = leaf ? weights_of(f, x->type->dtype, how) : NULL;
	const char *text = "sum(gather(%v, %v), axes=[1]) / %i";

	if (!w)
		return NULL;
	if (!strcmp(how, "MIN") || !strcmp(how, "MAX"))
		text = !strcmp(how, "MIN") ?
			"r = reduce_min(gather(%v, %v), axes=[1]); "
			"return select(r == inf, 0, r)" :
			"r = reduce_max(gather(%v, %v), axes=[1]); "
			"return select(r == -inf, 0, r)";
	else if (strcmp(how, "AVERAGE") != 0)
		text = "sum(gather(%v, %v), axes=[1])";
	return tn_onnx_text(f->n, text, w, leaf, f->roots);
}

/* With base values: one for all, or one for each target. */
static struct tn_value *based(struct tn_onnx *n, struct tn_value *s,
			      int64_t targets)
{
	struct tn_ml_reals base;
	struct tn_value *b;

	if (!s || !tn_ml_read_reals(n, "base_values", &base) || !base.count)
		return n->failed ? NULL : s;
	if (base.count != targets && base.count != 1) {
		tn_onnx_refuse(n, "%lld base values for %lld targets",
			       (long long)base.count, (long long)targets);
		return NULL;
	}
	b = tn_ml_matrix(n, "base", s->type->dtype, 1, base.count, base.at);
	return b ? tn_onnx_text(n, "%v + %v", s, b) : NULL;
}

/* ---- Regressors ---------------------------------------------------------------------------- */

static void regress(struct forest *f, struct tn_value *x, const char *how,
		    const char *post, enum tn_dtype to)
{
	struct tn_onnx *n = f->n;
	struct tn_value *y = check(f, x) ? scores_of(f, x, how) : NULL;

	y = y ? based(n, y, f->targets) : NULL;
	y = y ? tn_ml_transform(n, y, post, f->targets) : NULL;
	if (y)
		tn_onnx_is(n, "cast(%v, %t)", y, to);
}

void tn_onnx_do_tree_regressor(struct tn_onnx *n)
{
	struct forest f = { .n = n, .targets = tn_onnx_int(n, "n_targets", 1) };
	struct tn_value *x = tn_ml_rows(n);
	struct older o;

	if (x && read_older(&f, &o) && link_older(&f, &o) &&
	    weigh_older(&f, &o, "target"))
		regress(&f, x, tn_onnx_string(n, "aggregate_function", "SUM"),
			tn_onnx_string(n, "post_transform", "NONE"), TN_f32);
}

void tn_onnx_do_tree_ensemble(struct tn_onnx *n)
{
	static const char *const hows[] = { "AVERAGE", "SUM", "MIN", "MAX" };
	static const char *const posts[] = { "NONE", "SOFTMAX", "LOGISTIC",
					     "SOFTMAX_ZERO", "PROBIT" };
	int64_t how = tn_onnx_int(n, "aggregate_function", 1);
	int64_t post = tn_onnx_int(n, "post_transform", 0);
	struct forest f = { .n = n, .targets = tn_onnx_int(n, "n_targets", 1) };
	struct tn_value *x = tn_ml_rows(n);
	struct newer o;

	if (!x)
		return;
	if (how < 0 || how > 3 || post < 0 || post > 4) {
		tn_onnx_report(n, TN_E1012, "aggregate_function %lld, "
			       "post_transform %lld", (long long)how,
			       (long long)post);
		return;
	}
	if (read_newer(&f, &o) && link_newer(&f, &o) && weigh_newer(&f, &o))
		regress(&f, x, hows[how], posts[post], x->type->dtype);
}

/* ---- Classifiers ---------------------------------------------------------------------------- */

/* Two classes, of which only the first has weights: s is in favour of the
 * second. Weights that are all positive are its probability. */
static void one_of_two(struct forest *f, struct tn_value *s, const char *post,
		       struct tn_value *labels)
{
	struct tn_onnx *n = f->n;
	const char *text = f->is_negative ? "concat(-%v, %v, axis=1)" :
		"concat(1 - %v, %v, axis=1)";
	struct tn_value *y;

	if (!strcmp(post, "PROBIT")) {
		tn_onnx_refuse(n, "post_transform PROBIT of two classes of "
			       "which one has weights");
		return;
	}
	if (!strcmp(post, "LOGISTIC"))
		text = "sigmoid(concat(-%v, %v, axis=1))";
	tn_onnx_give(n, 0, tn_onnx_text(n, "gather(%v, cast(%v[:, 0] > %f, "
					"i64))", labels, s,
					f->is_negative ? 0.0 : 0.5));
	y = tn_onnx_text(n, text, s, s);
	tn_onnx_give(n, 1, y ? tn_onnx_text(n, "cast(%v, f32)", y) : NULL);
}

/* How many classes have weights, of which the first. */
static int64_t voted(const struct forest *f, int64_t *first)
{
	int64_t count = 0, i, k;

	for (k = 0; k < f->targets; k++) {
		for (i = 0; i < f->leaves; i++)
			if (f->is_set[i * f->targets + k])
				break;
		if (i < f->leaves && !count++)
			*first = k;
	}
	return count;
}

static void classify(struct forest *f, struct tn_value *x,
		     struct tn_value *labels)
{
	struct tn_onnx *n = f->n;
	const char *post = tn_onnx_string(n, "post_transform", "NONE");
	int64_t targets = f->targets, first = 0, i;
	bool one;
	struct tn_value *s;

	one = targets == 2 && voted(f, &first) == 1;
	if (one)
		for (i = 0; i < f->leaves; i++) {
			f->weight[i] = f->weight[2 * i + first];
			f->is_set[i] = f->is_set[2 * i + first];
		}
	if (one)
		f->targets = 1;
	s = check(f, x) ? scores_of(f, x, "SUM") : NULL;
	s = s ? based(n, s, f->targets) : NULL;
	if (!s)
		return;
	if (one) {
		one_of_two(f, s, post, labels);
		return;
	}
	tn_onnx_give(n, 0, tn_onnx_text(n, "gather(%v, argmax(%v, axis=1))",
					labels, s));
	s = tn_ml_transform(n, s, post, targets);
	tn_onnx_give(n, 1, s ? tn_onnx_text(n, "cast(%v, f32)", s) : NULL);
}

void tn_onnx_do_tree_classifier(struct tn_onnx *n)
{
	struct forest f = { .n = n };
	struct tn_value *x = tn_ml_rows(n), *labels;
	struct older o;

	labels = x ? tn_ml_labels(n, "classlabels_int64s", "classlabels_strings",
			       &f.targets) : NULL;
	if (labels && f.targets < 2)
		tn_onnx_refuse(n, "a single class");
	else if (labels && read_older(&f, &o) && link_older(&f, &o) &&
		 weigh_older(&f, &o, "class"))
		classify(&f, x, labels);
}
