"""Everything that can go wrong around Carom, made to go wrong: corrupt files, memory that is refused, kills, full disks,
limits of memory. Every run must end by itself with a code of Carom's own, say why when it failed, give the right answer
when it did not, leave no memory behind and lose no input.

usage: torture.py CAROM SABOTEUR [--corrupt N] [--allocations N] [--late N] [--kills N] [--disks N] [--memory N] [--jobs N]
                  [--seed N] [--only READER-OR-VERB] [--keep FOLDER]

What goes wrong is chosen by counts (bytes, requests, calls), never by the clock: the same seed does the same everywhere.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

try:
    import h5py
except ImportError:  # flips and truncations remain
    h5py = None

CODES = {0, 1, 2, 3, 4}  # what carom says of itself; anything else is a crash
CPU = 10  # s of processor time: more is a hang
HANG = 900  # s of the clock, for what waits for ever without working; a busy machine stays far below
MEMORY = 4 << 30  # bytes of address space that a corrupt file may make Carom ask for

SCENE = """carom: 1
title: torture
include: common.yaml
constants: {size: 0.2}
bodies:
  - {name: floor, fixed: true, shape: {halfspace: }}
  - {name: block, material: wood, shape: {box: [size, size, 0.1 m]}, density: 1000, position: [0, 0, 0.3], velocity: [1, 0, 0]}
  - {name: rock, material: wood, shape: {mesh: {file: rock.obj, hull: true}}, density: 2000, position: [1, 0, 0.6]}
  - {name: stone, material: wood, shape: {mesh: {file: stone.stl, hull: true}}, density: 2000, position: [2, 0, 0.6]}
forces: {gravity: [0, 0, -9.81]}
integrator: {name: moreau, step: 2 ms}
duration: 0.4 s
output: {interval: 20 ms}
"""
COMMON = "materials: {wood: {density: 700, friction: 0.4, restitution: 0.2}}\n"
ROCK = "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.2\nv 0.1 0.1 0.15\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 2 5 4\nf 3 4 5\n"
BODIES = """carom: 1
bodies:
  - {name: cube, shape: {box: [0.1, 0.1, 0.1]}, density: 100}
  - {name: post, fixed: true, shape: {box: [0.05, 0.05, 1]}, position: [0.3, 0.02, 0]}
duration: 1
"""
SAA = """carom-saa: 1
random: {demand: {uniform: [50, 150]}}
first: {order: {lower: 0}}
second: {sold: {lower: 0, upper: demand}}
minimize: 5*order - 9*sold
constraints: {stock: sold <= order}
"""
SWEEP = """carom-sweep: 1
title: "How far a block slides"
scene: scene.yaml
constants: {short: 0.1}
set: "duration={short}"
axes:
  - {name: speed, from: 0.5 m/s, to: 2 m/s, count: 3, set: "bodies.block.velocity=[{speed}, 0, 0]"}
outcomes: {way: most(block.x), touched: first(collisions > 0), slow: held(block.speed < 1 m/s)}
classes: {success: way > 0.1 and passed, short: way > 0}
"""
WAYS = """carom-navigate: 1
constants: {size: 0.4}
duration: 20 s
walls: [{points: [[-3, 2], [3, 2]], width: 0.1}]
vehicles:
  - {name: car, cage: {box: [2*size, size]}, steering: turn, goal: opposite, replicate: {ring: {count: 4, radius: 1.6}}}
  - {cage: {disc: size}, position: [-5, 0], goal: [5, 0], replicate: {count: 1}}
