"""GLB files: container, JSON, accessors within their views, meshes and animation as recorded."""
import json
import math
import os
import struct

import samples

WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
CODES = {5126: ("f", 4), 5125: ("I", 4)}


def read_container(data):
    magic, version, length = struct.unpack_from("<4sII", data)
    assert magic == b"glTF" and version == 2 and length == len(data) and length % 4 == 0
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and size % 4 == 0
    text = data[20:20 + size]
    binary_size, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert kind == b"BIN\0" and binary_size % 4 == 0 and 28 + size + binary_size == length
    return json.loads(text), data[28 + size:]


def read_accessor(scene, binary, index):
    accessor = scene["accessors"][index]
    view = scene["bufferViews"][accessor["bufferView"]]
    code, width = CODES[accessor["componentType"]]
    count, columns = accessor["count"], WIDTHS[accessor["type"]]
    offset = accessor.get("byteOffset", 0)
    assert count > 0 and offset % 4 == 0 and view["byteOffset"] % 4 == 0
    assert view.get("byteStride", columns * width) == columns * width
    assert offset + count * columns * width <= view["byteLength"]
    assert view["byteOffset"] + view["byteLength"] <= scene["buffers"][0]["byteLength"] == len(binary)
    flat = struct.unpack_from(f"<{count * columns}{code}", binary, view["byteOffset"] + offset)
    rows = [flat[i * columns:(i + 1) * columns] for i in range(count)]
    for bound, choose in (("min", min), ("max", max)):
        if bound in accessor:
            exact = [choose(column) for column in zip(*rows)]
            assert all(struct.unpack("<f", struct.pack("<f", a))[0] == b for a, b in zip(accessor[bound], exact))
    return rows


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def check_mesh(scene, binary, primitive):
    assert "min" in scene["accessors"][primitive["attributes"]["POSITION"]]
    position = read_accessor(scene, binary, primitive["attributes"]["POSITION"])
    normal = read_accessor(scene, binary, primitive["attributes"]["NORMAL"])
    index = [i for (i,) in read_accessor(scene, binary, primitive["indices"])]
    assert len(position) == len(normal) and len(index) % 3 == 0
    assert max(index) == len(position) - 1 and min(index) == 0
    assert all(abs(dot(n, n) - 1) < 1e-5 for n in normal)
    volume = 0
    for k in range(0, len(index), 3):
        a, b, c = (position[i] for i in index[k:k + 3])
        face = cross(sub(b, a), sub(c, a))
        assert all(dot(face, normal[i]) > 0 for i in index[k:k + 3])  # counter-clockwise seen from outside
        volume += dot(a, cross(b, c)) / 6
    assert 0 <= primitive["material"] < len(scene["materials"])
    return volume


def check_nodes(scene):
    nodes = scene["nodes"]
    assert scene["scenes"][scene["scene"]]["nodes"] == [0]
    parents = [child for node in nodes for child in node.get("children", [])]
    assert sorted(parents) == list(range(1, len(nodes)))  # one tree: every node but the root has one parent
    x, y, z, w = nodes[0]["rotation"]
    up = samples.rotate((w, x, y, z), (0, 0, 1))
    assert abs(up[1] - 1) < 1e-6
    assert [nodes[i]["name"] for i in nodes[0]["children"]] == ["ground", "box", 'ball, "red"', "pill", "hammer\n\u2692"]
    assert [len(nodes[i]["children"]) for i in nodes[0]["children"]] == [1, 1, 1, 1, 2]


def check_animation(scene, binary):
    animation, = scene["animations"]
    moved = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert sampler["interpolation"] == "LINEAR"
        assert {"min", "max"} <= set(scene["accessors"][sampler["input"]])
        times = [t for (t,) in read_accessor(scene, binary, sampler["input"])]
        values = read_accessor(scene, binary, sampler["output"])
        assert len(times) == len(values) == samples.FRAMES
        assert all(a < b for a, b in zip(times, times[1:])) and times[0] == 0
        body = channel["target"]["node"] - 1
        moved.setdefault(body, set()).add(channel["target"]["path"])
        for frame in range(samples.FRAMES):
            assert abs(times[frame] - samples.time(frame)) < 1e-6
            if channel["target"]["path"] == "translation":
                assert math.dist(values[frame], samples.position(frame, body)) < 1e-5
            else:
                x, y, z, w = values[frame]
                assert abs(abs(dot((w, x, y, z), samples.rotation(frame, body))) - 1) < 1e-6
                assert frame == 0 or dot(values[frame], values[frame - 1]) > 0.9
    assert moved == {b: {"translation", "rotation"} for b in range(1, samples.BODIES)}


def main():
    with samples.make() as folder:
        with open(os.path.join(folder, "motion.glb"), "rb") as file:
            scene, binary = read_container(file.read())
    assert scene["asset"]["version"] == "2.0"
    check_nodes(scene)
    volumes = [check_mesh(scene, binary, mesh["primitives"][0]) for mesh in scene["meshes"]]
    box, ball = 0.2 * 0.3 * 0.4, 4 / 3 * math.pi * 0.25 ** 3
    pill = math.pi * 0.01 * 0.6 + 4 / 3 * math.pi * 0.001
    assert sum(abs(v - box) < 1e-6 for v in volumes) == 2  # one for each colour
    assert sum(0.95 * ball < v < ball for v in volumes) == 1 and sum(0.95 * pill < v < pill for v in volumes) == 2
    colors = {m["name"]: m["pbrMetallicRoughness"]["baseColorFactor"] for m in scene["materials"]}
    assert len(colors) == samples.BODIES and abs(colors["#888888"][0] - 0.2462) < 1e-3  # linear, not sRGB
    check_animation(scene, binary)
    print("GLB file is sound")


main()
