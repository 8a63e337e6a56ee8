/*
 * Convolutions and pools over N C spatial.
 *
 * Work goes by rows: all results along the last spatial axis. For each channel
 * and each tap of the window, in row-major order, one strided run adds what
 * the tap sees inside the input; padding is never touched. So each result is
 * summed in the order channel, tap, in the compute type, and rounded once.
 */
#include "ir/eval_impl.h"

#include <stdlib.h>

#define SPATIAL (TN_MAX_RANK - 2)

/* The geometry, spatial axes only. */
struct window {
	int rank, size;			/* axes; bytes of an element */
	int64_t input[SPATIAL], output[SPATIAL], taps[SPATIAL];
	int64_t stride[SPATIAL], dilation[SPATIAL], lo[SPATIAL];
	int64_t input_step[SPATIAL];	/* elements */
	int64_t output_step[SPATIAL];
	int64_t input_count, output_count, tap_count;
	const struct tn_eval_kind *kind;
};

static bool read_window(struct tn_eval_job *job, const int64_t *taps,
			struct window *w)
{
	const struct tn_attr *pad = tn_eval_attr(job->op, "pad");
	int i;

	w->rank = job->in[0]->rank - 2;
	w->size = tn_dtype_bytes(job->out->dtype);
	w->kind = tn_eval_kind_of(job->out->dtype);
	for (i = 0; i < w->rank; i++) {
		w->input[i] = job->in[0]->shape[2 + i];
		w->output[i] = job->out->shape[2 + i];
		w->taps[i] = taps[i];
		w->stride[i] = tn_eval_attr(job->op, "stride")->u.ints[i];
		w->dilation[i] = tn_eval_attr(job->op, "dilation")->u.ints[i];
		if (!tn_eval_dim(job->eval, pad->u.dims[2 * i], &w->lo[i]))
			return false;
	}
	w->input_count = w->output_count = w->tap_count = 1;
	for (i = w->rank - 1; i >= 0; i--) {
		w->input_step[i] = w->input_count;
		w->output_step[i] = w->output_count;
		w->input_count *= w->input[i];
		w->output_count *= w->output[i];
		w->tap_count *= w->taps[i];
	}
	return w->kind != NULL;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
	return a > 0 ? (a - 1) / b + 1 : 0;
}

/* Places [*from, *to) of `outer` with 0 <= place * stride + shift < inner. */
static void valid_range(int64_t outer, int64_t inner, int64_t stride,
			int64_t shift, int64_t *from, int64_t *to)
{
	*from = ceil_div(-shift, stride);
	*to = ceil_div(inner - shift, stride);
	if (*to > outer)
		*to = outer;
}

/* Offset of the input row that tap `tap` sees from the output row `place`;
 * -1: padding. */
static int64_t input_row(const struct window *w, const int64_t *place,
			 const int64_t *tap)
{
	int64_t offset = 0;
	int i;

	for (i = 0; i < w->rank - 1; i++) {
		int64_t at = place[i] * w->stride[i] +
			     tap[i] * w->dilation[i] - w->lo[i];

		if (at < 0 || at >= w->input[i])
			return -1;
		offset += at * w->input_step[i];
	}
	return offset;
}

static void clear(char *acc, int64_t bytes)
{
	int64_t i;

	for (i = 0; i < bytes; i++)
		acc[i] = 0;
}

/* ---- Convolution --------------------------------------------------------- */

/* One input channel to one row of results. */
static void conv_row(const struct window *w, const char *x, const char *taps,
		     const int64_t *place, char *acc)
{
	int last = w->rank - 1;
	int64_t tap[SPATIAL] = { 0 }, from, to, row;

	if (w->tap_count == 0 || w->input_count == 0)
		return;
	do {
		int64_t shift = tap[last] * w->dilation[last] - w->lo[last];

		row = input_row(w, place, tap);
		valid_range(w->output[last], w->input[last], w->stride[last],
			    shift, &from, &to);
		if (row >= 0 && from < to)
			w->kind->axpy(to - from,
				      acc + from * w->kind->acc_bytes, 1,
				      taps, 0, x + (row + shift + from *
						    w->stride[last]) * w->size,
				      w->stride[last] * w->size);
		taps += w->size;
	} while (tn_eval_next(w->rank, w->taps, tap));
}

