/* Files of an emission; see emission.h. */
#include "backends/emission.h"

#include <string.h>

#include "backends/emit.h"

enum tn_status tn_emission_open(struct tn_emission *emission,
				const char *name)
{
	memset(emission, 0, sizeof(*emission));
	tn_arena_init(&emission->arena);
	emission->name = tn_names_clean(&emission->arena, name);
	return emission->name ? TN_OK : TN_IO;
}

enum tn_status tn_emission_begin(struct tn_emission *emission,
				 const struct tn_fn *entry, const char *name)
{
	enum tn_status status = tn_emission_open(emission, name);

	if (!tn_weights_init(&emission->weights, entry))
		return entry->module->sink->errors ? TN_BAD_INPUT : TN_IO;
	return status;
}

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

struct tn_buf *tn_emission_file(struct tn_emission *emission,
				const char *ending)
{
	return tn_emission_add(emission,
			       tn_arena_printf(&emission->arena, "%s%s",
					       emission->name, ending),
			       false);
}

bool tn_emission_end(struct tn_emission *emission)
{
	int i;

	if (emission->weights.size)
		(void)tn_emission_add(emission,
				      tn_arena_printf(&emission->arena,
						      "%s.weights",
						      emission->name), true);
	for (i = 0; i < emission->count; i++)
		if (emission->files[i].text.failed)
			emission->failed = true;
	return !emission->failed && !emission->arena.failed;
}

void tn_emission_text(struct tn_buf *out, const char *text, const char *name,
		      char at)
{
	for (; *text; text++) {
		if (*text == '@')
			tn_buf_put(out, name);
		else if (at && *text == at)
			tn_buf_putc(out, '@');
		else
			tn_buf_putc(out, *text);
	}
}

void tn_emission_fini(struct tn_emission *emission)
{
	int i;

	for (i = 0; i < emission->count; i++)
		tn_buf_fini(&emission->files[i].text);
	tn_weights_fini(&emission->weights);
	tn_arena_fini(&emission->arena);
}
