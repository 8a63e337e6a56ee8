/*
 * A look at all nodes before the first is imported: a listing, one line a
 * node, that messages point into; and the operators that nobody can import.
 */
#include <string.h>

#include "importers/onnx/survey.h"

/* The listing takes no more. */
#define LISTING ((size_t)64 << 20)

struct missing {
	const char *why;	/* or NULL: nobody has heard of it */
	const struct onnx_node *first;
	struct tn_buf nodes;
};

struct survey {
	struct tn_onnx_job *job;
	struct tn_buf text;
	struct tn_map missing;	/* operator -> struct missing * */
	int depth;
};

/* ---- The listing -------------------------------------------------------------- */

static void put_names(struct tn_buf *buf, const struct onnx_texts *names)
{
	size_t i;

	for (i = 0; i < names->len; i++)
		tn_buf_putf(buf, "%s%s", i ? ", " : "", names->at[i]);
}

/* "  y = Conv(x, w)  # conv1" */
static void put_node(struct survey *s, const struct onnx_node *node)
{
	struct tn_span *span = tn_arena_alloc(&s->job->arena, sizeof(*span));
	struct tn_buf *text = &s->text;
	size_t begin;

	if (!span || text->len > LISTING)
		return;
	tn_buf_pad(text, ' ', (size_t)s->depth * 2);
	begin = text->len;
	put_names(text, &node->outputs);
	tn_buf_putf(text, "%s%s(", node->outputs.len ? " = " : "",
		    node->op ? node->op : "?");
	put_names(text, &node->inputs);
	tn_buf_putc(text, ')');
	span->begin = (uint32_t)begin;
	span->end = (uint32_t)text->len;
	if (node->name && node->name[0])
		tn_buf_putf(text, "  # %s", node->name);
	tn_buf_putc(text, '\n');
	if (!tn_map_set(&s->job->lines, node, span))
		s->job->module->failed = true;
}

/* ---- What cannot be imported ---------------------------------------------------- */

static bool has_function(const struct tn_onnx_job *job,
			 const struct onnx_node *node)
{
	size_t i;

	for (i = 0; i < job->model.functions.len; i++) {
		const struct onnx_function *f = &job->model.functions.at[i];
		const char *domain = f->domain ? f->domain : "";

		if (f->name && node->op && !strcmp(f->name, node->op) &&
		    !strcmp(domain, node->domain ? node->domain : ""))
			return true;
	}
	return false;
}

static void miss(struct survey *s, const struct onnx_node *node,
		 const char *why)
{
	const char *domain = tn_onnx_domain(node->domain);
	const char *name = node->name && node->name[0] ? node->name :
		node->outputs.len ? node->outputs.at[0] : "";
	const char *key = tn_arena_printf(&s->job->arena, "%s%s%s", domain,
					  domain[0] ? ":" : "",
					  node->op ? node->op : "?");
	struct missing *m = key ? tn_map_find(&s->missing, key) : NULL;

	if (!m) {
		m = tn_arena_alloc(&s->job->arena, sizeof(*m));
		if (!m || !key || !tn_map_set(&s->missing, key, m)) {
			s->job->module->failed = true;
			return;
		}
		m->why = why;
		m->first = node;
	}
	tn_buf_putf(&m->nodes, "%s'%s'", m->nodes.len ? ", " : "", name);
}

/* Rows are asked for any version: what a version lacks is said at the node. */
static void check_node(struct survey *s, const struct onnx_node *node)
{
	const char *domain = tn_onnx_domain(node->domain);
	const struct tn_onnx_row *row =
		tn_onnx_row(domain, node->op ? node->op : "", INT64_MAX);

	if (node->op && node->op[0] && (!row || row->why_not) &&
	    !has_function(s->job, node))
		miss(s, node, row ? row->why_not : NULL);
}

static void report_missing(struct survey *s)
{
	struct tn_sink *sink = s->job->host->sink;
	struct tn_span span = { s->job->file, 0, 0 };
	const struct tn_span *line = NULL;
	struct tn_diag *diag = NULL;
	struct tn_buf names;
	size_t i;

	tn_buf_init(&names);
	for (i = 0; i < s->missing.len; i++) {
		const struct missing *m = s->missing.entries[i].value;

		if (i == 0)
			line = tn_map_find(&s->job->lines, m->first);
		tn_buf_putf(&names, "%s%s", i ? ", " : "",
			    (const char *)s->missing.entries[i].key);
		if (m->why)
			tn_buf_putf(&names, " (%s)", m->why);
	}
	if (s->missing.len)
		diag = tn_diag_report(sink, TN_E1003, line ? *line : span,
				      "not supported: %s",
				      tn_buf_text(&names));
	for (i = 0; i < s->missing.len; i++) {
		struct missing *m = s->missing.entries[i].value;

		tn_diag_note(sink, diag, "%s: %s",
			     (const char *)s->missing.entries[i].key,
			     tn_buf_text(&m->nodes));
		tn_buf_fini(&m->nodes);
	}
	s->job->is_unsupported |= s->missing.len > 0;
	tn_buf_fini(&names);
}

/* ---- The walk ------------------------------------------------------------------- */

/* Nesting is bounded by that of messages. */
static void walk(struct survey *s, const struct onnx_node_list *nodes)
{
	size_t i, k;

	for (i = 0; i < nodes->len; i++) {
		const struct onnx_node *node = &nodes->at[i];

		put_node(s, node);
		check_node(s, node);
		s->depth++;
		for (k = 0; k < node->attrs.len; k++)
			if (node->attrs.at[k].g)
				walk(s, &node->attrs.at[k].g->nodes);
		s->depth--;
	}
}

static void place_lines(struct tn_onnx_job *job)
{
	struct tn_span *span;
	size_t i;

	for (i = 0; i < job->lines.len; i++) {
		span = job->lines.entries[i].value;
		span->file = job->file;
	}
}

void tn_onnx_survey(struct tn_onnx_job *job)
{
	struct survey s = { .job = job };
	size_t i;

	tn_buf_init(&s.text);
	tn_map_init_text(&s.missing);
	if (job->model.graph)
		walk(&s, &job->model.graph->nodes);
	for (i = 0; i < job->model.functions.len; i++)
		walk(&s, &job->model.functions.at[i].nodes);
	job->file = tn_sink_add_source(job->host->sink, job->host->path,
				       tn_buf_text(&s.text), s.text.len);
	if (!job->file || s.text.failed)
		job->module->failed = true;
	place_lines(job);
	report_missing(&s);
	tn_map_fini(&s.missing);
	tn_buf_fini(&s.text);
}