static void store_row(const struct window *w, char *acc, int64_t count,
		      const struct tn_tensor *bias, int64_t channel, char *out)
{
	int64_t i;

	if (bias)
		w->kind->shift(count, acc,
			       (const char *)bias->data + channel * w->size);
	for (i = 0; i < count; i++)
		w->kind->store(acc + i * w->kind->acc_bytes,
			       out + i * w->size);
}

static void conv(struct tn_eval_job *job, const struct window *w, char *acc)
{
	int64_t groups = tn_eval_attr(job->op, "groups")->u.i;
	int64_t channels = job->in[1]->shape[1];	/* of a group */
	int64_t results = job->out->shape[1];
	int64_t last = w->output[w->rank - 1];
	const struct tn_tensor *bias = job->op->nin > 2 ? job->in[2] : NULL;
	const char *x = job->in[0]->data, *weights = job->in[1]->data;
	char *out = job->out->data;
	int64_t nm;

	for (nm = 0; nm < job->out->shape[0] * results; nm++) {
		int64_t n = nm / results, m = nm % results;
		int64_t group = m / (results / groups);
		int64_t place[SPATIAL] = { 0 };

		do {
			int64_t c;

			clear(acc, last * w->kind->acc_bytes);
			for (c = 0; c < channels; c++)
				conv_row(w, x + ((n * groups + group) *
						 channels + c) *
					 w->input_count * w->size,
					 weights + (m * channels + c) *
					 w->tap_count * w->size, place, acc);
			store_row(w, acc, last, bias, m, out);
			out += last * w->size;
		} while (tn_eval_next(w->rank - 1, w->output, place));
	}
}

/* ---- Transposed convolution ---------------------------------------------- */

/* One input channel to all results of an output channel: input place i adds
 * to result i * stride + tap * dilation - lo. */
static void spread(const struct window *w, const char *x, const char *weight,
		   const int64_t *tap, char *acc)
{
	int last = w->rank - 1;
	int64_t place[SPATIAL] = { 0 }, from, to;
	int64_t shift = tap[last] * w->dilation[last] - w->lo[last];

	valid_range(w->input[last], w->output[last], w->stride[last], shift,
		    &from, &to);
	if (from >= to)
		return;
	do {
		int64_t in = 0, out = 0;
		bool is_in = true;
		int i;

		for (i = 0; i < last; i++) {
			int64_t at = place[i] * w->stride[i] +
				     tap[i] * w->dilation[i] - w->lo[i];

			is_in = is_in && at >= 0 && at < w->output[i];
			in += place[i] * w->input_step[i];
			out += at * w->output_step[i];
		}
		if (is_in)
			w->kind->axpy(to - from, acc + (out + shift + from *
							w->stride[last]) *
				      w->kind->acc_bytes, w->stride[last],
				      weight, 0, x + (in + from) * w->size,
				      w->size);
	} while (tn_eval_next(last, w->input, place));
}

