/*
 * Habits from Python, numpy, torch and C: a word that means nothing here, and
 * what to write instead. A table for each place where such a word shows.
 */
#include "grammar/habit.h"

#include <string.h>

struct habit {
	const char *words;	/* with blanks between them */
	const char *help;
};

#define FIND(table, word) find(table, sizeof(table) / sizeof(*(table)), word)

static const char *find(const struct habit *table, size_t count,
			const char *word)
{
	size_t len = strlen(word), n, i;
	const char *at;

	for (i = 0; i < count; i++)
		for (at = table[i].words; *at; at += n + (at[n] == ' ')) {
			n = strcspn(at, " ");
			if (n == len && !memcmp(at, word, n))
				return table[i].help;
		}
	return NULL;
}

static const struct habit calls[] = {
	{ "float double half int long astype to type",
	  "a conversion is cast(x, f32)" },
	{ "dot mm bmm inner", "a product of matrices is a @ b" },
	{ "where", "it is select(condition, a, b)" },
	{ "concatenate cat hstack vstack", "it is concat(a, b, axis=0)" },
	{ "zeros_like", "write zeros(shape(x))" },
	{ "ones_like", "write ones(shape(x))" },
	{ "full_like", "write full(shape(x), 1.0)" },
	{ "rand randn uniform",
	  "it is random(elem=f32, shape=[2, 3], seed=1)" },
	{ "maximum fmax fmaxf", "the greater of two is max(a, b)" },
	{ "minimum fmin fminf", "the lesser of two is min(a, b)" },
	{ "amax", "over axes it is reduce_max(x, axes=[0])" },
	{ "amin", "over axes it is reduce_min(x, axes=[0])" },
	{ "log2", "write log(x) / log(2.0)" },
	{ "log10", "write log(x) / log(10.0)" },
	{ "view", "it is reshape(x, [2, _])" },
	{ "permute swapaxes", "it is transpose(x, perm=[1, 0])" },
	{ "unsqueeze", "it is expand_dims(x, axes=[0])" },
	{ "flatten ravel", "write reshape(x, [_])" },
	{ "clip", "it is clamp(x, lo, hi)" },
	{ "power powf", "it is pow(a, b), or a ** b" },
	{ "square", "write x * x" },
	{ "negative", "write -x" },
	{ "absolute fabs fabsf", "it is abs(x)" },
	{ "fmod fmodf remainder", "it is rem(a, b)" },
	{ "expf", "it is exp(x)" },
	{ "sqrtf", "it is sqrt(x)" },
	{ "range arange", "it is iota(shape=[n])" },
	{ "repeat tile expand", "it is broadcast(x, [2, 3])" },
	{ "Linear linear", "write x @ w + b" },
	{ "Conv1d Conv2d Conv3d conv1d conv2d conv3d",
	  "it is conv(x, w, b, stride=1, pad=1)" },
	{ "MaxPool2d max_pool2d", "it is maxpool(x, size=2, stride=2)" },
	{ "AvgPool2d avg_pool2d", "it is avgpool(x, size=2, stride=2)" },
	{ "std", "write sqrt(var(x))" },
	{ "isnan", "write x != x" },
	{ "printf", "a tensor is shown by print(x, label=\"x\")" },
	{ "enumerate zip map filter",
	  "operators work on whole tensors; `scan` goes along an axis" },
};

static const struct habit fields[] = {
	{ "T mT", "write transpose(x): all axes reversed, or as perm=[..] "
	  "says" },
	{ "shape", "write shape(x), or size(x, 0) for one axis" },
	{ "size", "write count(x), or size(x, 0) for one axis" },
	{ "ndim", "write rank(x)" },
	{ "dtype", "write elem(x)" },
};

static const struct habit names[] = {
	{ "None NULL nullptr null Nil nil", "there is no such value: leave "
	  "the argument out; a new axis is expand_dims(x, axes=[0])" },
	{ "True TRUE", "it is written `true`" },
	{ "False FALSE", "it is written `false`" },
	{ "np numpy torch tf jnp F nn math self", "operators belong to no "
	  "module and values have no methods: write exp(x)" },
	{ "axis axes dim keep keepdims", "an argument is named with one `=`: "
	  "axes=[0]" },
	{ "pass", "a statement that does nothing is left out" },
	{ "pi", "write 3.141592653589793" },
	{ "NaN NAN", "it is written `nan`" },
	{ "Inf INF INFINITY infinity", "it is written `inf`" },
};

