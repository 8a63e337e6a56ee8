/*
 * Identifiers of emitted code from names of the IR.
 *
 * In: any text, as a file may hold it. Out: an identifier that C, C++ and
 * CUDA accept everywhere. Letters, digits and `_` stay, other ASCII becomes
 * `_`, a code point beyond becomes uXXXX; a number is added on collision.
 *
 *   gpu_0/data_0 -> gpu_0_data_0     int -> int_     __x -> v__x
 *
 * By number: p1 p2 (operands), n3 (a size), b4 (a buffer), t5, i6 (a loop).
 */
#include "backends/emit.h"

#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"

#define LONGEST 60

/* Words of C and C++, and names that headers may make macros, in order. */
static const char *const reserved[] = {
	"BUFSIZ", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "DOMAIN", "EDOM",
	"EILSEQ", "EOF", "ERANGE", "FALSE", "FP_INFINITE", "FP_NAN",
	"FP_NORMAL", "FP_SUBNORMAL", "FP_ZERO", "HUGE", "HUGE_VAL", "I",
	"INFINITY", "INT16_MAX", "INT16_MIN", "INT32_MAX", "INT32_MIN",
	"INT64_C", "INT64_MAX", "INT64_MIN", "INT8_MAX", "INT8_MIN",
	"INTMAX_MAX", "INTMAX_MIN", "INT_MAX", "INT_MIN", "LONG_MAX",
	"LONG_MIN", "MAX", "MIN", "M_E", "M_LN10", "M_LN2", "M_LOG10E",
	"M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2", "NAN",
	"NDEBUG", "NULL", "OVERFLOW", "PLOSS", "RAND_MAX", "SIZE_MAX", "SING",
	"TLOSS", "TRUE", "UINT16_MAX", "UINT32_MAX", "UINT64_C", "UINT64_MAX",
	"UINT8_MAX", "UINT_MAX", "UNDERFLOW", "WCHAR_MAX", "WCHAR_MIN",
	"acosf", "alignas", "alignof", "and", "and_eq", "asm", "assert",
	"atomicOr",
	"auto", "bitand", "bitor", "blockDim", "blockIdx", "bool", "break",
	"case", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
	"co_await", "co_return", "co_yield", "compl", "complex", "concept",
	"const", "const_cast", "consteval", "constexpr", "constinit",
	"continue", "decltype", "default", "delete", "do", "double",
	"dynamic_cast", "else", "enum", "errno", "explicit", "export",
	"extern", "far", "float", "for", "friend", "goto", "gridDim", "huge",
	"i386", "if", "imaginary", "inline", "int", "int16_t", "int32_t",
	"int64_t", "int8_t", "interface", "linux", "long", "main", "math_errhandling",
	"memcpy", "memset", "mutable", "namespace", "near", "new", "noexcept",
	"noreturn", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
	"private", "protected", "public", "register", "reinterpret_cast",
	"requires", "restrict", "return", "short", "signed", "size_t", "sizeof",
	"small", "static", "static_assert", "static_cast", "stderr", "stdin",
	"stdout", "struct", "switch", "template", "this", "thread_local",
	"threadIdx", "throw", "true", "try", "typedef", "typeid", "typename",
	"typeof", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintptr_t",
	"union",
	"unix", "unsigned", "using", "virtual", "void", "volatile",
	"warpSize", "wchar_t", "while", "xor", "xor_eq", "false"
};

static bool is_reserved(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (!strcmp(reserved[i], name))
			return true;
	return false;
}

static void clean(struct tn_buf *out, const char *wish)
{
	size_t left = strlen(wish), step;
	uint32_t point;

	if (tn_ascii_is_digit(*wish) || *wish == '_' || *wish == 0 ||
	    !strncmp(wish, "tn_", 3) || !strncmp(wish, "TN_", 3))
		tn_buf_putc(out, 'v');
	for (; left && out->len < LONGEST; wish += step, left -= step) {
		step = tn_utf8_next(wish, left, &point);
		if (point < 128 && tn_ascii_is_word((char)point))
			tn_buf_putc(out, (char)point);
		else if (point < 128 || point == TN_UTF8_BAD)
			tn_buf_putc(out, '_');
		else
			tn_buf_putf(out, "u%04x", (unsigned)point);
	}
	if (is_reserved(tn_buf_text(out)))
		tn_buf_putc(out, '_');
}

const char *tn_names_clean(struct tn_arena *arena, const char *wish)
{
	struct tn_buf buf;
	const char *name;

	tn_buf_init(&buf);
	clean(&buf, wish);
	name = buf.failed ? NULL :
		tn_arena_strndup(arena, tn_buf_text(&buf), buf.len);
	tn_buf_fini(&buf);
	return name;
}

void tn_names_init(struct tn_names *names, struct tn_arena *arena)
{
	names->arena = arena;
	names->by_number = false;
	tn_map_init_text(&names->taken);
	tn_map_init_ptr(&names->of);
}

void tn_names_fini(struct tn_names *names)
{
	tn_map_fini(&names->taken);
	tn_map_fini(&names->of);
}

const char *tn_names_make(struct tn_names *names, const void *key, char letter,
			  const char *wish)
{
	const char *name = tn_map_find(&names->of, key), *base;
	int n;

	if (name)
		return name;
	if (names->by_number)
		wish = tn_arena_printf(names->arena, "%c%zu", letter,
				       names->of.len + 1);
	base = name = wish ? tn_names_clean(names->arena, wish) : NULL;
	for (n = 2; name && tn_map_has(&names->taken, name); n++)
		name = tn_arena_printf(names->arena, "%s_%d", base, n);
	if (!name || !tn_map_set(&names->taken, name, (void *)(uintptr_t)key) ||
	    !tn_map_set(&names->of, key, (void *)(uintptr_t)name))
		return NULL;
	return name;
}

const char *tn_names_get(struct tn_names *names, const void *key,
			 const char *wish)
{
	return tn_names_make(names, key, 'v', wish);
}