static void conv_transpose(struct tn_eval_job *job, const struct window *w,
			   char *acc)
{
	int64_t groups = tn_eval_attr(job->op, "groups")->u.i;
	int64_t channels = job->in[0]->shape[1] / groups;
	int64_t results = job->in[1]->shape[1];		/* of a group */
	const struct tn_tensor *bias = job->op->nin > 2 ? job->in[2] : NULL;
	const char *x = job->in[0]->data, *weights = job->in[1]->data;
	char *out = job->out->data;
	int64_t all = job->out->shape[0] * groups * results;
	int64_t at;

	for (at = 0; at < all; at++) {
		int64_t m = at % results, group = at / results % groups;
		int64_t n = at / results / groups;
		int64_t c;

		clear(acc, w->output_count * w->kind->acc_bytes);
		for (c = 0; c < channels; c++) {
			int64_t in = group * channels + c;
			const char *weight = weights + (in * results + m) *
					     w->tap_count * w->size;
			int64_t tap[SPATIAL] = { 0 };

			if (w->input_count == 0 || w->tap_count == 0)
				break;
			do {
				spread(w, x + (n * groups * channels + in) *
				       w->input_count * w->size, weight, tap,
				       acc);
				weight += w->size;
			} while (tn_eval_next(w->rank, w->taps, tap));
		}
		store_row(w, acc, w->output_count, bias,
			  group * results + m, out);
		out += w->output_count * w->size;
	}
}

/* ---- Pools --------------------------------------------------------------- */

/* Folds what one window sees of a channel; the number of cells seen. */
static int64_t fold_window(const struct window *w, const char *x,
			   const int64_t *place, tn_eval_fold_fn *fold,
			   void *acc)
{
	int last = w->rank - 1;
	int64_t tap[SPATIAL] = { 0 }, seen = 0, from, to;
	int64_t begin = place[last] * w->stride[last] - w->lo[last];

	valid_range(w->taps[last], w->input[last], w->dilation[last], begin,
		    &from, &to);
	if (from >= to)
		return 0;
	do {
		int64_t row = input_row(w, place, tap);

		if (row < 0)
			continue;
		fold(to - from, x + (row + begin + from *
				     w->dilation[last]) * w->size,
		     w->dilation[last] * w->size, acc);
		seen += to - from;
	} while (tn_eval_next(last, w->taps, tap));
	return seen;
}

static void pool(struct tn_eval_job *job, const struct window *w,
		 tn_eval_fold_fn *fold)
{
	const struct tn_op_info *info = &tn_ops[job->op->code];
	bool is_mean = job->op->code == TN_OP_avgpool;
	bool is_valid = is_mean &&
			tn_eval_attr(job->op, "count")->u.s[0] == 'v';
	int64_t channels = job->out->shape[0] * job->out->shape[1];
	int64_t start = 0, acc = 0;
	char *out = job->out->data;
	int64_t c;

	tn_eval_identity(info->identity, job->out->dtype, &start);
	for (c = 0; c < channels; c++) {
		const char *x = (const char *)job->in[0]->data +
				c * w->input_count * w->size;
		int64_t place[SPATIAL] = { 0 };

		do {
			int64_t seen;

			w->kind->load(&start, &acc);
			seen = fold_window(w, x, place, fold, &acc);
			if (is_mean)
				w->kind->divide(&acc, is_valid ? seen :
						w->tap_count);
			w->kind->store(&acc, out);
			out += w->size;
		} while (tn_eval_next(w->rank, w->output, place));
	}
}

bool tn_eval_class_window(struct tn_eval_job *job)
{
	enum tn_opcode code = job->op->code;
	bool is_conv = code == TN_OP_conv || code == TN_OP_conv_transpose;
	const int64_t *taps = is_conv ? job->in[1]->shape + 2 :
			      tn_eval_attr(job->op, "size")->u.ints;
	tn_eval_fold_fn *fold =
		tn_eval_fold_of(tn_ops[code].combine, job->out->dtype);
	struct window w;
	char *acc;

	if (!read_window(job, taps, &w))
		return false;
	if (tn_tensor_count(job->out) == 0)
		return true;
	if (!is_conv) {
		if (fold)
			pool(job, &w, fold);
		return fold != NULL;
	}
	acc = tn_eval_alloc(job->eval, code == TN_OP_conv ?
			    w.output[w.rank - 1] : w.output_count,
			    w.kind->acc_bytes);
	if (!acc)
		return false;
	if (code == TN_OP_conv)
		conv(job, &w, acc);
	else
		conv_transpose(job, &w, acc);
	free(acc);
	return true;
}
