/*
 * 16-bit floats as bit patterns: IEEE binary16 (f16) and bfloat16 (bf16).
 * Conversions round once, to nearest even, also from double; NaN stays NaN.
 */
#ifndef TN_BASE_HALF_H
#define TN_BASE_HALF_H

#include <stdint.h>

float tn_half_f16_to_f32(uint16_t bits);
uint16_t tn_half_f16_from_f32(float value);
uint16_t tn_half_f16_from_f64(double value);
float tn_half_bf16_to_f32(uint16_t bits);
uint16_t tn_half_bf16_from_f32(float value);
uint16_t tn_half_bf16_from_f64(double value);

#endif
