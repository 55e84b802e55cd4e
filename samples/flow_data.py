"""Images whose motion is known, and programs as `carom flow --mps` writes them."""
import numpy as np
from scipy.sparse import coo_matrix


def write_pgm(name, image, most=65535):
    values = np.clip(np.rint(image * most), 0, most).astype(">u2" if most > 255 else "u1")
    with open(name, "wb") as f:
        f.write(b"P5 %d %d %d\n" % (image.shape[1], image.shape[0], most) + values.tobytes())


def write_flo(name, u, v):
    with open(name, "wb") as f:
        f.write(b"PIEH")
        np.array([u.shape[1], u.shape[0]], "<i4").tofile(f)
        np.stack([u, v], -1).astype("<f4").tofile(f)


def images(width, height, seed, noise):
    """A texture and where it has moved to; `noise` of its pixels are black or white."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(float)
    waves = [(random.normal(0, 0.35, 2), random.uniform(0, 6.3)) for _ in range(10)]
    texture = lambda x, y: 0.5 + 0.05 * sum(np.sin(k[0] * x + k[1] * y + p) for k, p in waves)
    u, v = 0.4 - 0.02 * (y - height / 2), -0.2 + 0.02 * (x - width / 2)
    pair = [texture(x, y), texture(x - u, y - v)]
    for image in pair:
        wild = random.random(image.shape) < noise
        image[wild] = random.random(wild.sum()) < 0.5
    return pair, u, v


def read_mps(name):
    """Free MPS as `--mps` writes it: rows E, costs in obj."""
    rows, columns, entries, cost, right, free, part = {}, {}, [], {}, {}, set(), ""
    for line in open(name):
        words = line.split()
        if not line.startswith(" "):
            part = words[0]
        elif part == "ROWS" and words[0] == "E":
            rows[words[1]] = len(rows)
        elif part == "COLUMNS":
            j = columns.setdefault(words[0], len(columns))
            if words[1] == "obj":
                cost[j] = float(words[2])
            else:
                entries.append((rows[words[1]], j, float(words[2])))
        elif part == "RHS":
            right[rows[words[1]]] = float(words[2])
        elif part == "BOUNDS" and words[0] == "FR":
            free.add(columns[words[2]])
    i, j, value = zip(*entries)
    A = coo_matrix((value, (i, j)), shape=(len(rows), len(columns))).tocsr()
    c = np.array([cost.get(j, 0) for j in range(len(columns))])
    b = np.array([right.get(i, 0) for i in range(len(rows))])
    return c, A, b, [(None if j in free else 0, None) for j in range(len(columns))]
