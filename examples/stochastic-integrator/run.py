"""Receding-horizon control of a trolley by `carom saa`: python3 run.py [CAROM]. Writes run.svg beside itself."""
import json
import os
import random
import subprocess
import sys

CAROM = sys.argv[1] if len(sys.argv) > 1 else "carom"
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, DT, NOISE = 32, 0.25, 0.25


def force(p, v, step):
    command = [CAROM, "saa", os.path.join(HERE, "problem.yaml"), "--scenarios", "40", "--first", "40", "--replications", "2",
               "--evaluate", "2", "--seed", str(step + 1), "--set", f"constants.p0={p:.9f}", "--set", f"constants.v0={v:.9f}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["x"][0]["value"]


def run(seed):
    chance, p, v, path = random.Random(seed), 2.0, 0.0, []
    for step in range(STEPS):
        u = force(p, v, step)
        path.append((step * DT, p, u))
        p, v = p + DT * v, v + DT * u + NOISE * DT**0.5 * chance.gauss(0, 1)
    return path


def polyline(points, x, y, color):
    text = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
    return f'<polyline points="{text}" fill="none" stroke="{color}" stroke-width="1.6"/>'


def draw(paths):
    x = lambda t: 50 + 70 * t
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" font-family="sans-serif" font-size="12">',
             '<rect width="640" height="360" fill="#fff"/>']
    for top, name, low, high, ticks, column in ((20, "position", -1, 2.5, (-1, 0, 1, 2), 1), (200, "force", -2.2, 2.2, (-2, 0, 2), 2)):
        y = lambda value: top + 130 * (high - value) / (high - low)
        for t in ticks:
            parts.append(f'<path d="M50 {y(t):.1f}H610" stroke="#dfe4ea"/><text x="44" y="{y(t) + 4:.1f}" text-anchor="end" fill="#5b6675">{t}</text>')
        parts.append(f'<text x="50" y="{top - 6}" font-weight="600">{name}</text>')
        for path, color in zip(paths, ("#0072b2", "#d55e00", "#009e73", "#cc79a7")):
            parts.append(polyline([(row[0], row[column]) for row in path], x, y, color))
    for t in range(0, 9, 2):
        parts.append(f'<text x="{x(t):.1f}" y="348" text-anchor="middle" fill="#5b6675">{t} s</text>')
    return "\n".join(parts + ["</svg>\n"])


if __name__ == "__main__":
    with open(os.path.join(HERE, "run.svg"), "w") as out:
        out.write(draw([run(seed) for seed in range(1, 5)]))
