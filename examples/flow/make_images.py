"""Makes A.png, B.png and truth.flo: a disc with a texture turns over a ground that drifts, under salt and pepper noise.
usage: make_images.py [FOLDER]   (needs python3-numpy and python3-pil)"""
import os
import sys

import numpy as np
from PIL import Image

SIDE, NOISE = 96, 0.05
random = np.random.default_rng(3)
waves = [[(random.normal(0, 0.3, 2), random.uniform(0, 6.3)) for _ in range(10)] for _ in range(2)]


def texture(k, x, y):
    return 0.5 + 0.065 * sum(np.sin(w[0] * x + w[1] * y + p) for w, p in waves[k])


def inside(x, y):
    return np.hypot(x - SIDE / 2, y - SIDE / 2) < 0.32 * SIDE


y, x = np.mgrid[0:SIDE, 0:SIDE].astype(float)
disc = inside(x, y)
angle, dx, dy = 0.03, x - SIDE / 2, y - SIDE / 2
back = np.cos(angle) * dx + np.sin(angle) * dy, -np.sin(angle) * dx + np.cos(angle) * dy  # where B's pixels were in A
A = np.where(disc, texture(1, dx, dy), texture(0, x, y))
B = np.where(disc, texture(1, *back), texture(0, x - 0.6, y + 0.3))
u = np.where(disc, np.cos(angle) * dx - np.sin(angle) * dy - dx, 0.6)
v = np.where(disc, np.sin(angle) * dx + np.cos(angle) * dy - dy, -0.3)

folder = sys.argv[1] if len(sys.argv) > 1 else "."
for name, image in (("A", A), ("B", B)):
    wild = random.random(image.shape) < NOISE
    image[wild] = random.random(wild.sum()) < 0.5
    Image.fromarray(np.clip(np.rint(255 * image), 0, 255).astype("u1")).save(os.path.join(folder, name + ".png"))
with open(os.path.join(folder, "truth.flo"), "wb") as f:
    f.write(b"PIEH")
    np.array([SIDE, SIDE], "<i4").tofile(f)
    np.stack([u, v], -1).astype("<f4").tofile(f)
