"""Records of pushes with a support and a friction that are known, and noise: usage: synthesise.py CAROM

Writes records.csv beside problem.yaml: pushes of the problem run by 'carom push check', ten samples each, with noise drawn
evenly from +-0.2 um and +-0.02 degrees.
"""
import csv
import os
import random
import subprocess
import sys
import tempfile

TRUTH = {"left": 0.5e-3, "right": 1.5e-3, "top": 1e-3, "mu": 0.3}
LENGTH, ANGLE = 0.2e-6, 0.02 / 57.29577951308232
here = os.path.dirname(os.path.abspath(__file__))


def main():
    carom = os.path.abspath(sys.argv[1])
    truth = [w for k, v in TRUTH.items() for w in ("--set", f"scene.constants.{k}={v}")]
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        poses, problem = os.path.join(folder, "poses.csv"), os.path.join(folder, "pushes.yaml")
        with open(os.path.join(here, "problem.yaml")) as f, open(problem, "w") as to:  # without what needs the records
            to.write(f.read().split("\nfit:")[0].replace("parts.yaml", os.path.join(here, "parts.yaml")) + "\n")
        subprocess.run([carom, "push", "check", problem, *truth, "--samples", poses, "--quiet"], check=True)
        with open(poses) as f:
            lines = [line for line in f if not line.startswith("#")]
        rows = list(csv.DictReader(lines[1:], [name.split()[0] for name in lines[0].split(",")]))
    with open(os.path.join(here, "records.csv"), "w", newline="") as f:
        f.write("# made by synthesise.py\npush,time,x,y,angle\n")
        for push in sorted({int(r["push"]) for r in rows}):
            of = [r for r in rows if int(r["push"]) == push]
            for k in range(11):
                r = of[round(k * (len(of) - 1) / 10)]
                x, y, a = (float(r[c]) + (draw.uniform(-n, n) if k else 0) for c, n in (("x", LENGTH), ("y", LENGTH), ("angle", ANGLE)))
                f.write(f"{push},{float(r['time']):.10g},{x:.10g},{y:.10g},{a:.10g}\n")


main()
