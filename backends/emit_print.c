/*
 * What `print` becomes; see emit_print.h.
 */
#include "backends/emit_print.h"

#include "backends/emit_api.h"

/* ---- Steps ---- */

static void line(struct tn_host *host, const char *text)
{
	tn_host_indent(host);
	tn_buf_put(host->out, text);
}

static void put_shape(struct tn_host *host, const struct tn_type *type)
{
	int i;

	if (!type->rank)
		return;
	line(host, "const int64_t tn_shape[] = { ");
	for (i = 0; i < type->rank; i++) {
		tn_buf_put(host->out, i ? ", " : "");
		tn_host_dim(host, type->dims[i], TN_LEVEL_COND);
	}
	tn_buf_put(host->out, " };\n");
}

static void put_value(struct tn_host *host, const struct tn_value *value)
{
	line(host, "const struct ");
	tn_buf_putf(host->out, "%s_printed tn_value = {\n", host->name);
	line(host, "\ttn_label, ");
	tn_buf_putf(host->out, "\"%s\", %d, %s,\n",
		    tn_dtype_name(value->type->dtype), value->type->rank,
		    value->type->rank ? "tn_shape" : "NULL");
	line(host, "\t");
	tn_buf_putf(host->out, "%s, %s\n", tn_host_place(host, value),
		    tn_host_bytes(host, value->type));
	line(host, "};\n\n");
}

void tn_print_step(struct tn_host *host, const struct tn_op *op)
{
	const struct tn_value *value = tn_graph_in(op, 0);
	const struct tn_attr *label = tn_graph_attr(op, "label");
	bool is_labelled = label && label->is_set && label->u.s[0];

	line(host, "if (s->ctx->print != NULL) {\n");
	host->depth++;
	line(host, "static const char tn_label[] = ");
	tn_api_literal(host->out, is_labelled ? label->u.s : value->name);
	tn_buf_put(host->out, ";\n");
	put_shape(host, value->type);
	put_value(host, value);
	line(host, host->dialect->print);
	host->depth--;
	line(host, "}\n");
	host->printed[value->type->dtype] = true;
	if (tn_dtype_holds(value->type->dtype, TN_KIND_F) &&
	    value->type->dtype != TN_f32 && value->type->dtype != TN_f64)
		host->need->of[value->type->dtype] |= TN_PART_LOAD;
}

/* ---- Declarations ---- */

bool tn_print_is_used(const struct tn_host *host)
{
	int i;

	for (i = 0; i < TN_DTYPE_COUNT; i++)
		if (host->printed[i])
			return true;
	return false;
}

/* True if some value is written with a point, as floats are and integers of
 * fewer than 8 bits. */
static bool has_decimals(const struct tn_host *host)
{
	int i;

	for (i = 0; i < TN_DTYPE_COUNT; i++)
		if (host->printed[i] &&
		    tn_dtype_is((enum tn_dtype)i, TN_KIND_F | TN_KIND_X))
			return true;
	return false;
}

static const char printed[] =
"/* What the operator `print` hands over. */\n"
"struct N_printed {\n"
"\tconst char *label, *dtype;\t/* \"h\", \"f32\" */\n"
"\tint rank;\n"
"\tconst int64_t *shape;\n"
"\tconst void *data;\t/* of the host, row-major, lent for the call */\n"
"\tsize_t size;\t\t/* of it in bytes */\n"
"};\n\n";

void tn_print_declare(const struct tn_host *host, struct tn_buf *out)
{
	tn_api_named(out, printed, host->name);
}

void tn_print_declare_text(const struct tn_host *host, struct tn_buf *out)
{
	if (tn_print_is_used(host))
		tn_api_named(out, "/* Hands the text of a printed value to "
			     "`put` in pieces: label, type and elements\n * as "
			     "`tenon run` shows them. */\n"
			     "void N_print_text(const struct N_printed "
			     "*value,\n\t\t  void (*put)(void *data, const "
			     "char *text, size_t size),\n\t\t  void *data);\n",
			     host->name);
}

/* ---- N_print_text ---- */

