"""parallel.py N COMMAND...: runs N at the same time and compares what they say."""
import subprocess
import sys

runs = [subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True)
        for _ in range(int(sys.argv[1]))]
said = [run.communicate()[0] for run in runs]
if any(run.returncode for run in runs) or len(set(said)) != 1 or not said[0]:
    sys.exit(f"not alike: {said}")
print(len(said), "alike")
