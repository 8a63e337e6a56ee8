/* The end of an emission; see emission.h. */
#include "backends/emission.h"

void tn_emission_fini(struct tn_emission *emission)
{
	int i;

	for (i = 0; i < emission->count; i++)
		tn_buf_fini(&emission->files[i].text);
	tn_weights_fini(&emission->weights);
	tn_arena_fini(&emission->arena);
}