static const char decimal[] =
"/* The fewest digits that read back as the same value, with a point and\n"
" * whatever the locale. */\n"
"static void tn_decimal(double value, int is_single, char text[40])\n"
"{\n"
"\tint digits = is_single ? FLT_DIG : DBL_DIG, n = 0, i;\n"
"\tconst int most = is_single ? 9 : 17;\n"
"\tint has_point = 0;\n"
"\n"
"\tif (!(fabs(value) <= DBL_MAX)) {\n"
"\t\t(void)strcpy(text, value > 0 ? \"inf\" : value < 0 ? \"-inf\" :\n"
"\t\t\t     \"nan\");\n"
"\t\treturn;\n"
"\t}\n"
"\tif (fabs(value) < (is_single ? (double)FLT_MIN : DBL_MIN))\n"
"\t\tdigits = 1;\n"
"\tfor (; digits <= most; digits++) {\n"
"\t\t(void)snprintf(text, 40, \"%.*g\", digits, value);\n"
"\t\tif (is_single ? strtof(text, NULL) >= (float)value &&\n"
"\t\t\t\tstrtof(text, NULL) <= (float)value :\n"
"\t\t\t\tstrtod(text, NULL) >= value &&\n"
"\t\t\t\tstrtod(text, NULL) <= value)\n"
"\t\t\tbreak;\n"
"\t}\n"
"\tfor (i = 0; text[i] != '\\0' && text[i] != 'e'; i++) {\n"
"\t\tif (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) {\n"
"\t\t\ttext[n++] = text[i];\n"
"\t\t} else if (!has_point) {\n"
"\t\t\thas_point = 1;\n"
"\t\t\ttext[n++] = '.';\n"
"\t\t}\n"
"\t}\n"
"\tif (text[i] == 'e') {\n"
"\t\ttext[n++] = text[i++];\n"
"\t\tif (text[i] == '-')\n"
"\t\t\ttext[n++] = '-';\n"
"\t\tfor (i++; text[i] == '0' && text[i + 1] != '\\0'; i++)\n"
"\t\t\t;\n"
"\t\tfor (; text[i] != '\\0'; i++)\n"
"\t\t\ttext[n++] = text[i];\n"
"\t} else if (!has_point) {\n"
"\t\ttext[n++] = '.';\n"
"\t\ttext[n++] = '0';\n"
"\t}\n"
"\ttext[n] = '\\0';\n"
"}\n\n";

/* Statements that write the element v of the dtype to `text`. */
static void put_case(struct tn_buf *out, enum tn_dtype dtype)
{
	const char *name = tn_dtype_name(dtype);
	int bits = tn_dtype_bits(dtype);

	tn_buf_putf(out, "\tif (strcmp(value->dtype, \"%s\") == 0) {\n"
		    "\t\t%s v;\n\n\t\tmemcpy(&v, data + at * %d, sizeof v);\n"
		    "\t\t", name, tn_dtypes[dtype].c_storage,
		    tn_dtype_bytes(dtype));
	if (dtype == TN_bool)
		tn_buf_put(out, "(void)strcpy(text, v != 0 ? \"true\" : "
			   "\"false\")");
	else if (dtype == TN_f32 || dtype == TN_f64)
		tn_buf_putf(out, "tn_decimal(%sv, %d, text)", dtype == TN_f32 ?
			    "(double)" : "", dtype == TN_f32);
	else if (tn_dtype_holds(dtype, TN_KIND_F))
		tn_buf_putf(out, "tn_decimal((double)tn_load_%s(v), 1, text)",
			    name);
	else if (bits < 8 && tn_dtype_holds(dtype, TN_KIND_I))
		tn_buf_putf(out, "tn_decimal(((v & %d) ^ %d) - %d, 1, text)",
			    (1 << bits) - 1, 1 << (bits - 1), 1 << (bits - 1));
	else if (bits < 8)
		tn_buf_putf(out, "tn_decimal(v & %d, 1, text)",
			    (1 << bits) - 1);
	else if (tn_dtype_is(dtype, TN_KIND_U))
		tn_buf_put(out, "(void)snprintf(text, 40, \"%llu\", "
			   "(unsigned long long)v)");
	else
		tn_buf_put(out, "(void)snprintf(text, 40, \"%lld\", "
			   "(long long)v)");
	tn_buf_put(out, ";\n\t\treturn;\n\t}\n");
}

static void put_element(const struct tn_host *host, struct tn_buf *out)
{
	int i;

	tn_api_named(out, "static void tn_element(const struct N_printed "
		     "*value, int64_t at, char text[40])\n{\n"
		     "\tconst unsigned char *data = (const unsigned char *)"
		     "value->data;\n\n", host->name);
	for (i = 0; i < TN_DTYPE_COUNT; i++)
		if (host->printed[i])
			put_case(out, (enum tn_dtype)i);
	tn_buf_put(out, "\t(void)data;\n\t(void)at;\n"
		   "\t(void)strcpy(text, \"?\");\n}\n\n");
}