"""
PLAN = """carom-plan: 1
title: "Past a post"
scene: bodies.yaml
horizon: {intervals: 10, step: 0.1 s}
actuators: [{body: cube}]
conditions: [{body: cube, position: [0.6, 0, 0], rest: true}]
costs: [{effort: 1}]
avoid: {pairs: [[cube, post]]}
"""


def stl():
    corners = [(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    text = b"stone".ljust(80) + struct.pack("<I", len(faces))
    for face in faces:
        text += struct.pack("<12fH", 0, 0, 0, *[x for corner in face for x in corners[corner]], 0)
    return text


def pairs():
    """Unit cubes on the x axis in three regimes, four pairs each: src/cli/pair_file.c."""
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    data = struct.pack("<8s6i", b"SSHPAIR1", 8, 2, 4, 3, 2, 0)
    for _ in range(2):
        data += struct.pack("<2i", 1, 0) + b"".join(struct.pack("<3d", *c) for c in corners) + struct.pack("<4i", 0, 1, 2, 0)
    for distance in (1, 1e-3, -0.05):
        for i in range(4):
            pose = struct.pack("<14d", 1, 0, 0, 0, 8 + distance, 0.01 * i, 0, 1, 0, 0, 0, 7, 0, 0)
            data += struct.pack("<2i", 0, 1) + pose + struct.pack("<4d", distance, 1, 0, 0)
    return data


# ---- running -------------------------------------------------------------------------------------------------------

class Outcome:
    def __init__(self, words, code, out, err, report):
        self.words, self.code, self.out, self.err, self.report = words, code, out, err, report

    def complaint(self):
        """What is wrong about the way the program ended, or None."""
        if self.code == -signal.SIGXCPU or self.code == -signal.SIGKILL:
            return f"hangs: more than {CPU} s of processor time"
        if self.code not in CODES:
            return f"crashes: code {self.code}"
        if "Sanitizer" in self.err or "runtime error" in self.err or "terminate called" in self.err:
            return "crashes: " + self.err[-300:]
        if self.code in (1, 2) and not (self.err + self.out).strip():
            return "fails without a word"
        if any(c < " " and c not in "\n\t\r" for c in self.err):
            return "prints control characters"
        return None


class Torture:
    def __init__(self, arguments):
        self.a = arguments
        self.carom, self.saboteur = os.path.abspath(arguments.carom), os.path.abspath(arguments.saboteur)
        self.findings, self.counts = [], {}
        self.root = tempfile.mkdtemp(prefix="torture-")
        self.pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
        self.put("master/scene.yaml", SCENE)
        self.put("master/common.yaml", COMMON)
        self.put("master/rock.obj", ROCK)
        self.put("master/stone.stl", stl())
        self.put("master/bodies.yaml", BODIES)
        self.put("master/plan.yaml", PLAN)
        self.put("master/sweep.yaml", SWEEP)
        self.put("master/navigate.yaml", WAYS)
        self.put("master/pairs.bin", pairs())
        self.put("master/problem.txt", "carom-lcp 1\nn 3\nM\n4 1 0\n1 3 1\n0 1 2\nq -1 2 -3\nlower 0 -inf 0\nupper inf inf 1\n")
        self.put("master/saa.yaml", SAA)
        self.put("master/problem.json", '[{"M": [[2, 1], [1, 2]], "q": [-5, -6], "lower": [null, 0], "upper": null}]\n')
        for k, name in enumerate(("A.pgm", "B.pgm")):
            self.put("master/" + name, b"P5 9 8 255\n" + bytes((40 * x + 7 * x * y + 23 * y + 20 * k) % 256 for y in range(8) for x in range(9)))
        made = self.run(["run", "scene.yaml", "-o", "result.h5", "-q"], self.path("master"))
        made2 = self.run(["export", "result.h5", "--to", "csv", "-o", "motion.csv", "-q"], self.path("master"))
        if made.code != 0 or made2.code != 0:
            sys.exit(f"torture: the scene to be tortured does not run: {made.err}{made2.err}")
        planned = self.run(["plan", "plan.yaml", "-o", "planned.h5", "-q"], self.path("master"))
        if planned.code != 0:
            sys.exit(f"torture: the plan to be tortured is not found: {planned.err}")

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def put(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def folder(self, name):
        """A fresh copy of all inputs."""
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.path("master"), path)
        return path

    def run(self, words, folder, sabotage=None, limits=(), cpu=CPU):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
        ear, mouth = os.pipe()  # no limit on files holds for a pipe
        if sabotage is not None:
            environment.update(sabotage, LD_PRELOAD=self.saboteur, SABOTEUR_REPORT=str(mouth))

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for which, size in limits:
                resource.setrlimit(which, (size, size))
        try:
            done = subprocess.run([self.carom, *words], cwd=folder, env=environment, preexec_fn=limit, timeout=HANG,
                                  stdin=subprocess.DEVNULL, capture_output=True, pass_fds=[mouth])
        except subprocess.TimeoutExpired:
            os.close(ear), os.close(mouth)
            return Outcome(words, -signal.SIGXCPU, "", "", None)
        os.close(mouth)
        with open(ear) as f:
            text = f.read()
        counted = json.loads(text) if text else None
        return Outcome(words, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), counted)

    def find(self, kind, what, outcome, kept=None):
        text = f"{kind}: carom {' '.join(outcome.words)}: {what}"
        if outcome.err.strip():
            text += f"\n    {outcome.err.strip()[:300]}"
        if kept and os.path.exists(kept):
            os.makedirs(self.a.keep, exist_ok=True)
            copy = os.path.join(self.a.keep, f"{len(self.findings)}-{os.path.basename(kept)}")
            shutil.copy(kept, copy)
            text += f"\n    kept as {copy}"
        self.findings.append(text)
        print(f"torture: FINDING {text}", flush=True)

    def inputs(self, folder):
        """A fingerprint of everything that is in the folder before."""
        prints = {}
        for name in os.listdir(self.path("master")):
            path = os.path.join(folder, name)
            prints[name] = hashlib.sha256(open(path, "rb").read()).hexdigest() if os.path.isfile(path) else None
        return prints

    def each(self, kind, jobs, work):
        """Does the jobs side by side, in numbered folders, and counts them."""
        for future in [self.pool.submit(work, i, job) for i, job in enumerate(jobs)]:
            future.result()
        self.counts[kind] = len(jobs)
        print(f"torture: {len(jobs)} {kind}", flush=True)

    # ---- corrupt files ---------------------------------------------------------------------------------------------

    READERS = [  # what is corrupted, how it is read, how large a share of the corrupt files
        ("scene.yaml", ["check", "scene.yaml"], 2),
        ("common.yaml", ["check", "scene.yaml"], 1),
        ("bodies.yaml", ["plan", "plan.yaml", "--no-output", "-q", "--set", "solver.max_iterations=3"], 1),
        ("rock.obj", ["check", "scene.yaml"], 1),
        ("stone.stl", ["check", "scene.yaml"], 1),
        ("plan.yaml", ["plan", "plan.yaml", "--no-output", "-q", "--set", "solver.max_iterations=3"], 1),
        ("sweep.yaml", ["sweep", "sweep.yaml", "--case", "0", "-o", "case.h5", "-f", "-q"], 1),
        ("navigate.yaml", ["navigate", "navigate.yaml", "-q"], 1),
        ("problem.txt", ["lcp", "problem.txt"], 1),
        ("problem.json", ["lcp", "problem.json"], 1),
        ("pairs.bin", ["gap", "--pairs", "pairs.bin"], 1),
        ("A.pgm", ["flow", "A.pgm", "B.pgm", "--max-iterations", "5"], 1),
        ("motion.csv", ["audit", "motion.csv", "--scene", "scene.yaml"], 1),
        ("result.h5", ["info", "result.h5"], 3),
        ("result.h5", ["run", "scene.yaml", "--continue", "result.h5", "-o", "more.h5", "-f", "-q"], 2),
        ("result.h5", ["view", "result.h5", "-o", "page.html", "-q"], 2),
        ("result.h5", ["export", "result.h5", "--to", "csv", "-o", "table.csv", "-q"], 1),
        ("result.h5", ["export", "result.h5", "--to", "glb", "-o", "scene.glb", "-q"], 1),
        ("result.h5", ["export", "result.h5", "--to", "vtk", "-o", "frames.pvd", "-q"], 1),
        ("result.h5", ["audit", "result.h5"], 1),
        ("result.h5", ["explain", "result.h5", "-o", "step.yaml"], 1),
        ("planned.h5", ["view", "planned.h5", "-o", "page.html", "-q"], 2),
    ]

    def corrupt(self, count):
        readers = [r for r in self.READERS if not self.a.only or self.a.only in (r[0], r[1][0])]
        shares = sum(r[2] for r in readers)
        jobs = [(r, i) for r in readers for i in range(count * r[2] // shares)]
        jobs += [(readers[0], count + i) for i in range(count - len(jobs))]
        folders = [self.folder(f"corrupt{i}") for i in range(self.a.jobs)]
        free = list(folders)
        before = self.inputs(folders[0])

        def work(number, job):
            (name, words, _), i = job
            folder = free.pop()
            path = os.path.join(folder, name)
            with open(self.path("master", name), "rb") as f:
                original = f.read()
            chance = random.Random(f"{self.a.seed} {name} {words[0]} {words[-2]} {i}")
            how = mangle(path, original, chance)
            outcome = self.run(words, folder, limits=[(resource.RLIMIT_AS, MEMORY)])
            wrong = outcome.complaint()
            if wrong:
                self.find("corrupt files", f"{wrong} ({how})", outcome, path)
            with open(path, "wb") as f:
                f.write(original)
            after = self.inputs(folder)
            if after != before:
                self.find("corrupt files", f"changes its inputs {[k for k in after if after[k] != before[k]]}", outcome)
                shutil.rmtree(folder)
                shutil.copytree(self.path("master"), folder)
            free.append(folder)
        self.each("corrupt files", jobs, work)

    # ---- memory that is refused ------------------------------------------------------------------------------------

    VERBS = [
        ["run", "scene.yaml", "-o", "new.h5", "--json"],
        ["run", "scene.yaml", "-o", "new.h5", "--json", "--integrator", "dcr", "--duration", "0.1"],
        ["run", "scene.yaml", "-o", "new.h5", "--json", "--integrator", "cone", "--duration", "0.1"],
        ["run", "scene.yaml", "--continue", "result.h5", "--duration", "0.6", "-o", "new.h5", "--json"],
        ["check", "scene.yaml", "--json"],
        ["audit", "result.h5", "--json"],
        ["audit", "motion.csv", "--scene", "scene.yaml", "--json"],
        ["info", "result.h5", "--json"],
        ["explain", "result.h5", "-o", "new.yaml"],
        ["view", "result.h5", "-o", "new.html"],
        ["view", "planned.h5", "-o", "new.html"],
        ["export", "result.h5", "--to", "csv", "-o", "new.csv"],
        ["export", "result.h5", "--to", "glb", "-o", "new.glb"],
        ["export", "result.h5", "--to", "vtk", "-o", "new.pvd"],
        ["gap", "box: [1, 1, 1]", "rock.obj", "--pose-b", "2,0,0"],
        ["gap", "box: [1, 1, 1]", "rock.obj", "--pose-b", "2,0,0", "--html", "new.html"],
        ["gap", "--pairs", "pairs.bin"],
        ["compare", "scene.yaml", "-o", "new.html", "-i", "moreau,cone", "-s", "duration=0.1"],
        ["integrators"],
        ["lcp", "problem.txt"],
        ["lcp", "problem.json", "--json"],
        ["root", "x^2 + y^2 - 1", "x - y", "--start", "1,0.5", "--runs", "20", "--basins", "new.html", "--size", "16"],
        ["flow", "A.pgm", "B.pgm", "-o", "new.flo", "-p", "new.png", "--page", "new.html", "--json"],
        ["saa", "saa.yaml", "-n", "6", "-r", "2", "-o", "new.html", "--json"],
        ["navigate", "navigate.yaml", "-o", "new.html", "--csv", "new.csv"],
        ["plan", "plan.yaml", "-o", "new.h5", "--json"],
        ["sweep", "sweep.yaml", "--case", "1", "-o", "new.h5", "--json"],
        ["demo", "charged-pair", "--dir", "demo", "--set", "duration=0.05", "-q"],
    ]

    def answer(self, outcome, folder):
        """What a run says that does not depend on the clock."""
        if "--json" not in outcome.words or not outcome.out.strip():
            return None
        lines = []
        for line in outcome.out.splitlines():
            try:
                report = json.loads(line)
            except ValueError:
                return outcome.out
            lines.append({k: v for k, v in report.items() if "second" not in k and "wall" not in k and k not in ("result", "time_limit")})
        return json.dumps(strip_times(lines), sort_keys=True)

    def clear(self, folder):
        """Only the inputs remain."""
        keep = set(os.listdir(self.path("master")))
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name not in keep:
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def leftovers(self, folder):
        """Files that have no business being there: of writers that gave up."""
        keep = set(os.listdir(self.path("master")))
        return [n for n in os.listdir(folder) if n not in keep and not n.startswith(("new", "demo"))]

    def undisturbed(self):
        """Each verb with the requests that it makes and its answer when it gets them."""
        good = []
        folder = self.folder("good")
        for words in [v for v in self.VERBS if self.a.only in (None, v[0])]:
            outcome = self.run(words, folder, sabotage={}, cpu=60)
            if outcome.complaint() or outcome.code != 0:
                self.find("refused requests", outcome.complaint() or f"fails unsabotaged with {outcome.code}", outcome)
            if outcome.report and outcome.report["live"]:
                self.find("refused requests", f"leaks {outcome.report['live']} blocks when all is well", outcome)
            good.append((words, outcome.report["requests"] if outcome.report else 0, self.answer(outcome, folder)))
            self.clear(folder)
        return good

    def late(self, count):
        """Every one of the last requests of each verb: most are made while reading, so that a sample seldom meets these."""
        self.refuse("late requests", [(words, at, 0, answer) for words, requests, answer in self.undisturbed()
                                      for at in range(max(1, requests - count + 1), requests + 1)])

    def allocations(self, count):
        good = self.undisturbed()
        jobs = []
        for v, (words, requests, answer) in enumerate(good):
            share = (count - len(jobs)) // (len(good) - v)
            take = min(share, requests)
            jobs += [(words, 1 + (requests - 1) * i // max(take - 1, 1), i % 2 if share < requests else 0, answer) for i in range(take)]
        for i in range(count - len(jobs)):  # the same requests, and all later ones
            words, at, _, answer = jobs[i]
            jobs.append((words, at, 1, answer))
        self.refuse("refused requests", jobs)

    def refuse(self, name, jobs):
        free = [self.folder(f"memory{i}") for i in range(self.a.jobs)]
        before = self.inputs(free[0])

        def work(number, job):
            words, at, everything, answer = job
            folder = free.pop()
            outcome = self.run(words, folder, sabotage={"SABOTEUR_ALLOCATION": str(at), "SABOTEUR_ALL": str(everything)})
            kind = f"{name} ({'from ' if everything else ''}{at})"
            wrong = outcome.complaint()
            if not wrong and outcome.report and outcome.report["live"]:
                wrong = f"leaks {outcome.report['live']} blocks"
            if not wrong and outcome.code == 0 and self.answer(outcome, folder) != answer:
                wrong = "gives another answer"
            if not wrong and outcome.code != 0 and "memory" not in (outcome.err + outcome.out).lower():
                wrong = f"fails with {outcome.code} and does not say that memory is missing"
            if not wrong and self.leftovers(folder):
                wrong = f"leaves {self.leftovers(folder)} behind"
            if not wrong and self.inputs(folder) != before:
                wrong = "changes its inputs"
            if wrong:
                self.find(kind, wrong, outcome)
            self.clear(folder)
            free.append(folder)
        self.each(name, jobs, work)

    # ---- kills -----------------------------------------------------------------------------------------------------

    def kills(self, count):
        """Killed before each of its changes of files in turn: old files stay whole, new ones are whole or continue."""
        long = ["--duration", "1.2", "--set", "output.interval=4 ms"]
        cases = [(["run", "scene.yaml", "-o", "new.h5", "--json", *long], "new.h5"), (["run", "scene.yaml", "-o", "old.h5", "-f", "-q", *long], "old.h5"),
                 (["view", "result.h5", "-o", "old.html", "-q"], "old.html"), (["export", "result.h5", "--to", "glb", "-o", "old.glb", "-q"], "old.glb"),
                 (["export", "result.h5", "--to", "csv", "-o", "old.csv", "-q", "-f"], "old.csv")]
        folder = self.folder("whole")
        shutil.copy(os.path.join(folder, "result.h5"), os.path.join(folder, "old.h5"))
        jobs, whole = [], {}
        for v, (words, output) in enumerate(cases):
            outcome = self.run(words, folder, sabotage={}, cpu=60)
            if outcome.code != 0 or not outcome.report:
                self.find("kills", f"fails unsabotaged with {outcome.code}", outcome)
                continue
            with open(os.path.join(folder, output), "rb") as f:
                whole[output] = f.read()
            changes = outcome.report["changes"]
            wanted = (count - len(jobs)) if v == len(cases) - 1 else count * (6, 2, 1, 1, 1)[v] // 11
            jobs += [(words, output, 1 + changes * i // max(wanted, 1)) for i in range(wanted)]
        longer = ["--duration", "1.6", "--set", "output.interval=4 ms"]
        hashes = self.run(["run", "scene.yaml", "--no-output", "--json", *longer], folder, cpu=60)
        final = json.loads(hashes.out)["state_hash"]
        free = [self.folder(f"kill{i}") for i in range(self.a.jobs)]
        before = self.inputs(free[0])
        self.continued = 0

        def work(number, job):
            words, output, at = job
            folder = free.pop()
            path = os.path.join(folder, output)
            old = b""
            if output.startswith("old"):
                old = open(self.path("master", "result.h5"), "rb").read() if output == "old.h5" else whole[output][:-1]
                with open(path, "wb") as f:
                    f.write(old)
            outcome = self.run(words, folder, sabotage={"SABOTEUR_KILL": str(at)})
            wrong = None
            if outcome.code == -signal.SIGKILL:
                wrong = self.judge_remains(folder, path, output, old, whole, final, longer)
            elif outcome.code != 0:
                wrong = outcome.complaint() or f"ends with {outcome.code}"
            if not wrong and self.inputs(folder) != before:
                wrong = "changes its inputs"
            if wrong:
                self.find(f"kills (before change {at})", wrong, outcome, path)
            self.clear(folder)
            free.append(folder)
        self.each("kills", jobs, work)
        print(f"torture:   {self.continued} of the killed runs continued to the same last bit", flush=True)

    def judge_remains(self, folder, path, output, old, whole, final, longer):
        if not output.endswith(".h5"):  # written beside and put in place at once
            if output.startswith("old") and open(path, "rb").read() not in (old, whole[output]):
                return "leaves a part of a file in the place of a whole one"
            return None
        if not os.path.exists(path):
            return "lost the old result" if old else None
        told = self.run(["info", output, "--json"], folder)
        if told.complaint():
            return "info " + told.complaint()
        if told.code != 0:
            return None if not old else f"lost the old result: {told.err.strip()}"
        if open(path, "rb").read() == old:
            return None
        on = self.run(["run", "scene.yaml", "--continue", output, "-o", "more.h5", "--json", *longer], folder, cpu=60)
        if on.complaint():
            return "continuing " + on.complaint()
        if on.code == 0:
            if json.loads(on.out)["state_hash"] != final:
                return "continues to another end"
            self.continued += 1
        elif "no checkpoint" not in on.err:  # killed before the first step
            return f"does not continue: {on.err.strip()}"
        return None

    # ---- full disks ------------------------------------------------------------------------------------------------

    def disks(self, count):
        """Half of them by a limit on the size of files, half by a disk that is full from some call on."""
        cases = [(v, n) for v in self.VERBS for n in v if n.startswith("new")]
        folder = self.folder("size")
        sizes = []
        for words, output in cases:
            outcome = self.run(words, folder, sabotage={}, cpu=60)
            path = os.path.join(folder, output)
            sizes.append((words, output, os.path.getsize(path) if os.path.exists(path) else 1000, outcome.report["changes"] if outcome.report else 1))
            self.clear(folder)
        jobs = [(*sizes[i % len(sizes)], i) for i in range(count)]
        free = [self.folder(f"disk{i}") for i in range(self.a.jobs)]
        before = self.inputs(free[0])

        def work(number, job):
            words, output, size, changes, i = job
            folder = free.pop()
            share = random.Random(f"{self.a.seed} disk {i}").random()
            if (i // len(sizes)) % 2:
                outcome = self.run(words, folder, sabotage={"SABOTEUR_FULL": str(1 + int(share * (changes - 1)))})
            else:
                outcome = self.run(words, folder, sabotage={}, limits=[(resource.RLIMIT_FSIZE, int(share * size))])
            wrong = outcome.complaint()
            if not wrong and outcome.code == 0 and self.truncated(folder, output, size):
                wrong = "reports success, but the file is not whole"
            if not wrong and outcome.report and outcome.report["live"]:
                wrong = f"leaks {outcome.report['live']} blocks"
            if not wrong and outcome.code != 0 and self.half_written(folder, output):
                wrong = "leaves a part of a file"
            if not wrong and self.inputs(folder) != before:
                wrong = "changes its inputs"
            if wrong:
                self.find(f"full disks ({i})", wrong, outcome)
            self.clear(folder)
            free.append(folder)
        self.each("full disks", jobs, work)

    def truncated(self, folder, output, size):
        path = os.path.join(folder, output)
        if output.endswith(".h5"):
            return self.run(["info", output], folder).code != 0
        return not os.path.exists(path) or os.path.getsize(path) < 0.9 * size

    def half_written(self, folder, output):
        """A result may be what was recorded so far; anything else is whole or not there."""
        path = os.path.join(folder, output)
        if not os.path.exists(path):
            return False
        if output.endswith(".h5"):
            return self.run(["info", output], folder).code != 0
        with open(path, "rb") as f:
            return not (output.endswith(".html") and f.read().rstrip().endswith(b"</html>"))  # a page of what there is

    # ---- limits of memory ------------------------------------------------------------------------------------------

    def memory(self, count):
        verbs = self.VERBS
        folder = self.folder("limits")
        before = self.inputs(folder)
        for i in range(count):
            words = verbs[i * 7 % len(verbs)]
            limit = int((60 << 20) * (40 ** (i / max(count - 1, 1))))  # 60 MB to 2.4 GB
            outcome = self.run(words, folder, limits=[(resource.RLIMIT_AS, limit)])
            wrong = outcome.complaint()
            if outcome.code == 127 and "shared" in outcome.err:
                wrong = None  # the loader found no room for the program itself, and says so
            if not wrong and self.inputs(folder) != before:
                wrong = "changes its inputs"
            if wrong:
                self.find(f"limits of memory ({limit >> 10} kB)", wrong, outcome)
            self.clear(folder)
        self.counts["limits of memory"] = count
        print(f"torture: {count} limits of memory", flush=True)


def strip_times(value):
    if isinstance(value, dict):
        return {k: strip_times(v) for k, v in value.items() if not any(t in k for t in ("second", "wall", "cpu", "rate"))}
    if isinstance(value, list):
        return [strip_times(v) for v in value]
    return value


# ---- mutations -----------------------------------------------------------------------------------------------------

NUMBERS = [b"nan", b"inf", b"-1", b"0", b"1e308", b"1e-320", b"99999999999999999999", b"2147483648", b"1e9", b"!", b"[", b"{", b"*a", b"&a",
           b"\x1b[2J", b"\xc2\x9b", b"../../../etc/passwd", b"0x", b"''", b"- ", b": ", b"\n", b"\x00", b"1/0", b"sqrt(-1)"]
WIDE = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]


def mangle(path, original, chance):
    """Writes a corrupt copy and says what was done to it."""
    if path.endswith(".h5") and h5py and chance.random() < 0.4:
        with open(path, "wb") as f:
            f.write(original)
        return rebuild(path, chance)
    data = bytearray(original)
    if path.endswith(".h5") and chance.random() < 0.6:
        alter_part(data, chance)
        with open(path, "wb") as f:
            f.write(data)
        return "part with its checksum"
    ways = {"flip": flip, "truncate": truncate, "zero": zero, "number": number, "swap": swap, "double": double}
    names = [chance.choice(list(ways)) for _ in range(chance.choice((1, 1, 1, 2, 4)))]
    for name in names:
        if data:
            ways[name](data, chance, path.endswith((".h5", ".stl", ".bin")))
    with open(path, "wb") as f:
        f.write(data)
    return "+".join(names)


def place(data, chance, binary):
    """Half of the places of binary files are where the structure is: the beginning, and next to signatures."""
    if binary and chance.random() < 0.5:
        marks = [i for mark in (b"OHDR", b"TREE", b"HEAP", b"SNOD", b"FRHP", b"BTHD", b"BTLF", b"OCHK", b"FADB", b"EAHD", b"\x89HDF") for i in every(data, mark)]
        start = chance.choice(marks) if marks else 0
        return min(len(data) - 1, start + chance.randrange(96))
    return chance.randrange(len(data))


def every(data, mark):
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def flip(data, chance, binary):
    for _ in range(chance.choice((1, 1, 3, 16))):
        data[place(data, chance, binary)] ^= 1 << chance.randrange(8)


def truncate(data, chance, binary):
    del data[chance.randrange(len(data)):]


def zero(data, chance, binary):
    at = place(data, chance, binary)
    size = chance.choice((1, 8, 64, 512))
    data[at:at + size] = bytes([chance.choice((0, 255))]) * min(size, len(data) - at)


def number(data, chance, binary):
    at = place(data, chance, binary)
    if binary:
        size = chance.choice((1, 2, 4, 8))
        data[at:at + size] = (chance.choice(WIDE) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    else:
        end = at
        while end < len(data) and chr(data[end]).isalnum():
            end += 1
        data[at:max(end, at + 1)] = chance.choice(NUMBERS)


def swap(data, chance, binary):
    size = chance.choice((1, 4, 16, 64))
    a, b = place(data, chance, binary), place(data, chance, binary)
    part = data[a:a + size]
    data[a:a + size] = data[b:b + size]
    data[b:b + size] = part


def double(data, chance, binary):
    at = chance.randrange(len(data))
    part = data[at:at + chance.choice((4, 40, 400))]
    data[at:at] = part * chance.choice((1, 2, 50))


# Parts of HDF5's newer format end in a checksum, so that almost every flip in them is noticed at once. To get past that,
# the parts are found (a signature, and the length whose checksum follows) and get the checksum of what they became.

def lookup3(data):
    """Jenkins' hash of 2006, as HDF5 uses it."""
    def rot(x, k):
        return ((x << k) | (x >> (32 - k))) & 0xFFFFFFFF
    m = 0xFFFFFFFF
    a = b = c = (0xDEADBEEF + len(data)) & m
    at, left = 0, len(data)
    while left > 12:
        x, y, z = struct.unpack_from("<3I", data, at)
        a, b, c = (a + x) & m, (b + y) & m, (c + z) & m
        a = ((a - c) & m) ^ rot(c, 4); c = (c + b) & m
        b = ((b - a) & m) ^ rot(a, 6); a = (a + c) & m
        c = ((c - b) & m) ^ rot(b, 8); b = (b + a) & m
        a = ((a - c) & m) ^ rot(c, 16); c = (c + b) & m
        b = ((b - a) & m) ^ rot(a, 19); a = (a + c) & m
        c = ((c - b) & m) ^ rot(b, 4); b = (b + a) & m
        at, left = at + 12, left - 12
    if left == 0:
        return c
    x, y, z = struct.unpack("<3I", bytes(data[at:]).ljust(12, b"\0"))
    a, b, c = (a + x) & m, (b + y) & m, (c + z) & m
    c = ((c ^ b) - rot(b, 14)) & m
    a = ((a ^ c) - rot(c, 11)) & m
    b = ((b ^ a) - rot(a, 25)) & m
    c = ((c ^ b) - rot(b, 16)) & m
    a = ((a ^ c) - rot(c, 4)) & m
    b = ((b ^ a) - rot(a, 14)) & m
    return ((c ^ b) - rot(b, 24)) & m


