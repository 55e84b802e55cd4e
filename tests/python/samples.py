"""Sample files for the checks beside this one, and the motion that tests/result_fixture.h put into them."""
import math
import subprocess
import sys
import tempfile

FRAMES = 120
BODIES = 5
SKIPPED = 77


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def make():
    """A temporary folder with complete.h5, killed.h5, motion.csv, motion.pvd and motion.glb; soft.h5, soft.pvd."""
    folder = tempfile.TemporaryDirectory()
    subprocess.run([sys.argv[1], folder.name], check=True)
    return folder


def time(frame):
    return 0.01 * frame


def position(frame, body):
    if body == 0:
        return (0.0, 0.0, 0.0)
    t, k = time(frame), body
    return (math.sin(3 * t + k), math.cos(2 * t) * k, 1 + 0.5 * t * t - 0.1 * k)


def rotation(frame, body):
    """(w, x, y, z)"""
    if body == 0:
        return (1.0, 0.0, 0.0, 0.0)
    axis, angle = (1, body, 2 - body), 4 * time(frame) + body
    norm = math.sqrt(sum(a * a for a in axis))
    return (math.cos(angle / 2),) + tuple(math.sin(angle / 2) * a / norm for a in axis)


def velocity(frame, body):
    if body == 0:
        return (0.0, 0.0, 0.0)
    t = time(frame)
    return (body + t, 2 * t - body, math.sin(5 * t + body))


def spin(frame, body):
    if body == 0:
        return (0.0, 0.0, 0.0)
    return (0.1 * frame, -1.5 * body, math.cos(frame + body))


def node(frame, rest):
    """Of a solid that deforms, as soft_node has it: the same operations in the same order."""
    t = time(frame)
    stretch, bend = 1 + 0.2 * math.sin(5 * t), 0.5 * math.sin(2 * t)
    x, y, z = rest
    return (x + 0.3 * t + bend * (z - 1) * (z - 1), y, 1 + (z - 1) * stretch - 0.5 * t * t)


def node_velocity(frame, i):
    t = time(frame)
    return (0.3, math.sin(t + i), -t)


def audit(frame, column):
    if column == 17:  # collisions are counted
        return 3 * frame
    return math.sin(frame + 0.25 * column) * (column + 1)


CHANNELS = [("hinge.angle", "rad"), ("hinge.rate", "rad/s"), ('grip, "left".fx', "N"), ("Körper.touches", "")]


def channel(frame, column):
    if column == 1 and frame % 5 == 4:
        return math.nan
    if column == 2 and frame % 7 == 3:
        return -math.inf
    return frame % 4 if column == 3 else math.sin(0.3 * frame + column)


def rotate(q, v):
    w, x, y, z = q
    u = (x, y, z)
    cross = lambda a, b: (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    t = [2 * c for c in cross(u, v)]
    s = cross(u, t)
    return tuple(v[i] + w * t[i] + s[i] for i in range(3))
