/*
 * Ensembles of trees out of the attributes of a node: those that number trees
 * and nodes, and the newer ones, which keep leaves apart.
 *
 * Nodes are numbered leaves first, so that a table of weights has no rows for
 * those between; a leaf goes on at itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "importers/onnx/forest.h"

/* Weights of leaves, over all targets, are at most so many. */
#define WEIGHTS ((int64_t)1 << 24)

static bool make_nodes(struct tn_forest *f, int64_t count)
{
	int64_t i;

	f->count = count;
	f->feature = tn_ml_room(f->n, count, sizeof(*f->feature));
	f->yes = tn_ml_room(f->n, count, sizeof(*f->yes));
	f->no = tn_ml_room(f->n, count, sizeof(*f->no));
	f->bound = tn_ml_room(f->n, count, sizeof(*f->bound));
	f->how = tn_ml_room(f->n, count, sizeof(*f->how));
	f->missing = tn_ml_room(f->n, count, sizeof(*f->missing));
	for (i = 0; !f->n->failed && i < count; i++) {
		f->yes[i] = f->no[i] = i;
		f->how[i] = FOREST_LEAF;
	}
	return !f->n->failed;
}

static bool make_weights(struct tn_forest *f)
{
	int64_t count;

	if (f->targets < 1 ||
	    !tn_num_mul(f->leaves, f->targets, &count) ||
	    count > WEIGHTS) {
		tn_onnx_refuse(f->n, "weights of %lld leaves for %lld targets",
			       (long long)f->leaves, (long long)f->targets);
		return false;
	}
	f->weight = tn_ml_room(f->n, count, sizeof(*f->weight));
	f->is_set = tn_ml_room(f->n, count, sizeof(*f->is_set));
	return !f->n->failed;
}

static void add_weight(struct tn_forest *f, int64_t leaf, int64_t target,
		       double weight)
{
	int64_t at = leaf * f->targets + target;

	f->weight[at] += weight;
	f->is_set[at] = true;
	f->is_negative |= weight < 0;
}

/* ---- The older form: nodes by the numbers of their tree and their own ---- */

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

	for (i = 0; name && i <= FOREST_LEAF; i++)
		if (!strcmp(known[i], name) && i != FOREST_MEMBER)
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

static bool read_modes(struct tn_forest *f, struct older *o)
{
	const char *name;
	int64_t i;
	int mode;

	o->mode = tn_ml_room(f->n, o->tree.count, sizeof(*o->mode));
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

static bool read_older(struct tn_forest *f, struct older *o)
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

static bool name_nodes(struct tn_forest *f, struct older *o)
{
	int64_t count = o->tree.count, i;

	o->names = tn_ml_room(f->n, count, sizeof(*o->names));
	o->place = tn_ml_room(f->n, count, sizeof(*o->place));
	f->root = tn_ml_room(f->n, count, sizeof(*f->root));
	if (f->n->failed)
		return false;
	for (i = 0; i < count; i++) {
		o->names[i].tree = o->tree.at[i];
		o->names[i].node = o->node.at[i];
		o->names[i].at = i;
		if (o->mode[i] == FOREST_LEAF)
			o->place[i] = f->leaves++;
	}
	qsort(o->names, (size_t)count, sizeof(*o->names), by_name);
	f->count = f->leaves;
	for (i = 0; i < count; i++)
		if (o->mode[i] != FOREST_LEAF)
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
static void find_roots(struct tn_forest *f, const struct older *o)
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

static bool link_older(struct tn_forest *f, struct older *o)
{
	int64_t count = o->tree.count, i, yes, no, at;

	if (!name_nodes(f, o))
		return false;
	find_roots(f, o);
	if (!make_nodes(f, count))
		return false;
	for (i = 0; i < count; i++) {
		if (o->mode[i] == FOREST_LEAF)
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
static bool weigh_older(struct tn_forest *f, const struct older *o,
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
	    !tn_ml_read_reals(f->n, tn_arena_printf(arena, "%s_weights",
						    prefix), &weight))
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
		if (o->mode[at] == FOREST_LEAF)
			add_weight(f, o->place[at], target.at[i],
				   weight.at[i]);
	}
	return true;
}

/* ---- The newer form: leaves and nodes apart ------------------------------ */

struct newer {
	struct tn_ml_ints roots, feature, mode, yes, no, yes_leaf, no_leaf;
	struct tn_ml_ints missing, target;
	struct tn_ml_reals bound, weight, members;
};

static bool read_newer(struct tn_forest *f, struct newer *o)
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
static void put_members(struct tn_forest *f, const struct newer *o, int64_t at,
			int64_t *next, int64_t *spare)
{
	int64_t here = at, no = f->no[at];

	f->how[at] = FOREST_EQ;
	f->bound[at] = *next < o->members.count ? o->members.at[*next] : 0;
	for (++*next; *next < o->members.count &&
	     o->members.at[*next] == o->members.at[*next]; ++*next) {
		f->no[here] = *spare;
		here = (*spare)++;
		f->feature[here] = f->feature[at];
		f->how[here] = FOREST_EQ;
		f->bound[here] = o->members.at[*next];
		f->yes[here] = f->yes[at];
		f->no[here] = no;
		f->missing[here] = f->missing[at];
	}
	++*next;
}

static int64_t target_of(const struct tn_forest *f, int64_t to, int64_t is_leaf,
			 int64_t nodes)
{
	if (to < 0 || to >= (is_leaf ? f->leaves : nodes))
		return -1;
	return is_leaf ? to : f->leaves + to;
}

static bool link_newer(struct tn_forest *f, const struct newer *o)
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
		    o->mode.at[i] > FOREST_MEMBER) {
			tn_onnx_report(f->n, TN_E1012, "node %lld has a "
				       "branch to no node, or a mode that "
				       "nobody knows", (long long)i);
			return false;
		}
		if (o->mode.at[i] == FOREST_MEMBER)
			put_members(f, o, at, &next, &spare);
	}
	f->count = spare;
	f->roots = o->roots.count;
	f->root = tn_ml_room(f->n, f->roots, sizeof(*f->root));
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

static bool weigh_newer(struct tn_forest *f, const struct newer *o)
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

/* ---- What is asked of both ----------------------------------------------- */

/* Level by level: a node between is reached once, so there are no circles. */
static bool measure(struct tn_forest *f)
{
	int64_t *level = tn_ml_room(f->n, f->count, sizeof(*level));
	int64_t count = 0, begin, end, to[2], i;
	bool *seen = tn_ml_room(f->n, f->count, sizeof(*seen));
	int k;

	if (f->n->failed)
		return false;
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
bool tn_forest_check(struct tn_forest *f, const struct tn_value *x)
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

bool tn_forest_older(struct tn_forest *f, const char *prefix)
{
	struct older o;

	return read_older(f, &o) && link_older(f, &o) &&
		weigh_older(f, &o, prefix);
}

bool tn_forest_newer(struct tn_forest *f)
{
	struct newer o;

	return read_newer(f, &o) && link_newer(f, &o) && weigh_newer(f, &o);
}
