/* The side file of faults.cu; unlisted is left out on purpose. */
#include "tn_emu.h"

#include "faults.cu"

TN_EMU_KERNEL(stuck)
TN_EMU_KERNEL(mixed_masks)
TN_EMU_KERNEL(mixed_operations)
TN_EMU_KERNEL(outside_mask)
TN_EMU_KERNEL(odd_width)
TN_EMU_KERNEL(absent_lane)
TN_EMU_KERNEL(unwritten)
TN_EMU_KERNEL(past_end)
TN_EMU_KERNEL(past_shared)
TN_EMU_KERNEL(past_local)
TN_EMU_KERNEL(fill_slowly)
