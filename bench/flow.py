"""The linear program of optical flow against interior points for linear programs in general: HiGHS (scipy) and CLP.

usage: flow.py CAROM [--sizes 32,64,128] [--stencil 2|5] [--json FILE]
Same program for all, written by `carom flow --mps`. Carom's time is that of its whole process, reading and writing
included; the peers' is that of their solve alone, without crossover where they let one choose. All run on one thread,
and times are of the processor, so that a busy machine hardly disturbs them. Prints a table, then a
line of JSON for each row. Needs python3-scipy; CLP when libClp.so is there (coinor-libclp-dev).
"""
import argparse
import contextlib
import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.optimize import linprog

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples"))
import flow_data  # noqa: E402


def by_carom(carom, stencil):
    words = [carom, "flow", "A.pgm", "B.pgm", "--levels", "1", "--warps", "1", "--smoothness", stencil, "--threads", "1", "--json"]
    begin = sum(os.times()[2:4])
    said = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    seconds = sum(os.times()[2:4]) - begin
    subprocess.run([*words, "--mps", "flow.mps", "--force"], capture_output=True, check=True)
    return seconds, said["primal"], said["iterations"]


def by_highs():
    c, A, b, bounds = flow_data.read_mps("flow.mps")
    begin = time.process_time()
    answer = linprog(c, A_eq=A, b_eq=b, bounds=bounds, method="highs-ipm", options={"time_limit": 600.0})
    return time.process_time() - begin, answer.fun if answer.status == 0 else None, answer.nit


def by_clp():
    name = ctypes.util.find_library("Clp")
    if not name:
        return None
    clp = ctypes.CDLL(name)
    clp.Clp_newModel.restype = ctypes.c_void_p
    clp.Clp_objectiveValue.restype = ctypes.c_double
    for call in (clp.Clp_readMps, clp.Clp_setLogLevel, clp.Clp_initialBarrierNoCrossSolve, clp.Clp_objectiveValue, clp.Clp_numberIterations,
                 clp.Clp_setMaximumSeconds):
        call.argtypes = [ctypes.c_void_p]
    clp.Clp_setMaximumSeconds.argtypes = [ctypes.c_void_p, ctypes.c_double]
    clp.Clp_setLogLevel.argtypes = [ctypes.c_void_p, ctypes.c_int]
    clp.Clp_readMps.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    model = clp.Clp_newModel()
    clp.Clp_setLogLevel(model, 0)
    clp.Clp_readMps(model, b"flow.mps", 1, 0)
    clp.Clp_setMaximumSeconds(model, 600.0)
    begin = time.process_time()
    clp.Clp_initialBarrierNoCrossSolve(model)
    return time.process_time() - begin, clp.Clp_objectiveValue(model), clp.Clp_numberIterations(model)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("carom")
    options.add_argument("--sizes", default="32,64,128")
    options.add_argument("--stencil", default="2")
    options.add_argument("--json", help="add the lines of JSON to this file instead of printing them")
    o = options.parse_args()
    carom, rows, lines = os.path.abspath(o.carom), [], os.path.abspath(o.json) if o.json else None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(f"{'pixels':>10} {'solver':>8} {'seconds':>9} {'ratio':>7} {'iterations':>10}  value")
        for size in map(int, o.sizes.split(",")):
            (A, B), _, _ = flow_data.images(size, size, 1, 0.1)
            flow_data.write_pgm("A.pgm", A), flow_data.write_pgm("B.pgm", B)
            own = None
            for name, solve in (("carom", lambda: by_carom(carom, o.stencil)), ("highs", by_highs), ("clp", by_clp)):
                found = solve()
                if not found:
                    continue
                seconds, value, iterations = found
                own = own or seconds
                rows.append({"bench": "flow", "size": size, "stencil": int(o.stencil), "solver": name, "seconds": seconds,
                             "ratio": seconds / own, "iterations": iterations, "value": value})
                said = "gave up" if value is None else f"{value:.9g}"
                print(f"{size:>4} x {size:<4} {name:>8} {seconds:9.3f} {seconds / own:7.1f} {iterations:>10}  {said}", flush=True)
    with open(lines, "a") if lines else contextlib.nullcontext(sys.stdout) as out:
        for row in rows:
            print(json.dumps(row), file=out)


main()
