/*
 * Signatures: from a function, to text and back.
 */
#include "driver/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/print.h"

static bool make_room(struct tn_arena *arena, struct tn_signature *s)
{
	size_t nsyms = (size_t)s->ir->dims.nsyms;

	s->inputs = tn_arena_array(arena, (size_t)s->ninputs + 1,
				   sizeof(*s->inputs));
	s->outputs = tn_arena_array(arena, (size_t)s->noutputs + 1,
				    sizeof(*s->outputs));
	s->guards = tn_arena_array(arena, (size_t)s->nguards + 1,
				   sizeof(*s->guards));
	s->runtime = tn_arena_array(arena, nsyms + 1, sizeof(*s->runtime));
	return s->inputs && s->outputs && s->guards && s->runtime;
}

static const struct tn_sym *symbol(const struct tn_signature *s, int i)
{
	const struct tn_dim *dim = tn_vec_ptr(&s->ir->dims.syms, (size_t)i);

	return dim->sym;
}

/* A result without a name is called after its number. */
static const char *port_name(struct tn_arena *arena, const char *name, int i,
			     int count)
{
	if (name)
		return name;
	if (count == 1)
		return "result";
	return tn_arena_printf(arena, "result%d", i);
}

bool tn_signature_of(struct tn_arena *arena, const struct tn_fn *fn,
		     struct tn_signature *out)
{
	int i;

	*out = (struct tn_signature){
		.ir = fn->module, .name = fn->name,
		.ninputs = fn->body->nparams, .noutputs = fn->nresults,
		.nguards = (int)fn->guards.len
	};
	if (!make_room(arena, out))
		return false;
	for (i = 0; i < out->ninputs; i++) {
		out->inputs[i].name = fn->body->params[i]->name;
		out->inputs[i].type = fn->body->params[i]->type;
		out->inputs[i].layout = fn->body->params[i]->layout;
	}
	for (i = 0; i < out->noutputs; i++) {
		out->outputs[i].name = port_name(arena, fn->result_names[i],
						 i, fn->nresults);
		out->outputs[i].type = fn->result_types[i];
		out->outputs[i].layout = tn_fn_result_layout(fn, i);
		if (!out->outputs[i].name)
			return false;
	}
	for (i = 0; i < out->nguards; i++)
		out->guards[i] = *(const struct tn_guard *)
			tn_vec_at(&fn->guards, (size_t)i);
	for (i = 0; i < out->ir->dims.nsyms; i++)
		out->runtime[i] = symbol(out, i)->is_runtime;
	return true;
}

/* ---- Text -------------------------------------------------------------------- */

static void put_sym(const struct tn_sym *sym, struct tn_buf *out)
{
	int i;

	tn_buf_put(out, "dim ");
	tn_print_name(out, sym->name);
	tn_buf_putf(out, " in [%lld, %lld]", (long long)sym->lo,
		    (long long)sym->hi);
	for (i = 0; i < sym->nopt; i++)
		tn_buf_putf(out, "%s%lld", i ? ", " : " opt ",
			    (long long)sym->opt[i]);
	if (sym->mod > 1)
		tn_buf_putf(out, " mod %lld", (long long)sym->mod);
	tn_buf_put(out, ";\n");
}

static void put_ports(const struct tn_port *ports, int count,
		      struct tn_buf *out)
{
	int i;

	for (i = 0; i < count; i++) {
		if (i)
			tn_buf_put(out, ", ");
		tn_print_name(out, ports[i].name);
		tn_buf_put(out, ": ");
		tn_type_print(out, ports[i].type);
		tn_print_layout(out, ports[i].layout);
	}
}

static void mark(void *data, const struct tn_dim *sym)
{
	bool *used = data;

	used[sym->sym->number] = true;
}

static void mark_ports(const struct tn_port *ports, int count, bool *used)
{
	int i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < ports[i].type->rank; k++)
			tn_dim_each_sym(ports[i].type->dims[k], mark, used);
}

void tn_signature_print(const struct tn_signature *s, struct tn_buf *out)
{
	bool *used = calloc((size_t)s->ir->dims.nsyms + 1, sizeof(*used));
	int i;

	if (!used) {
		out->failed = true;
		return;
	}
	mark_ports(s->inputs, s->ninputs, used);
	mark_ports(s->outputs, s->noutputs, used);
	for (i = 0; i < s->ir->dims.nsyms; i++)
		if (used[i])
			put_sym(symbol(s, i), out);
	free(used);
	tn_buf_put(out, "fn ");
	tn_print_name(out, s->name);
	tn_buf_putc(out, '(');
	put_ports(s->inputs, s->ninputs, out);
	tn_buf_put(out, ") -> (");
	put_ports(s->outputs, s->noutputs, out);
	tn_buf_put(out, ");\n");
}

