/*
 * Tensors as text on the command line: sizes, element type, elements.
 *
 *   "2x2xf32=1 2 3 4"    "3xi64=-1 0 7"    "f32=0.5"    "4xbool=1 0 0 1"
 *
 * One element fills all. Elements are separated by blanks or commas.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "driver/call.h"

struct text {
	struct tenon_context *context;
	const char *name, *whole;
};

static enum tn_status malformed(const struct text *text, const char *why)
{
	struct tn_diag *diag;

	diag = tn_context_report(text->context, TN_E0010,
				 "input '%s': %s in '%.80s'", text->name,
				 why, text->whole);
	tn_diag_help(&text->context->sink, diag,
		     "it is written 2x2xf32=1 2 3 4, @FILE, random:SEED or "
		     "zero");
	return TN_USAGE;
}

/* "2x2xf32": sizes and type; *end is set behind them. */
static enum tn_status read_type(const struct text *text, const char **end,
				struct tn_tensor *type)
{
	const char *at = text->whole;
	size_t len = strcspn(at, "=");
	char word[24];

	if (!at[len])
		return malformed(text, len ? "'=' is missing" :
				 "there is nothing");
	*end = at + len + 1;
	type->rank = 0;
	for (;;) {
		size_t n = strcspn(at, "x=");

		if (n == 0 || n >= sizeof(word))
			return malformed(text, "the type is not understood");
		memcpy(word, at, n);
		word[n] = '\0';
		if (at[n] == '=')
			break;
		if (type->rank == TN_MAX_RANK)
			return malformed(text, "there are too many sizes");
		if (strspn(word, "0123456789") != n || n > 18)
			return malformed(text, "a size is no number");
		type->shape[type->rank++] = strtoll(word, NULL, 10);
		at += n + 1;
	}
	type->dtype = tn_dtype_find(word);
	if (type->dtype == TN_DTYPE_COUNT)
		return malformed(text, "the element type is unknown");
	return TN_OK;
}

static bool set_int(struct tn_tensor *out, int64_t at, const char *word)
{
	bool negative = word[0] == '-';
	bool is_unsigned = tn_dtype_holds(out->dtype, TN_KIND_U | TN_KIND_B);
	int bits = tn_dtype_bits(out->dtype);
	uint64_t value, most;

	if (!tn_num_parse_u64(word + negative, &value))
		return false;
	most = is_unsigned ? UINT64_MAX >> (64 - bits) :
		(UINT64_C(1) << (bits - 1)) - 1 + negative;
	if (out->dtype == TN_bool)
		most = 1;
	if (value > most || (negative && is_unsigned && value))
		return false;
	tn_tensor_set_i64(out, at, negative ? (int64_t)(0 - value) :
			  (int64_t)value);
	return true;
}

static bool set_word(struct tn_tensor *out, int64_t at, const char *word)
{
	bool negative = word[0] == '-';
	double value;

	if (!strcmp(word, "true") || !strcmp(word, "false")) {
		if (out->dtype != TN_bool)
			return false;
		tn_tensor_set_i64(out, at, word[0] == 't');
		return true;
	}
	if (!tn_dtype_holds(out->dtype, TN_KIND_F))
		return set_int(out, at, word);
	if (!strcmp(word + negative, "inf"))
		value = strtod("inf", NULL);
	else if (!strcmp(word + negative, "nan"))
		value = strtod("nan", NULL);
	else if (out->dtype == TN_f64 ?
		 !tn_num_parse_f64(word + negative, &value) :
		 !tn_num_parse_odd(word + negative, &value))
		return false;
	tn_tensor_set_f64(out, at, negative ? -value : value);
	return true;
}

static enum tn_status read_elements(const struct text *text, const char *at,
				    struct tn_tensor *out)
{
	int64_t count = tn_tensor_count(out), n = 0;
	char word[64];
	size_t len, bytes = (size_t)tn_dtype_bytes(out->dtype);

	for (;; at += len, n++) {
		at += strspn(at, " ,\t\n");
		len = strcspn(at, " ,\t\n");
		if (len == 0)
			break;
		if (len >= sizeof(word))
			return malformed(text, "an element is too long");
		memcpy(word, at, len);
		word[len] = '\0';
		if (n == count)
			return malformed(text, "there are too many elements");
		if (!set_word(out, n, word))
			return malformed(text, "an element does not fit the "
					 "type");
	}
	if (n == 1)
		for (; n < count; n++)
			memcpy((char *)out->data + (size_t)n * bytes,
			       out->data, bytes);
	return n == count ? TN_OK :
		malformed(text, "there are too few elements");
}

enum tn_status tn_call_parse(struct tenon_context *context,
			     const char *name, const char *text,
			     struct tn_tensor *out)
{
	struct text t = { context, name, text };
	struct tn_tensor type = {0};
	const char *at = text;
	enum tn_status status = read_type(&t, &at, &type);

	if (status)
		return status;
	if (tn_tensor_bytes(&type) < 0)
		return malformed(&t, "the sizes are too large");
	if (!tn_tensor_init(out, type.dtype, type.rank, type.shape))
		return TN_IO;
	status = read_elements(&t, at, out);
	if (status)
		tn_tensor_fini(out);
	return status;
}