PARTS = {}


def checked_parts(data):
    """(start, length) of the parts with a checksum."""
    key = hashlib.sha256(data).digest()
    if key not in PARTS:
        marks = (b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTLF", b"BTIN", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EADB", b"EASB", b"FSHD",
                 b"\x89HDF")
        starts = sorted(at for mark in marks for at in every(data, mark))
        ends = starts[1:] + [len(data)]
        found = []
        for start, end in zip(starts, ends):
            for length in range(8, min(end - start, 900) - 3):
                if lookup3(data[start:start + length]) == int.from_bytes(data[start + length:start + length + 4], "little"):
                    found.append((start, length))
                    break
        PARTS[key] = found
    return PARTS[key]


def alter_part(data, chance):
    parts = checked_parts(bytes(data))
    for _ in range(chance.choice((1, 1, 2))):
        start, length = chance.choice(parts)
        for _ in range(chance.choice((1, 1, 2, 4))):
            at = start + chance.randrange(4, length)
            if chance.random() < 0.5:
                data[at] ^= 1 << chance.randrange(8)
            else:
                size = min(chance.choice((1, 2, 4, 8)), start + length - at)
                data[at:at + size] = (chance.choice(WIDE) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        data[start + length:start + length + 4] = lookup3(data[start:start + length]).to_bytes(4, "little")


def rebuild(path, chance):
    """A file that HDF5 finds in order, with contents that contradict each other."""
    with h5py.File(path, "r+") as f:
        names = []
        f.visit(names.append)
        name = chance.choice(names)
        what = chance.choice(("delete", "shape", "type", "values", "attribute", "group", "huge", "link", "rename"))
        item = f[name]
        try:
            if what == "delete":
                del f[name]
            elif what == "rename":
                f.move(name, name + "x")
            elif what == "group":
                del f[name]
                f.create_group(name)
            elif what == "link":
                del f[name]
                f[name] = chance.choice((h5py.SoftLink("/" + name), h5py.ExternalLink("/etc/passwd", "/x"), h5py.SoftLink("/nowhere")))
            elif what == "attribute":
                holder = chance.choice([f, item])
                keys = list(holder.attrs)
                if keys:
                    key = chance.choice(keys)
                    value = chance.choice((-1, 0, 2**31 - 1, 2**62, float("nan"), 1e308, "\x1b[31mred", "x" * 5000, [1, 2, 3]))
                    del holder.attrs[key]
                    if chance.random() < 0.8:
                        holder.attrs[key] = value
            elif isinstance(item, h5py.Dataset):
                spoil(f, name, item, what, chance)
        except (ValueError, TypeError, OSError, KeyError, RuntimeError):
            pass  # what cannot be done to a file is not done
    return f"{what} {name}"


def spoil(f, name, item, what, chance):
    shape, kind, values = item.shape, item.dtype, item[()]
    if what == "values" and shape and item.size:
        flat = values.reshape(-1)
        for _ in range(chance.choice((1, 4))):
            at = chance.randrange(flat.size)
            if kind.kind == "f":
                flat[at] = chance.choice((float("nan"), float("inf"), -1, 0, 1e308, 1e-320))
            elif kind.kind in "iu":
                flat[at] = chance.choice((0, 1, 127, 2**31 - 1)) if kind.itemsize > 1 else 255
        item[...] = values
        return
    attributes = dict(item.attrs)
    del f[name]
    if what == "shape":
        new = tuple(max(0, n + chance.choice((-1, 1, 7, -n))) for n in shape) if chance.random() < 0.7 else shape + (2,)
        made = f.create_dataset(name, new, kind)
    elif what == "huge":
        new = (chance.choice((2**28, 2**40, 2**31)),) + shape[1:]
        made = f.create_dataset(name, new, kind, chunks=tuple(max(1, min(64, n)) for n in new), maxshape=(None,) + shape[1:])
    else:
        made = f.create_dataset(name, shape, chance.choice(("f4", "i1", "i8", "S3", "u2", h5py.string_dtype())))
    for key, value in attributes.items():
        made.attrs[key] = value


def main():
    parser = argparse.ArgumentParser()
    for name in ("carom", "saboteur"):
        parser.add_argument(name)
    for name in ("corrupt", "allocations", "late", "kills", "disks", "memory"):
        parser.add_argument("--" + name, type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--keep", default="torture-findings")
    t = Torture(parser.parse_args())
    try:
        for name in ("corrupt", "allocations", "late", "kills", "disks", "memory"):
            if getattr(t.a, name):
                getattr(t, name)(getattr(t.a, name))
    finally:
        t.pool.shutdown()
        shutil.rmtree(t.root, ignore_errors=True)
    print("torture: " + ", ".join(f"{n} {kind}" for kind, n in t.counts.items()) + f": {len(t.findings)} findings")
    return 1 if t.findings else 0


if __name__ == "__main__":
    sys.exit(main())
