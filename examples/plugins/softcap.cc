/*
 * An operator, and a rule for it, as text; in C++.
 *
 *   softcap(x, cap=30) = cap * tanh(x / cap)
 */
#include <tenon-plugin.h>

static const char ops[] = R"(tenon 1.0;

# Bounds logits smoothly, as some language models do.
op softcap<T: float>(x: T[*P], cap: float = 30.0) -> T[*P] {
	return cast(tanh(wide(x) / cap) * cap, T);
}
)";

static const char rules[] = R"(tenon 1.0;

# A cap that relu stands before takes no notice of it behind.
rule relu_tanh_relu<T: float>(x: T[*P]) :
	max(tanh(max(x, 0)), 0) => tanh(max(x, 0));
)";

const struct tenon_plugin tenon_plugin = {
	TENON_PLUGIN_ABI, "softcap", nullptr, 0, nullptr, 0, ops, rules
};
