"""VTK files: valid XML, arrays of the right length, points and velocities where the bodies are."""
import base64
import os
import struct
import xml.etree.ElementTree as xml

import samples

TYPES = {"Float32": ("f", 4), "Float64": ("d", 8), "Int32": ("i", 4), "UInt8": ("B", 1)}


def read_block(appended, offset, kind):
    """One block: its size in 64 bits, then the data, as one run of base64."""
    head = base64.b64decode(appended[offset:offset + 12])
    size = struct.unpack("<Q", head[:8])[0]
    length = -(-(8 + size) // 3) * 4
    data = base64.b64decode(appended[offset:offset + length], validate=True)[8:]
    assert len(data) == size
    code, width = TYPES[kind]
    return struct.unpack(f"<{size // width}{code}", data)


def read_piece(path, kind="PolyData", cells="NumberOfPolys"):
    root = xml.parse(path).getroot()
    assert root.attrib == {"type": kind, "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}
    piece = root.find(kind + "/Piece")
    text = root.find("AppendedData").text.strip()
    assert text[0] == "_" and root.find("AppendedData").attrib["encoding"] == "base64"
    arrays, used = {}, 0
    for array in piece.iter("DataArray"):
        offset = int(array.attrib["offset"])
        arrays[array.attrib["Name"]] = read_block(text[1:], offset, array.attrib["type"])
    time = float(root.find(kind + "/FieldData/DataArray").text)
    return time, int(piece.attrib["NumberOfPoints"]), int(piece.attrib[cells]), arrays


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def points_of(arrays, body):
    """Indices of the points that faces of a body use."""
    used, begin = set(), 0
    for face, end in enumerate(arrays["offsets"]):
        if arrays["body"][face] == body:
            used.update(arrays["connectivity"][begin:end])
        begin = end
    return sorted(used)


def check_frame(path, frame):
    time, points, faces, arrays = read_piece(path)
    assert time == samples.time(frame)
    assert len(arrays["points"]) == 3 * points == len(arrays["velocity"])
    assert len(arrays["offsets"]) == faces == len(arrays["body"])
    assert len(arrays["connectivity"]) == arrays["offsets"][-1]
    assert min(arrays["connectivity"]) == 0 and max(arrays["connectivity"]) == points - 1
    assert sorted(set(arrays["body"])) == list(range(samples.BODIES))
    point = lambda i: arrays["points"][3 * i:3 * i + 3]
    speed = lambda i: arrays["velocity"][3 * i:3 * i + 3]
    # The ball: all points at its radius, moving as those of a rigid body.
    center, v, w = (f(frame, 2) for f in (samples.position, samples.velocity, samples.spin))
    for i in points_of(arrays, 2):
        arm = [point(i)[k] - center[k] for k in range(3)]
        assert abs(sum(a * a for a in arm) ** 0.5 - 0.25) < 1e-6
        turned = cross(w, arm)
        assert all(abs(speed(i)[k] - v[k] - turned[k]) < 1e-4 * (1 + abs(w[0])) for k in range(3))
    # The box: its corners are those of the part at (0.05, 0, 0), turned and moved.
    corners = sorted(tuple(round(c, 4) for c in point(i)) for i in points_of(arrays, 1))
    expected = []
    for x in (-0.05, 0.15):
        for y in (-0.15, 0.15):
            for z in (-0.2, 0.2):
                r = samples.rotate(samples.rotation(frame, 1), (x, y, z))
                expected.append(tuple(r[k] + samples.position(frame, 1)[k] for k in range(3)))
    for corner in expected:
        assert min(max(abs(corner[k] - c[k]) for k in range(3)) for c in corners) < 2e-4
    # The ground: a square at z = 0 under everything.
    ground = [point(i) for i in points_of(arrays, 0)]
    assert len(ground) == 4 and all(abs(p[2]) < 1e-6 for p in ground)
    assert max(abs(c) for c in arrays["points"]) <= max(p[0] for p in ground) + 1e-6


def check_solids(path, frame, first):
    """Tetrahedra of two solids; `first` has the nodes at time 0, where they are at rest."""
    time, points, cells, arrays = read_piece(path, "UnstructuredGrid", "NumberOfCells")
    assert time == samples.time(frame)
    assert len(arrays["points"]) == 3 * points == len(arrays["velocity"]) and len(arrays["connectivity"]) == 4 * cells
    assert list(arrays["offsets"]) == list(range(4, 4 * cells + 1, 4)) and set(arrays["types"]) == {10}
    assert sorted(set(arrays["solid"])) == [0, 1] and list(arrays["solid"]) == sorted(arrays["solid"])
    assert len(arrays["von_mises"]) == cells and min(arrays["von_mises"]) >= 0
    assert sorted(set(arrays["connectivity"])) == list(range(points))
    for i in range(points):
        assert arrays["velocity"][3 * i:3 * i + 3] == samples.node_velocity(frame, i)
        expected = samples.node(frame, first[3 * i:3 * i + 3])
        assert all(abs(a - b) < 1e-15 for a, b in zip(arrays["points"][3 * i:3 * i + 3], expected))
    if frame == 30:
        assert max(arrays["von_mises"]) > 1000  # stretched by a fifth


def check_soft(folder):
    sets = xml.parse(os.path.join(folder, "soft.pvd")).getroot().findall("Collection/DataSet")
    assert len(sets) == 2 * samples.FRAMES
    path = lambda entry: os.path.join(folder, entry.attrib["file"])
    first = read_piece(path(sets[1]), "UnstructuredGrid", "NumberOfCells")[3]["points"]
    for i, entry in enumerate(sets):
        assert float(entry.attrib["timestep"]) == samples.time(i // 2) and entry.attrib["part"] == str(i % 2)
        assert entry.attrib["file"].endswith((".vtp", ".vtu")[i % 2]) and os.path.exists(path(entry))
        if i % 20 == 1:
            check_solids(path(entry), i // 2, first)


def main():
    with samples.make() as folder:
        collection = xml.parse(os.path.join(folder, "motion.pvd")).getroot()
        sets = collection.findall("Collection/DataSet")
        assert collection.attrib["type"] == "Collection" and len(sets) == samples.FRAMES
        for frame, entry in enumerate(sets):
            assert float(entry.attrib["timestep"]) == samples.time(frame)
            path = os.path.join(folder, entry.attrib["file"])
            assert os.path.exists(path)
            if frame % 17 == 0:
                check_frame(path, frame)
        check_soft(folder)
    print("VTK files are sound")


main()
