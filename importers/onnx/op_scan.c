/*
 * The handler of Scan, in its form since operator set 9 and in that of 8, which
 * has a batch.
 */
#include "importers/onnx/region.h"
#include "importers/onnx/table.h"
#include "ir/graph_edit.h"

static int64_t entry(const int64_t *list, int count, int i)
{
	return i < count ? list[i] : 0;
}

/* An input with the axis to scan in front, in the order of the turns. */
static struct tn_value *in_front(struct tn_onnx *n, struct tn_value *x,
				 int64_t at, bool back)
{
	int64_t perm[TN_MAX_RANK];
	int axis = tn_onnx_axis(n, at, x->type->rank), i, k = 1;

	if (axis < 0)
		return NULL;
	if (axis) {
		perm[0] = axis;
		for (i = 0; i < x->type->rank; i++)
			if (i != axis)
				perm[k++] = i;
		x = tn_onnx_text(n, "transpose(%v, perm=%I)", x, x->type->rank,
				 perm);
	}
	return x && back ? tn_onnx_text(n, "reverse(%v, axes=[0])", x) : x;
}

static struct tn_value *to_place(struct tn_onnx *n, struct tn_value *x,
				 int64_t at, bool back)
{
	int64_t perm[TN_MAX_RANK];
	int axis, i;

	x = back ? tn_onnx_text(n, "reverse(%v, axes=[0])", x) : x;
	axis = x ? tn_onnx_axis(n, at, x->type->rank) : -1;
	if (axis <= 0)
		return axis ? NULL : x;
	for (i = 0; i < x->type->rank; i++)
		perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
	return tn_onnx_text(n, "transpose(%v, perm=%I)", x, x->type->rank,
			    perm);
}

static struct tn_op *scan(struct tn_onnx *n, const struct onnx_graph *graph,
			  int ncarries, struct tn_value *const *in)
{
	const struct tn_type *type;
	struct tn_value *values[TN_REGION_MOST];
	struct tn_attr attrs[1];
	struct tn_region r;
	bool ok;
	int i;

	ok = tn_region_begin(&r, n, graph, tn_region_open(n));
	for (i = 0; ok && i < n->nin; i++) {
		type = in[i]->type;
		if (i >= ncarries)
			type = tn_type_get(n->job->module, type->dtype,
					   type->rank - 1, type->dims + 1);
		ok = type && tn_region_param(&r, (size_t)i, type);
	}
	ok = ok && tn_region_finish(&r) && r.nouts >= ncarries;
	for (i = 0; ok && i < r.nouts; i++) {
		values[i] = tn_region_out(&r, i);
		ok = values[i] != NULL;
	}
	ok = ok && tn_region_yield(&r, r.nouts, values, r.nouts - ncarries);
	tn_region_end(&r);
	if (!ok)
		return NULL;
	attrs[0] = tn_attr_int("carries", ncarries);
	{
		struct tn_op *op = tn_region_op(
			n, TN_OP_scan, &(struct tn_region_in){n->nin, in}, 1,
			&r.block, r.nouts);

		return op && tn_region_infer(n, op, 1, attrs) ? op : NULL;
	}
}

/* What the batched form scans of one of the batch: a scan in a scan. */
static struct tn_op *scan_one(struct tn_onnx *n, const struct onnx_graph *graph,
			      struct tn_block *block, struct tn_value **in)
{
	struct tn_onnx_scope scope;
	struct tn_onnx other = tn_region_elsewhere(n, &scope, block);
	const struct tn_type *type;
	const int64_t *ways;
	int count = tn_onnx_list(n, "directions", &ways);
	int nscans = tn_onnx_small(n, "num_scan_inputs", 0);
	int i, ncarries = n->nin - nscans;
	struct tn_op *op;

	for (i = 0; i < n->nin; i++) {
		type = tn_type_get(n->job->module, in[i]->type->dtype,
				   in[i]->type->rank - 1,
				   in[i]->type->dims + 1);
		in[i] = type ? tn_graph_param(block, "one", type) : NULL;
		if (in[i] && i >= ncarries)
			in[i] = in_front(&other, in[i], 0,
					 entry(ways, count, i - ncarries));
		if (!in[i])
			return NULL;
	}
	op = scan(&other, graph, ncarries, in);
	n->failed |= other.failed;
	return op;
}

/* Of operator set 8: all inputs have an axis for the batch in front. */
static void scan_batch(struct tn_onnx *n, const struct onnx_graph *graph)
{
	struct tn_block *block = tn_region_open(n);
	struct tn_region r = {.n = n, .block = block};
	struct tn_value *all[TN_REGION_MOST], *in[TN_REGION_MOST];
	struct tn_attr attrs[1];
	struct tn_op *op;
	int i;

	if (tn_onnx_has(n, 0)) {
		tn_onnx_refuse(n, "lengths of sequences");
		return;
	}
	n->in++;
	n->nin--;
	for (i = 0; i < n->nin; i++) {
		all[i] = in[i] = tn_onnx_in(n, i);
		if (!in[i])
			return;
		if (!in[i]->type->rank) {
			tn_onnx_report(n, TN_E1012, "input %d has no batch",
				       i + 1);
			return;
		}
	}
	op = block ? scan_one(n, graph, block, in) : NULL;
	if (!op || !tn_region_yield(&r, op->nout, op->out, op->nout))
		return;
	attrs[0] = tn_attr_int("carries", 0);
	op = tn_region_op(n, TN_OP_scan, &(struct tn_region_in){n->nin, all}, 1,
			  &block, op->nout);
	if (!op || !tn_region_infer(n, op, 1, attrs))
		return;
	for (i = 0; i < n->nout && i < op->nout; i++)
		tn_onnx_give(n, i, op->out[i]);
}

void tn_onnx_do_scan(struct tn_onnx *n)
{
	const struct onnx_graph *graph = tn_region_graph(n, "body");
	int count = tn_onnx_small(n, "num_scan_inputs", 0), i;
	const int64_t *axes, *ways, *out_axes, *out_ways;
	int naxes = tn_onnx_list(n, "scan_input_axes", &axes);
	int nways = tn_onnx_list(n, "scan_input_directions", &ways);
	int nouts = tn_onnx_list(n, "scan_output_axes", &out_axes);
	int noways = tn_onnx_list(n, "scan_output_directions", &out_ways);
	struct tn_value *in[TN_REGION_MOST], *out;
	struct tn_op *op;
	int ncarries = n->nin - count;

	if (!graph)
		return;
	if (n->nin > TN_REGION_MOST || count < 1 ||
	    ncarries < (n->version < 9)) {
		tn_onnx_report(n, TN_E1012, "%d inputs to scan of %d", count,
			       n->nin);
		return;
	}
	if (n->version < 9) {
		scan_batch(n, graph);
		return;
	}
	for (i = 0; i < n->nin; i++) {
		in[i] = tn_onnx_in(n, i);
		if (in[i] && i >= ncarries)
			in[i] = in_front(n, in[i],
					 entry(axes, naxes, i - ncarries),
					 entry(ways, nways, i - ncarries));
		if (!in[i])
			return;
	}
	op = scan(n, graph, ncarries, in);
	for (i = 0; op && i < n->nout && i < op->nout; i++) {
		out = op->out[i];
		if (i >= ncarries)
			out = to_place(n, out,
				       entry(out_axes, nouts, i - ncarries),
				       entry(out_ways, noways, i - ncarries));
		tn_onnx_give(n, i, out);
	}
}
