/* The side file: what the stand-in needs to know of kernels.cu. */
#include "tn_emu.h"

#include "kernels.cu"

TN_EMU_KERNEL(map_tail)
TN_EMU_KERNEL(map_vector)
TN_EMU_KERNEL(map_place)
TN_EMU_KERNEL(map_bf16)
TN_EMU_KERNEL(map_rounded)
TN_EMU_KERNEL(reduce_rows)
TN_EMU_KERNEL(warp_rows)
TN_EMU_KERNEL(warp_segments)
TN_EMU_KERNEL(warp_half)
TN_EMU_KERNEL(scan_block)
TN_EMU_KERNEL(matmul_static)
TN_EMU_KERNEL(matmul_dynamic)
TN_EMU_KERNEL(histogram)
TN_EMU_KERNEL(sum_atomic)
TN_EMU_KERNEL(exit_early)
TN_EMU_KERNEL(math)
TN_EMU_KERNEL(nothing)
