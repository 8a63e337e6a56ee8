/*
 * Graphs built in C: the calls write the lines of a function, which the parser
 * then reads, so that whatever the language has can be built, and is checked
 * by the same code. Values are numbers of names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "driver/module.h"
#include "driver/tensors.h"
#include "driver/weights.h"
#include "ir/print.h"

struct given_weight {
	const char *name;
	struct tn_tensor data;	/* in the builder's arena, then the module's */
};

struct tenon_builder {
	struct tenon_context *context;
	struct tn_arena arena;
	const char *name;
	struct tn_buf items, params, body, results, returned;
	struct tn_vec names;		/* const char * of each value */
	struct tn_map taken;
	struct tn_vec weights;		/* struct given_weight */
	int made;			/* names made up */
	bool failed;			/* no memory, or misused */
	const char *why;		/* of misuse */
};

struct tenon_builder *tenon_builder_new(struct tenon_context *context,
					const char *name)
{
	struct tenon_builder *b = context ? calloc(1, sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	b->context = context;
	tn_arena_init(&b->arena);
	tn_vec_init(&b->names, sizeof(const char *), NULL);
	tn_vec_init(&b->weights, sizeof(struct given_weight), NULL);
	tn_map_init_text(&b->taken);
	b->name = tn_arena_strndup(&b->arena, name ? name : "main",
				   strlen(name ? name : "main"));
	if (!b->name)
		b->failed = true;
	return b;
}

void tenon_builder_free(struct tenon_builder *b)
{
	if (!b)
		return;
	tn_buf_fini(&b->items);
	tn_buf_fini(&b->params);
	tn_buf_fini(&b->body);
	tn_buf_fini(&b->results);
	tn_buf_fini(&b->returned);
	tn_vec_fini(&b->names);
	tn_vec_fini(&b->weights);
	tn_map_fini(&b->taken);
	tn_arena_fini(&b->arena);
	free(b);
}

static int misuse(struct tenon_builder *b, const char *why)
{
	if (!b->failed)
		b->why = why;
	b->failed = true;
	return -1;
}

/* A new value called `wish`, or by a made-up name; its number. */
static int add_value(struct tenon_builder *b, const char *wish)
{
	const char *name = NULL;

	if (b->failed)
		return -1;
	if (wish)
		name = tn_arena_strndup(&b->arena, wish, strlen(wish));
	while (!wish && (!name || tn_map_has(&b->taken, name)))
		name = tn_arena_printf(&b->arena, "v%d", b->made++);
	if (!name || !tn_vec_push_ptr(&b->names, name) ||
	    !tn_map_set(&b->taken, name, b))
		return misuse(b, NULL);
	return (int)b->names.len - 1;
}

static const char *value_name(struct tenon_builder *b, int value)
{
	if (value >= 0 && (size_t)value < b->names.len)
		return tn_vec_ptr(&b->names, (size_t)value);
	misuse(b, "a value is not one of this builder's");
	return NULL;
}

static void put_value(struct tenon_builder *b, struct tn_buf *out, int value)
{
	const char *name = value_name(b, value);

	if (name)
		tn_print_name(out, name);
}

/* A text that would break out of its place is not put there. */
static bool is_contained(struct tenon_builder *b, const char *text)
{
	if (!text || !strpbrk(text, ";{}\n\r#"))
		return true;
	misuse(b, "shapes, attributes and expressions hold no ; { } # and no "
	       "line breaks");
	return false;
}

static void put_type(struct tenon_builder *b, struct tn_buf *out,
		     enum tenon_dtype dtype, const char *shape)
{
	if (!tenon_dtype_name(dtype)) {
		misuse(b, "no such element type");
		return;
	}
	tn_buf_put(out, tenon_dtype_name(dtype));
	if (shape && shape[0] && is_contained(b, shape))
		tn_buf_putf(out, "[%s]", shape);
}

void tenon_builder_dim(struct tenon_builder *b, const char *name, int64_t lo,
		       int64_t hi)
{
	if (!b || !name)
		return;
	tn_buf_put(&b->items, "dim ");
	tn_print_name(&b->items, name);
	tn_buf_putf(&b->items, " in [%lld, %lld];\n", (long long)lo,
		    (long long)hi);
}

int tenon_builder_input(struct tenon_builder *b, const char *name,
			enum tenon_dtype dtype, const char *shape)
{
	int value = b ? add_value(b, name) : -1;

	if (value < 0)
		return -1;
	tn_buf_put(&b->params, b->params.len ? ", " : "");
	put_value(b, &b->params, value);
	tn_buf_put(&b->params, ": ");
	put_type(b, &b->params, dtype, shape);
	return b->failed ? -1 : value;
}

static bool keep_data(struct tenon_builder *b, const char *name,
		      const struct tenon_tensor *tensor)
{
	struct given_weight *weight = tn_vec_push(&b->weights);
	struct tn_tensor own = tn_tensors_in(tensor);
	int64_t bytes = tn_tensor_bytes(&own);

	if (!weight || bytes < 0)
		return false;
	weight->name = name;
	weight->data = own;
	weight->data.data = tn_arena_alloc(&b->arena, (size_t)bytes + 1);
	if (weight->data.data && bytes > 0)
		memcpy(weight->data.data, own.data, (size_t)bytes);
	return weight->data.data != NULL;
}

/* "NAME.npy": where the printed module would look for the tensor. */
static void put_file(struct tn_buf *out, const char *name)
{
	tn_buf_putc(out, '"');
	for (; *name; name++)
		tn_buf_putc(out, strchr("\"\\/", *name) ||
			    (unsigned char)*name < 32 ? '_' : *name);
	tn_buf_put(out, ".npy\"");
}

int tenon_builder_weight(struct tenon_builder *b, const char *name,
			 const struct tenon_tensor *tensor)
{
	struct tn_tensor own;
	int value;

	if (!b || !tensor)
		return -1;
	value = add_value(b, name);
	if (value < 0)
		return -1;
	if (!tenon_dtype_name(tensor->dtype) || tensor->rank < 0 ||
	    tensor->rank > TENON_MAX_RANK)
		return misuse(b, "a weight is no tensor");
	if (!keep_data(b, value_name(b, value), tensor))
		return misuse(b, NULL);
	own = tn_tensors_in(tensor);
	tn_buf_put(&b->items, "weight ");
	put_value(b, &b->items, value);
	tn_buf_put(&b->items, ": ");
	tn_tensors_put_type(&b->items, &own);
	tn_buf_put(&b->items, " from ");
	put_file(&b->items, value_name(b, value));
	tn_buf_put(&b->items, ";\n");
	return value;
}

/* `NAME = ` of a new line; the value's number. */
static int begin_line(struct tenon_builder *b, const char *name)
{
	int value = add_value(b, name);

	if (value < 0)
		return -1;
	tn_buf_put(&b->body, "  ");
	put_value(b, &b->body, value);
	tn_buf_put(&b->body, " = ");
	return value;
}

int tenon_builder_number(struct tenon_builder *b, double number)
{
	char text[40];

	if (!b || b->failed)
		return -1;
	tn_num_print_f64(number, text);
	return tenon_builder_expr(b, NULL, text);
}

int tenon_builder_op(struct tenon_builder *b, const char *op,
		     const char *name, int count, const int *operands,
		     const char *attributes)
{
	int value, i;

	if (!b || !op || !is_contained(b, attributes) ||
	    !is_contained(b, op))
		return -1;
	for (i = 0; i < count; i++)
		if (!value_name(b, operands[i]))
			return -1;
	value = begin_line(b, name);
	if (value < 0)
		return -1;
	tn_buf_putf(&b->body, "%s(", op);
	for (i = 0; i < count; i++) {
		tn_buf_put(&b->body, i ? ", " : "");
		put_value(b, &b->body, operands[i]);
	}
	if (attributes && attributes[0])
		tn_buf_putf(&b->body, "%s%s", count ? ", " : "", attributes);
	tn_buf_put(&b->body, ");\n");
	return value;
}

int tenon_builder_op2(struct tenon_builder *b, const char *op, int a, int c)
{
	int operands[2] = { a, c };

	return tenon_builder_op(b, op, NULL, 2, operands, NULL);
}

int tenon_builder_expr(struct tenon_builder *b, const char *name,
		       const char *expression)
{
	int value;

	if (!b || !expression || !is_contained(b, expression))
		return -1;
	value = begin_line(b, name);
	if (value >= 0)
		tn_buf_putf(&b->body, "%s;\n", expression);
	return value;
}

void tenon_builder_result(struct tenon_builder *b, const char *name,
			  int value, enum tenon_dtype dtype,
			  const char *shape)
{
	const char *given = b ? value_name(b, value) : NULL;

	if (!given)
		return;
	tn_buf_put(&b->results, b->results.len ? ", " : "");
	if (!name)
		name = given;
	tn_print_name(&b->results, name);
	tn_buf_put(&b->results, ": ");
	put_type(b, &b->results, dtype, shape);
	tn_buf_put(&b->returned, b->returned.len ? ", " : "");
	put_value(b, &b->returned, value);
}

/* ---- Finishing ---------------------------------------------------------------- */

static void write_text(struct tenon_builder *b, struct tn_buf *out)
{
	tn_buf_put(out, "tenon 1.0;\n");
	tn_buf_put(out, tn_buf_text(&b->items));
	tn_buf_put(out, "fn ");
	tn_print_name(out, b->name);
	tn_buf_putf(out, "(%s) -> (", tn_buf_text(&b->params));
	tn_buf_putf(out, "%s) {\n", tn_buf_text(&b->results));
	tn_buf_put(out, tn_buf_text(&b->body));
	tn_buf_putf(out, "  return %s;\n}\n", tn_buf_text(&b->returned));
	if (b->items.failed || b->params.failed || b->results.failed ||
	    b->body.failed || b->returned.failed)
		out->failed = true;
}

/* The builder's tensors become the weights' data, in the module's arena. */
static bool give_weights(struct tenon_builder *b, struct tenon_module *module)
{
	struct given_weight *given;
	struct tn_weight *weight;
	size_t i;

	module->has_weights = true;
	for (i = 0; i < b->weights.len; i++) {
		given = tn_vec_at(&b->weights, i);
		weight = tn_map_find(&module->ir->weight_names, given->name);
		if (!weight)
			return false;
		weight->data = given->data;
		weight->data.owned = false;
		weight->data.data = tn_arena_copy(
			&module->arena, given->data.data,
			(size_t)tn_tensor_bytes(&given->data) + 1);
		if (!weight->data.data)
			return false;
	}
	return true;
}

enum tenon_status tenon_builder_finish(struct tenon_builder *b,
				       struct tenon_module **out)
{
	enum tenon_status status;
	struct tn_buf text;

	*out = NULL;
	if (!b)
		return TENON_USAGE;
	if (b->failed && !b->why)
		return tn_context_end(b->context, TN_IO);
	if (b->failed) {
		tn_context_report(b->context, TN_E0025, "builder '%s': %s",
				  b->name, b->why);
		return tn_context_end(b->context, TN_USAGE);
	}
	tn_buf_init(&text);
	write_text(b, &text);
	status = text.failed ? tn_context_end(b->context, TN_IO) :
		tenon_parse_text(b->context, b->name, tn_buf_text(&text),
				 text.len, out);
	tn_buf_fini(&text);
	if (status == TENON_OK && !give_weights(b, *out)) {
		tenon_module_free(*out);
		*out = NULL;
		status = tn_context_end(b->context, TN_IO);
	}
	return status;
}
