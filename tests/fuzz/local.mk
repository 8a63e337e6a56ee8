# Automake fragment of tests/fuzz: random modules; see README.md there.
check_PROGRAMS += tests/fuzz/fuzz
tests_fuzz_fuzz_SOURCES = tests/fuzz/fuzz.c
check_PROGRAMS += tests/fuzz/onnx_fuzz
tests_fuzz_onnx_fuzz_SOURCES = tests/fuzz/onnx_fuzz.c
EXTRA_DIST += tests/fuzz/onnx_mutate.c
check_scripts += tests/fuzz/run.py
