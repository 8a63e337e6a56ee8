/*
 * What goes beyond C11, in one place: each macro is empty, or 0, where the
 * compiler does not have it.
 */
#ifndef TN_BASE_COMPILER_H
#define TN_BASE_COMPILER_H

/* TN_X86: intrinsics of x86-64 can be compiled for functions of their own,
 * and the processor can be asked what it has. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TN_X86 1
#define TN_X86_CODE(features) __attribute__((target(features)))
#else
#define TN_X86 0
#endif

#endif
