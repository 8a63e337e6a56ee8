#!/bin/sh
# The rewriter is the only pen of the passes: a pass does not include what
# writes the graph, and no statement of it writes a field of a node.
#
# For the second, passes are read by the compiler with a copy of graph.h in
# which every field of a module's lists, a function, a block, an operator, a
# value and a use is const (but `number`, which is scratch): a write, or a
# pointer to a field from which something could be written, is an error then.
# CC: the compiler; BUILDDIR: where configure wrote config.h.
: "${SRCDIR:=$(dirname "$0")/..}"
: "${BUILDDIR:=.}"
: "${CC:=cc}"
cd "$SRCDIR" || exit 2
temp=$(mktemp -d) || exit 2
trap 'rm -rf "$temp"' EXIT

failed=0
if grep -n 'include "ir/graph_edit.h"' passes/*.[ch]; then
	echo "a pass changes the graph through ir/rewrite.h alone"
	failed=1
fi

# Fields with a pointer become const pointers, others const.
mkdir "$temp/ir"
awk '
	/^struct tn_(use|value|op|block|fn) \{/ { inside = 1 }
	/^struct tn_module \{/ { inside = 2 }
	/^}/ { inside = 0 }
	{ line = $0 }
	/^\t[a-z].*;/ && !/number;/ &&
	(inside == 1 || (inside == 2 && / (items|fns|weights|fn_names);/)) {
		split(line, part, ";")
		code = part[1]
		count++
		if (code ~ /\*/)
			gsub(/\*[a-z]/, "*const &", code)
		else
			sub(/^\t/, "\tconst ", code)
		gsub(/\*const \*/, "*const ", code)
		line = code substr(line, length(part[1]) + 1)
	}
	{ print line }
	END { if (count < 50) exit 1 }' src/ir/graph.h >"$temp/ir/graph.h" ||
	{ echo "graph.h has no fields to guard"; exit 1; }

# What the compiler calls a const that a pointer forgets.
for option in discarded-qualifiers \
	incompatible-pointer-types-discards-qualifiers; do
	echo "int unused;" >"$temp/probe.c"
	$CC -Werror -Werror="$option" -fsyntax-only "$temp/probe.c" \
		2>/dev/null && break
done

# True if the compiler takes the file with the guarded header.
reads() {
	$CC -std=c11 -fsyntax-only -Werror="$option" -D_POSIX_C_SOURCE=200809L \
		-I"$temp" -Isrc -I. -I"$BUILDDIR" "$1"
}

for file in passes/*.c; do
	reads "$file" || failed=1
done

# The guard guards: each of these is refused.
while IFS= read -r line; do
	{
		echo '#include "ir/rewrite.h"'
		echo "void probe(struct tn_op *op, struct tn_module *m);"
		echo "void probe(struct tn_op *op, struct tn_module *m)"
		echo "{ (void)op; (void)m; $line }"
	} >"$temp/probe.c"
	if reads "$temp/probe.c" 2>"$temp/said"; then
		echo "not seen: $line"
		failed=1
	fi
	grep -Eq 'read-only|const|discards' "$temp/said" ||
		{ cat "$temp/said"; failed=1; }
done <<'END'
op->callee = 0;
op->out[0]->type = 0;
op->out[0]->place.offset = 3;
op->nout = 2;
op->block->params = 0;
op->block->fn->arena_bytes = 1;
op->in[0].value = 0;
tn_annots_add(m, &op->annots, "a", 0, op->span);
tn_vec_push(&m->items);
END
exit $failed
