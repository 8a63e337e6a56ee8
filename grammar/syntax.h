/*
 * Text to syntax tree and back: the public face of the scanner and parser.
 *
 * Comes in: a text registered with a sink. Goes out: a tree, canonical text,
 * or the same text in standard white space. Faults are diagnostics E01xx.
 */
#ifndef TN_GRAMMAR_SYNTAX_H
#define TN_GRAMMAR_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/intern.h"
#include "grammar/tree.h"

/* The version of the language that this parser reads. */
#define TN_LANGUAGE_MAJOR 1
#define TN_LANGUAGE_MINOR 0

/*
 * Reads source `file` of the sink. The tree lies in `arena`, its names in
 * `intern`; both and the sink must outlive it. With errors the tree holds
 * what could be read (tree->errors > 0). NULL: no memory (E0001 reported).
 * Time and memory are linear in the size of the text.
 */
struct tn_tree *tn_parse(struct tn_sink *sink, struct tn_intern *intern,
			 struct tn_arena *arena, uint32_t file);

/* Canonical text of a tree, an item, a type, an expression. */
void tn_print_tree(struct tn_buf *out, const struct tn_tree *tree);
void tn_print_item(struct tn_buf *out, const struct tn_tree_item *item);
void tn_print_type(struct tn_buf *out, const struct tn_tree_type *type);
void tn_print_expr(struct tn_buf *out, const struct tn_expr *expr);
void tn_print_annot(struct tn_buf *out, const struct tn_tree_annot *annot);

/*
 * Formats source `file` of the sink: white space only, comments stay. False,
 * with diagnostics and `out` empty, when the text does not parse or memory is
 * short. False without one is our own fault: the result did not hold the same
 * tokens and was withheld.
 */
bool tn_fmt(struct tn_sink *sink, uint32_t file, struct tn_buf *out);

#endif
