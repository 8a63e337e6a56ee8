/*
 * Source lines with marks under them, for diagnostics as text.
 */
#ifndef TN_BASE_EXCERPT_H
#define TN_BASE_EXCERPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

enum tn_style {
	TN_STYLE_PLAIN,
	TN_STYLE_STRONG,
	TN_STYLE_ERROR,
	TN_STYLE_WARNING,
	TN_STYLE_GUTTER,
	TN_STYLE_SECOND
};

/* Where a diagnostic is rendered to. */
struct tn_page {
	const struct tn_sink *sink;
	struct tn_buf *out;
	bool colour;
	unsigned digits;	/* of the widest line number */
};

/* Switches the style, where colour is on. */
void tn_page_style(struct tn_page *page, enum tn_style style);
/* The source of a file number; NULL for no place. */
const struct tn_source *tn_page_source(const struct tn_page *page,
				       uint32_t file);
/* The lines of `file` that labels of `diag` point at, with the labels. */
void tn_excerpt_put(struct tn_page *page, const struct tn_diag *diag,
		    uint32_t file);

#endif
