/*
 * Explanations: the story of a compilation as text and as JSON.
 */
#ifndef TN_DRIVER_EXPLAIN_H
#define TN_DRIVER_EXPLAIN_H

#include "driver/story.h"

/* Paragraphs and objects of one value. */
void tn_explain_tale(const struct tn_story *story,
		     const struct tn_tale *tale, struct tn_buf *out);
void tn_explain_tale_json(const struct tn_story *story,
			  const struct tn_tale *tale, struct tn_buf *out);
/* One miss: a line, an object. */
void tn_explain_miss(const struct tn_story *story,
		     const struct tn_event *miss, struct tn_buf *out);
void tn_explain_miss_json(const struct tn_story *story,
			  const struct tn_event *miss, struct tn_buf *out);

#endif
