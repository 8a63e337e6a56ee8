"""Runs the function of an emitted module on the arrays x and w of a file."""
import runpy
import sys

import numpy as np

given = np.load(sys.argv[2])
result = runpy.run_path(sys.argv[1])["run"](given["x"], given["w"])
np.save(sys.argv[3], result)
