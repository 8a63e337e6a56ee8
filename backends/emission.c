/* Files of an emission; see emission.h. */
#include "backends/emission.h"

struct tn_buf *tn_emission_add(struct tn_emission *emission, const char *name,
			       bool is_weights)
{
	struct tn_emitted *file;

	if (!name)
		emission->failed = true;
	if (emission->count == TN_EMISSION_FILES) {
		emission->failed = true;
		return &emission->files[TN_EMISSION_FILES - 1].text;
	}
	file = &emission->files[emission->count++];
	file->name = name;
	file->is_weights = is_weights;
	tn_buf_init(&file->text);
	return &file->text;
}

void tn_emission_fini(struct tn_emission *emission)
{
	int i;

	for (i = 0; i < emission->count; i++)
		tn_buf_fini(&emission->files[i].text);
	tn_weights_fini(&emission->weights);
	tn_arena_fini(&emission->arena);
}