static const struct habit arguments[] = {
	{ "keepdims keepdim keep_dims", "it is keep=true" },
	{ "axis dim dims", "it is axes=[0], or axis=0 where only one can be" },
	{ "dtype type", "it is elem=f32" },
	{ "padding pads", "it is pad=1, or pad=[[lo, hi], ..]" },
	{ "strides", "it is stride=1" },
	{ "kernel_size kernel_shape ksize", "it is size=2" },
};

static const struct habit tokens[] = {
	{ "//", "a comment begins with `#`" },
	{ "/*", "a comment begins with `#`" },
	{ "def func function", "a function is `fn NAME(x: f32[N]) -> f32[N] { "
	  ".. }`, outside of others" },
	{ "lambda", "functions are no values: write `fn NAME(..) -> .. { .. }` "
	  "outside, and call it" },
	{ "import from", "other files are taken in by `include \"FILE\";`" },
	{ "for", "`for` is a value: `y = with (h = x) for i in 0..n { yield f(h); "
	  "};`; kernels have loops that store" },
	{ "if", "`if` is a value, with its condition first: `y = if c { yield "
	  "a; } else { yield b; };`; of tensors take select(c, a, b)" },
	{ "while", "`while` is a value: `y = with (i = x) while i < n { yield "
	  "i + 1; };`" },
	{ "and", "\"and\" is written `&&`" },
	{ "or", "\"or\" is written `||`" },
	{ "not", "\"not\" is written `!`" },
	{ "is", "\"is\" is written `==`" },
	{ "elif", "write `else if`" },
	{ "as", "a conversion is cast(x, f32)" },
	{ "let var auto", "values are bound without a word: `y = x + 1;`" },
	{ "const", "constants stand outside of functions; inside, values are "
	  "bound without a word: `y = x + 1;`" },
	{ "float double int long Tensor", "a type stands behind the name: "
	  "`y: f32 = x;`" },
	{ "del", "values need not be deleted" },
	{ "assert", "it is assert(x > 0);" },
	{ "print", "it is print(x);" },
	{ ";;", "one `;` is enough" },
	{ ":=", "names are bound with `=`" },
	{ "+= -= *= /= ++ --", "a name is bound once: give the new value a "
	  "name of its own" },
	{ "::", "a step is given by slice(x, start=[..], stop=[..], "
	  "step=[..])" },
	{ "][", "sizes stand in one pair of brackets: f32[2, 3]" },
	{ ")", "a conversion is cast(x, f32), a product is written `*`" },
	{ "{", "a tensor is written [1, 2]" },
	{ "== != < > <= >=", "comparisons do not chain: write a < b && b < "
	  "c" },
	{ "0.", "a point has digits on both sides: 1.0, 0.5" },
};

/* UTF-8 of characters that are not ASCII, with ASCII in their place. */
static const struct habit characters[] = {
	{ "'", "strings stand in double quotes: \"x\"" },
	{ "?", "a choice is select(condition, a, b)" },
	{ "\\", "lines may break anywhere; a statement ends at its `;`" },
	{ "\xe2\x80\x9c \xe2\x80\x9d \xe2\x80\x98 \xe2\x80\x99 \xc2\xab "
	  "\xc2\xbb", "these are typographic quotes: write \"" },
	{ "\xe2\x88\x92 \xe2\x80\x93 \xe2\x80\x94", "write the minus of ASCII, "
	  "-" },
	{ "\xc3\x97 \xc2\xb7 \xe2\x8b\x85", "write * (or @ for matrices)" },
	{ "\xc3\xb7", "write /" },
	{ "\xe2\x89\xa4", "write <=" },
	{ "\xe2\x89\xa5", "write >=" },
	{ "\xe2\x89\xa0", "write !=" },
	{ "\xe2\x86\x92", "write ->" },
	{ "\xc2\xa0 \xe2\x80\x8b \xe2\x80\xaf \xef\xbb\xbf", "this character "
	  "cannot be seen: delete it, or write a blank" },
};

const char *tn_habit_call(const char *word)
{
	return FIND(calls, word);
}

const char *tn_habit_field(const char *word)
{
	return FIND(fields, word);
}

const char *tn_habit_name(const char *word)
{
	return FIND(names, word);
}

const char *tn_habit_argument(const char *word)
{
	return FIND(arguments, word);
}

const char *tn_habit_token(const char *word)
{
	return FIND(tokens, word);
}

const char *tn_habit_character(const char *bytes)
{
	return FIND(characters, bytes);
}
