"""Flow against other programs: images that Pillow wrote are read as it sees them, and the linear program has the value
that HiGHS finds. usage: check_flow.py CAROM"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
try:
    import numpy as np
    from scipy.optimize import linprog
    from flow_data import images, read_mps, write_flo, write_pgm
except ImportError as missing:
    print(f"check_flow: SKIPPED, {missing} (Debian: python3-scipy)", file=sys.stderr)
    sys.exit(77)

CAROM = sys.argv[1]


def flow(*words):
    done = subprocess.run([CAROM, "flow", *words, "--json"], capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_values():
    for width, height, seed, noise, words in ((8, 8, 1, 0, []), (13, 7, 2, 0.1, ["--smoothness", "5"]), (16, 16, 3, 0, ["-l", "0.02"]),
                                              (24, 20, 4, 0.1, ["-l", "0.3"]), (2, 2, 5, 0, []), (20, 20, 6, 0.1, ["--stencil", "2"]),
                                              (32, 32, 7, 0.05, [])):
        (A, B), _, _ = images(width, height, seed, noise)
        write_pgm("A.pgm", A), write_pgm("B.pgm", B)
        said = flow("A.pgm", "B.pgm", "--levels", "1", "--warps", "1", "--mps", "flow.mps", "--force", *words)
        c, E, e, bounds = read_mps("flow.mps")
        highs = linprog(c, A_eq=E, b_eq=e, bounds=bounds, method="highs")
        assert highs.status == 0, highs.message
        apart = abs(said["primal"] - highs.fun)
        print(f"{width} x {height}: {said['primal']:.10g}, HiGHS {highs.fun:.10g}, apart {apart:.1e}, gap {said['gap']:.1e}")
        assert apart <= 1e-7 * max(1, highs.fun), (said, highs.fun)
        assert 0 <= said["gap"] < 1e-8 and said["dual"] <= highs.fun + 1e-8


def check_pictures():
    try:
        from PIL import Image
    except ImportError:
        print("check_flow: pictures SKIPPED, no Pillow (Debian: python3-pil)", file=sys.stderr)
        return
    random = np.random.default_rng(1)
    grey, colour = random.integers(0, 256, (9, 14), "u1"), random.integers(0, 256, (9, 14, 4), "u1")
    kinds = {"grey": Image.fromarray(grey), "colour": Image.fromarray(colour[:, :, :3], "RGB"), "clear": Image.fromarray(colour, "RGBA"),
             "palette": Image.fromarray(colour[:, :, :3], "RGB").quantize(16), "bits": Image.fromarray(grey > 99),
             "deep": Image.fromarray(grey.astype("i4") * 257)}
    for name, image in kinds.items():
        image.save(name + ".png")
        samples = np.asarray(image.convert("RGBA") if name in ("colour", "clear", "palette") else image).astype(float)
        if samples.ndim == 3:
            seen = samples[:, :, :3] @ [0.299, 0.587, 0.114] * samples[:, :, 3] / 255 ** 2
        else:
            seen = samples / {"grey": 255, "bits": 1, "deep": 65535}[name]
        write_pgm("as.pgm", seen)
        said = flow(name + ".png", "as.pgm", "--levels", "1", "--warps", "1", "--impulses", "0", "-l", "10")
        # Two images that are the same leave nothing to explain, but for rounding to 16 bits.
        assert said["primal"] < 14 * 9 * 2e-5, (name, said["primal"])


def check_truth_and_colours():
    (A, B), u, v = images(32, 24, 9, 0)
    write_pgm("A.pgm", A), write_pgm("B.pgm", B), write_flo("T.flo", u, v)
    said = flow("A.pgm", "B.pgm", "--truth", "T.flo", "-o", "F.flo", "-p", "F.png", "--force")
    found = np.fromfile("F.flo", "<f4", offset=12).reshape(24, 32, 2)
    away = np.hypot(found[:, :, 0] - u, found[:, :, 1] - v).mean()
    assert abs(away - said["error"]["end_point"]) < 1e-6 and away < 0.2, (away, said["error"])
    with open("F.png", "rb") as f:
        assert f.read(8) == b"\x89PNG\r\n\x1a\n"


with tempfile.TemporaryDirectory() as folder:
    CAROM = os.path.abspath(CAROM)
    os.chdir(folder)
    check_values(), check_pictures(), check_truth_and_colours()