/* Symbols of different functions may share a name; in the file each has its
 * own, with its number behind from the second on. */
static const char *file_name(const struct tn_signature *s, int i,
			     char text[280])
{
	const char *name = symbol(s, i)->name;
	int k;

	for (k = 0; k < i; k++)
		if (!strcmp(symbol(s, k)->name, name))
			break;
	if (k == i)
		return name;
	snprintf(text, 280, "%.250s__d%d", name, i);
	return text;
}

/* Types and dims printed under the names of the file: each symbol is replaced
 * by one of the same number and the name it has there. */
static bool rename_syms(const struct tn_signature *s,
			const struct tn_dim **map)
{
	char text[280];
	int i, n = s->ir->dims.nsyms;

	for (i = 0; i < n; i++) {
		struct tn_sym sym = *symbol(s, i);
		const char *name = file_name(s, i, text);

		map[i] = NULL;
		if (!strcmp(name, sym.name))
			continue;
		sym.name = tn_intern_text(s->ir->names, name);
		map[i] = sym.name ? tn_dim_new_sym(&s->ir->dims, &sym) :
			NULL;
		if (!map[i])
			return false;
	}
	return true;
}

static void write_types(const struct tn_signature *s,
			const struct tn_dim *const *map, struct tn_buf *out)
{
	const struct tn_type *type;
	const struct tn_port *port;
	const struct tn_dim *a, *b;
	int i, n = s->ninputs + s->noutputs;

	for (i = 0; i < n; i++) {
		port = i < s->ninputs ? &s->inputs[i] :
			&s->outputs[i - s->ninputs];
		type = tn_type_subst(s->ir, port->type, map);
		tn_buf_putf(out, "%sp%d: ", i ? ", " : "", i);
		if (type)
			tn_type_print(out, type);
		else
			out->failed = true;
		tn_print_layout(out, port->layout);
	}
	for (i = 0; i < s->nguards; i++) {
		a = tn_dim_subst(&s->ir->dims, s->guards[i].a, map);
		b = tn_dim_subst(&s->ir->dims, s->guards[i].b, map);
		tn_buf_putf(out, "%sg%d: bool[", n + i ? ", " : "", i);
		if (!a || !b) {
			out->failed = true;
			return;
		}
		tn_dim_print(out, a);
		tn_buf_put(out, ", ");
		tn_dim_print(out, b);
		tn_buf_put(out, "]");
	}
}

void tn_signature_write(const struct tn_signature *s, struct tn_buf *out)
{
	int n = s->ir->dims.nsyms, i;
	const struct tn_dim **map = calloc((size_t)n * 2 + 2, sizeof(*map));
	char text[280];

	if (!map || !rename_syms(s, map)) {
		free(map);
		out->failed = true;
		return;
	}
	tn_buf_put(out, "tenon 1.0;\n");
	for (i = 0; i < n; i++) {
		struct tn_sym sym = *symbol(s, i);

		sym.name = file_name(s, i, text);
		put_sym(&sym, out);
	}
	tn_buf_put(out, "fn main(");
	write_types(s, map, out);
	tn_buf_put(out, ") -> (r: i64) { return 0; }\n");
	free(map);
}

bool tn_signature_read(struct tn_arena *arena, struct tn_module *ir,
		       const struct tn_signature_counts *counts,
		       struct tn_signature *out)
{
	const struct tn_fn *fn = tn_module_entry(ir, "main");
	int i, n = counts->ninputs + counts->noutputs;
	const struct tn_type *type;
	struct tn_port *port;

	*out = (struct tn_signature){
		.ir = ir, .ninputs = counts->ninputs,
		.noutputs = counts->noutputs, .nguards = counts->nguards
	};
	if (!fn || fn->body->nparams != n + counts->nguards ||
	    ir->dims.nsyms < counts->nsyms || !make_room(arena, out))
		return false;
	for (i = 0; i < n; i++) {
		port = i < counts->ninputs ? &out->inputs[i] :
			&out->outputs[i - counts->ninputs];
		port->type = fn->body->params[i]->type;
		port->layout = fn->body->params[i]->layout;
	}
	for (i = 0; i < counts->nguards; i++) {
		type = fn->body->params[n + i]->type;
		if (type->rank != 2)
			return false;
		out->guards[i].kind = (enum tn_guard_kind)counts->guards[i];
		out->guards[i].a = type->dims[0];
		out->guards[i].b = type->dims[1];
	}
	for (i = 0; i < counts->nsyms; i++)
		out->runtime[i] = counts->runtime[i] != 0;
	return true;
}
