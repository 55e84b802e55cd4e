"""The command line as a user meets it. usage: cases.py CAROM EXAMPLES NAME   (NAME 'list' prints the cases)"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

CAROM, EXAMPLES = sys.argv[1], sys.argv[2]
SCENE = os.path.join(EXAMPLES, "charged-pair", "scene.yaml")
SHORT = ["--duration", "0.2"]


def carom(*words, code=0, **options):
    """Runs carom and checks its exit code."""
    done = subprocess.run([CAROM, *words], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == code, f"carom {' '.join(words)}: exit {done.returncode}, expected {code}\n{done.stdout}{done.stderr}"
    assert "AddressSanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done


def report(*words, **options):
    return json.loads(carom(*words, "--json", **options).stdout)


def endless(path="endless.yaml"):
    """A scene that runs for minutes and flushes often."""
    with open(path, "w") as f:
        f.write("carom: 1\nbodies:\n  - {name: b, shape: {box: [1, 1, 1]}, angular_velocity: [1, 2, 3], replicate: {count: 50}}\n"
                "integrator: {step: 1 ms}\nduration: 100000 s\noutput: {interval: 10 ms}\n")
    return path


def has_viewer():
    carom("run", SCENE, *SHORT, "-o", "probe.h5", "--force", "--quiet")
    done = subprocess.run([CAROM, "view", "probe.h5", "-q"], capture_output=True, text=True)
    return "built without" not in done.stderr and done.returncode == 0


def case_help_and_version():
    assert "usage: carom VERB" in carom("--help").stdout
    assert carom("--version").stdout.startswith("carom 0.")
    for verb in ("run", "check", "info", "view", "export", "demo"):
        text = carom(verb, "--help").stdout
        assert f"usage: carom {verb}" in text and "--help" in text, text
    assert "usage" in carom(code=2).stderr


def case_misspelt_words_are_answered():
    assert "did you mean 'check'" in carom("chekc", code=2).stderr
    assert "did you mean '--strict'" in carom("run", SCENE, "--strct", code=2).stderr
    assert "needs a value" in carom("run", SCENE, "--output", code=2).stderr
    assert "takes no value" in carom("run", SCENE, "--strict=yes", code=2).stderr
    assert "something is missing" in carom("run", code=2).stderr
    assert "unexpected 'b.yaml'" in carom("check", SCENE, "b.yaml", code=2).stderr
    assert "no format 'stl'" in carom("export", "x.h5", "--to", "stl", code=2).stderr
    assert "did you mean 'whirl'" in carom("demo", "wirl", code=2).stderr


def case_run_writes_a_result_and_a_verdict():
    done = carom("run", SCENE, *SHORT)
    assert "PASS" in done.stdout and "scene.h5" in done.stdout, done.stdout
    info = report("info", "scene.h5")
    assert info["complete"] and info["ending"] == "complete" and info["bodies"] == 2, info
    assert info["verdict"]["pass"] and info["command"].startswith("carom run "), info
    assert abs(info["last_time"] - 0.2) < 1e-12, info
    assert "carom: 1" in carom("info", "scene.h5", "--scene").stdout


def case_results_are_not_overwritten_unasked():
    carom("run", SCENE, *SHORT, "-q")
    before = open("scene.h5", "rb").read()
    assert "--force" in carom("run", SCENE, *SHORT, code=1).stderr
    assert open("scene.h5", "rb").read() == before
    carom("run", SCENE, *SHORT, "--force", "-q")


def case_strict_fails_with_3():
    tight = ["--set", "audit.energy=1e-30", "--no-output"]
    assert "FAIL" in carom("run", SCENE, *SHORT, *tight).stdout
    carom("run", SCENE, *SHORT, *tight, "--strict", code=3)
    carom("run", SCENE, *SHORT, "--no-output", "--strict")


def case_overrides_change_the_run():
    a = report("run", SCENE, "--no-output", "--set", "duration=0.1", "--set", "integrator.step=1 ms")
    assert a["steps"] == 100 and abs(a["time"] - 0.1) < 1e-12, a
    b = report("run", SCENE, "--no-output", "--duration", "0.1", "--step", "1ms")
    assert a["state_hash"] == b["state_hash"]
    c = report("run", SCENE, "--no-output", "--duration", "0.1", "--step", "1ms", "--set", "integrator.quadrature=midpoint")
    assert c["state_hash"] != b["state_hash"] and c["iterations"] > 2, c
    wrong = carom("run", SCENE, "--set", "integrator.stepp=1", "--no-output", code=2)
    assert "--set" in wrong.stderr and "step" in wrong.stderr, wrong.stderr


def case_runs_repeat_bit_for_bit():
    """The determinism hash: same scene, any number of threads, any number of times."""
    swarm = os.path.join(EXAMPLES, "swarm", "scene.yaml")
    hashes = {report("run", swarm, "--no-output", "--duration", "1", "-j", n)["state_hash"] for n in ("1", "2", "3", "1")}
    assert len(hashes) == 1, hashes
    other = report("run", swarm, "--no-output", "--duration", "1", "--set", "seed=8")["state_hash"]
    assert other not in hashes


def case_mistakes_in_scenes_give_2():
    with open("bad.yaml", "w") as f:
        f.write("carom: 1\nbodies:\n  - {name: a, shape: {box: [1, 1, 1]}, densty: 3}\n  - {name: b, mass: -1}\nduration: 1\n")
    done = carom("check", "bad.yaml", code=2)
    assert "bad.yaml:3:" in done.stderr and "did you mean 'density'" in done.stderr, done.stderr
    assert "bad.yaml:4:" in done.stderr, done.stderr
    carom("run", "bad.yaml", code=2)
    assert not os.path.exists("bad.h5")
    found = json.loads(carom("check", "bad.yaml", "--json", code=2).stdout)
    assert not found["ok"] and len(found["diagnostics"]) >= 2, found
    assert "missing.yaml" in carom("run", "missing.yaml", code=2).stderr


def case_check_summarises_a_good_scene():
    assert "no errors" in carom("check", SCENE).stdout
    with open("again.yaml", "w") as f:
        f.write(carom("check", SCENE, "--resolved").stdout)
    a = report("run", SCENE, "--no-output", *SHORT)
    assert report("run", "again.yaml", "--no-output", *SHORT)["state_hash"] == a["state_hash"]


def case_all_examples_pass_strictly():
    listing = carom("demo").stdout
    names = sorted(n for n in os.listdir(EXAMPLES) if os.path.exists(os.path.join(EXAMPLES, n, "scene.yaml")))
    assert names, EXAMPLES
    for name in names:
        assert name in listing and "(broken)" not in listing, listing
        assert carom("demo", "--print", name).stdout == open(os.path.join(EXAMPLES, name, "scene.yaml")).read()
        carom("run", os.path.join(EXAMPLES, name, "scene.yaml"), "--no-output", "--strict")


def case_exports():
    carom("run", SCENE, *SHORT, "-o", "r.h5", "-q")
    carom("export", "r.h5", "--to", "csv")
    assert open("r.csv").readline().startswith("time")
    carom("export", "r.h5", "--output", "x.glb", "-q")
    assert open("x.glb", "rb").read(4) == b"glTF"
    carom("export", "r.h5", "--to", "vtk", "-q")
    assert "VTKFile" in open("r.pvd").read()
    assert "which format" in carom("export", "r.h5", "-o", "x.foo", code=2).stderr
    assert carom("export", "no.h5", "--to", "csv", code=1).stderr.startswith("carom: ")
    with open("fake.h5", "w") as f:
        f.write("not HDF5")
    assert "fake.h5" in carom("info", "fake.h5", code=1).stderr


def case_a_killed_run_leaves_a_readable_file():
    scene = endless()
    for delay in (0.7, 2.5):
        child = subprocess.Popen([CAROM, "run", scene, "-o", "killed.h5", "--force"], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        child.kill()
        child.wait()
        info = report("info", "killed.h5")
        assert not info["complete"], info
        carom("export", "killed.h5", "--to", "csv", "-q")
    assert info["frames"] > 10 and info["last_time"] > 0, info
    lines = sum(1 for _ in open("killed.csv"))
    assert lines == 1 + info["frames"] * info["bodies"], (lines, info)
    if has_viewer():
        carom("view", "killed.h5", "-q")
        assert os.path.getsize("killed.html") > 100000


def case_interrupts_keep_what_was_done():
    scene = endless()
    child = subprocess.Popen([CAROM, "run", scene, "-o", "cut.h5"], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    text, _ = child.communicate(timeout=20)
    assert child.returncode == 130, child.returncode
    assert "interrupted at" in text and "verdict" in text, text
    info = report("info", "cut.h5")
    assert info["ending"] == "interrupted" and info["frames"] > 1 and not info["complete"], info


def case_a_full_disk_is_reported():
    scene = endless()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000))
    done = carom("run", scene, "-o", "full.h5", code=1, preexec_fn=limit)
    assert "full.h5" in done.stderr and "too large" in done.stderr and len(done.stderr) < 1000, done.stderr
    assert report("info", "full.h5")["frames"] >= 0
    assert "No such file" in carom("run", scene, "-o", "no/such/folder/x.h5", code=1).stderr


def case_a_failing_step_is_explained():
    with open("fast.yaml", "w") as f:
        f.write("carom: 1\nbodies:\n  - {name: dervish, shape: {box: [1, 2, 3]}, angular_velocity: [1e6, 1, 1]}\nduration: 1\n"
                "integrator: {step: 10 ms}\n")
    done = carom("run", "fast.yaml", code=1)
    assert "dervish" in done.stderr and "use a step below" in done.stderr, done.stderr
    assert report("info", "fast.h5")["ending"].startswith("failed: "), report("info", "fast.h5")


def case_view_makes_a_page():
    if not has_viewer():
        print("skipped: built without the replay page")
        sys.exit(77)
    carom("run", SCENE, *SHORT, "-o", "v.h5", "--view", "-q")
    page = open("v.html").read()
    assert page.count("<!--CAROM-REPLAY-->") == 0 and 'id="carom-data"' in page
    carom("view", "v.h5", "-o", "other.html")
    assert open("other.html").read() == page


def main():
    cases = {k[5:]: v for k, v in globals().items() if k.startswith("case_")}
    name = sys.argv[3]
    if name == "list":
        print("\n".join(cases))
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cases[name]()
        os.chdir("/")


main()