static const char page[] =
"struct tn_page {\n"
"\tconst struct N_printed *value;\n"
"\tvoid (*put)(void *data, const char *text, size_t size);\n"
"\tvoid *data;\n"
"\tint64_t stride[16];\n"
"\tsize_t width;\t/* of the widest element that is shown */\n"
"\tint is_cut;\t/* long axes show three entries at either end */\n"
"\tint is_measured;\t/* false: nothing is put yet */\n"
"};\n"
"\n"
"static void tn_put(const struct tn_page *p, const char *text, size_t count)\n"
"{\n"
"\tfor (; p->is_measured && count != 0; count--)\n"
"\t\tp->put(p->data, text, strlen(text));\n"
"}\n"
"\n"
"static void tn_put_axis(struct tn_page *p, int axis, int64_t base)\n"
"{\n"
"\tconst int rank = p->value->rank;\n"
"\tint64_t n, i;\n"
"\tsize_t size;\n"
"\tchar text[40];\n"
"\n"
"\tif (axis == rank) {\n"
"\t\ttn_element(p->value, base, text);\n"
"\t\tsize = strlen(text);\n"
"\t\tif (size > p->width)\n"
"\t\t\tp->width = size;\n"
"\t\ttn_put(p, \" \", p->width - size);\n"
"\t\ttn_put(p, text, 1);\n"
"\t\treturn;\n"
"\t}\n"
"\tn = p->value->shape[axis];\n"
"\ttn_put(p, \"[\", 1);\n"
"\tfor (i = 0; i < n; i++) {\n"
"\t\tif (i != 0) {\n"
"\t\t\ttn_put(p, \"\\n\", (size_t)(rank - 1 - axis));\n"
"\t\t\ttn_put(p, \" \", axis == rank - 1 ? 1 :\n"
"\t\t\t       (size_t)axis + 1);\n"
"\t\t}\n"
"\t\tif (p->is_cut && n > 6 && i == 3) {\n"
"\t\t\ttn_put(p, \"...\", 1);\n"
"\t\t\ti = n - 4;\n"
"\t\t} else {\n"
"\t\t\ttn_put_axis(p, axis + 1, base + i * p->stride[axis]);\n"
"\t\t}\n"
"\t}\n"
"\ttn_put(p, \"]\", 1);\n"
"}\n"
"\n"
"void N_print_text(const struct N_printed *value,\n"
"\t\t  void (*put)(void *data, const char *text, size_t size),\n"
"\t\t  void *data)\n"
"{\n"
"\tstruct tn_page page = { value, put, data, { 0 }, 0, 0, 1 };\n"
"\tint64_t count = 1;\n"
"\tchar text[40];\n"
"\tint i;\n"
"\n"
"\ttn_put(&page, value->label, 1);\n"
"\ttn_put(&page, \": \", 1);\n"
"\ttn_put(&page, value->dtype, 1);\n"
"\tfor (i = 0; i < value->rank; i++) {\n"
"\t\t(void)snprintf(text, sizeof text, \"%s%lld\", i != 0 ? \", \" : \"[\",\n"
"\t\t\t       (long long)value->shape[i]);\n"
"\t\ttn_put(&page, text, 1);\n"
"\t}\n"
"\ttn_put(&page, value->rank != 0 ? \"] =\\n\" : \" =\\n\", 1);\n"
"\tfor (i = value->rank; i-- > 0; count *= value->shape[i])\n"
"\t\tpage.stride[i] = count;\n"
"\tpage.is_cut = count > 1000;\n"
"\tif (count > 0) {\n"
"\t\tpage.is_measured = 0;\n"
"\t\ttn_put_axis(&page, 0, 0);\n"
"\t\tpage.is_measured = 1;\n"
"\t\ttn_put_axis(&page, 0, 0);\n"
"\t} else {\n"
"\t\ttn_put(&page, \"[]\", 1);\n"
"\t}\n"
"\ttn_put(&page, \"\\n\", 1);\n"
"}\n\n";

void tn_print_text(const struct tn_host *host, struct tn_buf *out)
{
	if (!tn_print_is_used(host))
		return;
	if (has_decimals(host))
		tn_buf_put(out, decimal);
	put_element(host, out);
	tn_api_named(out, page, host->name);
}
