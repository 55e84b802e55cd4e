#!/usr/bin/env python3
"""Writes satellite.msh: a hollow box with four pins on its left and four conical holes in its right side, all one piece,
in tetrahedra that share their faces. Lengths in metres.   usage: python3 mesh.py > satellite.msh

Cells are boxes, and around pins and holes wedges and rings of eight. A cell is cut from its node of least rank, and so is
every side of it: two cells that share a side cut it alike (Dompierre and others 1999). Ranks are the same in all four
quarters, so that the mesh mirrors at y = 0 and z = 0."""
import math

DEPTH, WIDTH, WALL = 0.10, 0.20, 0.02   # of the box along x; along y and z; of its walls
APART = 0.08                            # of neighbouring pins
HOLE, MOUTH = 0.024, 0.030              # radii of a hole inside and outside
BULGE = 1.10 * HOLE                     # the widest part of a pin: ten percent wider than the hole
CUFF, COLLAR = 0.034, 0.010             # radius and thickness of what stops the other body's shell: wider than the mouth
SHAFT, NECK = 0.0215, 1.05 * WALL        # radius, and length from cuff to bulge: the shell and five percent
SHOULDER, NOSE, TIP = 0.006, 0.034, 0.014   # lengths from the neck to the widest place and on to the tip; its radius
THROUGH = 2                             # cells through a wall that has pins or holes

HALF = APART / 2
LINES = [-WIDTH / 2, -WIDTH / 2 + WALL, -HALF, 0, HALF, WIDTH / 2 - WALL, WIDTH / 2]   # along y and z
assert abs(WIDTH / 2 - WALL - APART) < 1e-12
EIGHT = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]

nodes, cells = {}, []


def node(x, y, z):
    key = tuple(round(c, 9) + 0.0 for c in (x, y, z))
    return nodes.setdefault(key, key)


def prism(low, high):
    """A cell between two polygons of three or four points."""
    cells.append((tuple(node(*p) for p in low), tuple(node(*p) for p in high)))


def around(x, y, z, r, k):
    """Point k of eight around an axis along x; r is a radius or, less than 0, half the side of a square."""
    a, b = EIGHT[k % 8]
    s = -r if r < 0 else r / math.hypot(a, b)
    return (x, y + s * a, z + s * b)


def ring(y, z, low, high):
    """Eight cells between x0 with radii (inside, outside) and x1 with such radii."""
    (x0, p0, q0), (x1, p1, q1) = low, high
    for k in range(8):
        face = lambda x, p, q: [around(x, y, z, p, k), around(x, y, z, q, k), around(x, y, z, q, k + 1), around(x, y, z, p, k + 1)]
        prism(face(x0, p0, q0), face(x1, p1, q1))


def disc(y, z, low, high):
    (x0, r0), (x1, r1) = low, high
    for k in range(8):
        face = lambda x, r: [(x, y, z), around(x, y, z, r, k), around(x, y, z, r, k + 1)]
        prism(face(x0, r0), face(x1, r1))


def layers(a, b, count):
    return [(a + (b - a) * i / count, a + (b - a) * (i + 1) / count) for i in range(count)]


def box_cells():
    """What is neither pin nor hole: the frame of side walls, and the rims of the two plates."""
    inner = DEPTH / 2 - WALL
    spans = layers(-DEPTH / 2, -inner, THROUGH) + layers(-inner, inner, 2) + layers(inner, DEPTH / 2, THROUGH)
    for x0, x1 in spans:
        for i in range(6):
            for j in range(6):
                if 0 < i < 5 and 0 < j < 5:
                    continue
                square = [(LINES[i], LINES[j]), (LINES[i + 1], LINES[j]), (LINES[i + 1], LINES[j + 1]), (LINES[i], LINES[j + 1])]
                prism([(x0, *p) for p in square], [(x1, *p) for p in square])


def hole_cells(y, z):
    inside, outside = DEPTH / 2 - WALL, DEPTH / 2
    radius = lambda x: HOLE + (MOUTH - HOLE) * (x - inside) / WALL
    for x0, x1 in layers(inside, outside, THROUGH):
        ring(y, z, (x0, radius(x0), -HALF), (x1, radius(x1), -HALF))


def pin_cells(y, z):
    face = -DEPTH / 2
    for x0, x1 in layers(face + WALL, face, THROUGH):
        disc(y, z, (x0, SHAFT), (x1, SHAFT))
        ring(y, z, (x0, SHAFT, CUFF), (x1, SHAFT, CUFF))
        ring(y, z, (x0, CUFF, -HALF), (x1, CUFF, -HALF))
    x = face - COLLAR
    disc(y, z, (face, SHAFT), (x, SHAFT))
    ring(y, z, (face, SHAFT, CUFF), (x, SHAFT, CUFF))
    for length, r0, r1, count in ((NECK, SHAFT, SHAFT, 2), (SHOULDER, SHAFT, BULGE, 1), (NOSE, BULGE, TIP, 3)):
        for s0, s1 in layers(0, 1, count):
            disc(y, z, (x - length * s0, r0 + (r1 - r0) * s0), (x - length * s1, r0 + (r1 - r0) * s1))
        x -= length


def sides_of(low, high):
    """Of a prism, each in order around."""
    n = len(low)
    return [low, high] + [(low[i], low[(i + 1) % n], high[(i + 1) % n], high[i]) for i in range(n)]


def cut_side(side, rank):
    if len(side) == 3:
        return [side]
    k = min(range(4), key=lambda i: rank[side[i]])
    a, b, c, d = (side[(k + i) % 4] for i in range(4))
    return [(a, b, c), (a, c, d)]


def volume(a, b, c, d):
    p, q, r = ([v - w for v, w in zip(x, a)] for x in (b, c, d))
    return (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) + p[2] * (q[0] * r[1] - q[1] * r[0])) / 6


def cut(cell, rank):
    """The sides that do not have the cell's first node, each joined with it."""
    first = min(cell[0] + cell[1], key=lambda p: rank[p])
    for side in sides_of(*cell):
        if first in side:
            continue
        for a, b, c in cut_side(side, rank):
            yield (first, a, b, c) if volume(first, a, b, c) > 0 else (first, a, c, b)


def main():
    box_cells()
    for y in (-HALF, HALF):
        for z in (-HALF, HALF):
            hole_cells(y, z)
            pin_cells(y, z)
    # In three steps around each pin, then by the place in the quarter.
    order = sorted(nodes, key=lambda p: (round(abs(p[1]) + abs(p[2]), 7), round(abs(p[1]), 7), p[0], p))
    rank = {p: i for i, p in enumerate(order)}
    tets = [t for cell in cells for t in cut(cell, rank)]
    print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d" % len(order))
    for i, p in enumerate(order):
        print(i + 1, *("%.9g" % c for c in p))
    print("$EndNodes\n$Elements\n%d" % len(tets))
    for i, t in enumerate(tets):
        print(i + 1, 4, 2, 1, 1, *(rank[p] + 1 for p in t))
    print("$EndElements")


main()
