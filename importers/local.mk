# Automake fragment of importers; see Makefile.am for the lists.

libtenon_la_SOURCES += \
	importers/importer.h \
	importers/onnx/axes.c \
	importers/onnx/attr.c \
	importers/onnx/data.c \
	importers/onnx/forest.c importers/onnx/forest.h \
	importers/onnx/graph.c \
	importers/onnx/hint.c \
	importers/onnx/import.c \
	importers/onnx/known.c \
	importers/onnx/ml.c importers/onnx/ml.h \
	importers/onnx/node.c \
	importers/onnx/onnx.h \
	importers/onnx/op_attention.c \
	importers/onnx/op_cast.c \
	importers/onnx/op_contrib.c \
	importers/onnx/op_detect.c \
	importers/onnx/op_frame.c \
	importers/onnx/op_if.c \
	importers/onnx/op_grams.c \
	importers/onnx/op_index.c \
	importers/onnx/op_loop.c \
	importers/onnx/op_loss.c \
	importers/onnx/op_math.c \
	importers/onnx/op_mha.c \
	importers/onnx/op_ml.c \
	importers/onnx/op_norm.c \
	importers/onnx/op_quant.c \
	importers/onnx/op_reduce.c \
	importers/onnx/op_resize.c \
	importers/onnx/op_rnn.c \
	importers/onnx/op_sample.c \
	importers/onnx/op_scan.c \
	importers/onnx/op_seq.c \
	importers/onnx/op_shape.c \
	importers/onnx/op_signal.c \
	importers/onnx/op_slice.c \
	importers/onnx/op_training.c \
	importers/onnx/op_tree.c \
	importers/onnx/op_window.c \
	importers/onnx/param.c \
	importers/onnx/region.c importers/onnx/region.h \
	importers/onnx/schema.c importers/onnx/schema.h \
	importers/onnx/scope.c \
	importers/onnx/survey.c importers/onnx/survey.h \
	importers/onnx/table.c importers/onnx/table.h \
	importers/onnx/tree.c \
	importers/onnx/wire.c importers/onnx/wire.h
