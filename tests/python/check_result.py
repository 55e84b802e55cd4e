"""Result files as h5py and NumPy see them: every dataset, its shape, type, unit and description."""
import os
import subprocess
import shutil
import sys

import samples

try:
    import h5py
    import numpy as np
except ImportError as missing:
    samples.skip(f"{missing.name} is missing (apt install python3-h5py)")

B, P, S, F, C = samples.BODIES, 6, 4, samples.FRAMES, len(samples.CHANNELS)
AUDIT = ["kinetic", "potential", "energy", "work", "energy_error", "momentum_x", "momentum_y", "momentum_z",
         "momentum_error", "angular_momentum_x", "angular_momentum_y", "angular_momentum_z", "angular_momentum_error",
         "restitution_loss", "friction_loss", "projection_energy", "projection_angular_momentum", "collisions",
         "penetration", "complementarity", "constraint"]
AUDIT_UNITS = ["J"] * 4 + ["1"] + ["kg m/s"] * 3 + ["1"] + ["kg m2/s"] * 3 + ["1"] + ["J"] * 3 + ["kg m2/s", "1", "m", "1", "m"]


def layout(frames, verdicts):
    """path -> (shape, kind of type, unit)"""
    table = {
        "scene/source": ((), "S", "1"), "scene/resolved": ((), "S", "1"),
        "bodies/name": ((B,), "S", "1"), "bodies/mass": ((B,), "f", "kg"), "bodies/fixed": ((B,), "u", "1"),
        "bodies/color": ((B,), "u", "1"), "bodies/center": ((B, 3), "f", "m"),
        "bodies/inertia": ((B, 3, 3), "f", "kg m2"), "bodies/part_start": ((B,), "i", "1"),
        "bodies/part_count": ((B,), "i", "1"),
        "parts/shape": ((P,), "i", "1"), "parts/position": ((P, 3), "f", "m"), "parts/orientation": ((P, 4), "f", "1"),
        "shapes/kind": ((S,), "S", "1"), "shapes/radius": ((S,), "f", "m"), "shapes/half_length": ((S,), "f", "m"),
        "shapes/half_axes": ((S, 3), "f", "m"),
        "shapes/vertex_start": ((S + 1,), "i", "1"), "shapes/face_start": ((S + 1,), "i", "1"),
        "shapes/vertices": ((8, 3), "f", "m"), "shapes/face_vertex_start": ((7,), "i", "1"),
        "shapes/face_vertices": ((24,), "i", "1"),
        "trajectory/time": ((frames,), "f", "s"), "trajectory/position": ((frames, B, 3), "f", "m"),
        "trajectory/orientation": ((frames, B, 4), "f", "1"), "trajectory/velocity": ((frames, B, 3), "f", "m/s"),
        "trajectory/angular_velocity": ((frames, B, 3), "f", "rad/s"),
        "channels/name": ((C,), "S", "1"), "channels/unit": ((C,), "S", "1"),
        "channels/value": ((frames, C), "f", "see /channels/unit"),
        "events/time": ((2 * frames,), "f", "s"), "events/kind": ((2 * frames,), "u", "1"),
        "events/body": ((2 * frames, 2), "i", "1"), "events/point": ((2 * frames, 3), "f", "m"),
        "events/normal": ((2 * frames, 3), "f", "1"), "events/impulse": ((2 * frames, 3), "f", "N s"),
        "events/mode": ((2 * frames,), "u", "1"),
        "checkpoint/meta": ((2, 3), "i", "1"), "checkpoint/place_0": ((0,), "u", "1"),
        "checkpoint/place_1": ((0,), "u", "1"),
        "run/ending": ((), "S", "1"),
        "run/verdict/key": ((verdicts,), "S", "1"), "run/verdict/label": ((verdicts,), "S", "1"),
        "run/verdict/note": ((verdicts,), "S", "1"), "run/verdict/where": ((verdicts,), "S", "1"), "run/verdict/value": ((verdicts,), "f", "1"),
        "run/verdict/bound": ((verdicts,), "f", "1"), "run/verdict/pass": ((verdicts,), "u", "1"),
    }
    table.update({f"audit/{key}": ((frames,), "f", unit) for key, unit in zip(AUDIT, AUDIT_UNITS)})
    return table


def check_layout(file, frames, verdicts):
    found = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    expected = layout(frames, verdicts)
    assert set(found) == set(expected), set(found) ^ set(expected)
    for name, (shape, kind, unit) in expected.items():
        data = found[name]
        assert data.shape == shape, (name, data.shape, shape)
        assert data.dtype.kind == kind, (name, data.dtype)
        assert data.attrs["units"].decode() == unit, (name, data.attrs["units"])
        assert len(data.attrs["description"]) > 5, name
        data[()]  # readable
    series = ["trajectory/" + name for name in ["position", "orientation", "velocity", "angular_velocity", "time"]]
    for name in series + ["channels/value"]:
        data = found[name]
        assert data.compression == "gzip" and data.shuffle and data.maxshape[0] is None, name


def check_motion(file, frames):
    q = file["trajectory/orientation"][:]
    assert np.allclose(np.linalg.norm(q, axis=2), 1, atol=1e-12)
    for f in range(0, frames, 7):
        assert file["trajectory/time"][f] == samples.time(f)
        for b in range(B):
            assert np.allclose(file["trajectory/position"][f, b], samples.position(f, b), atol=1e-12)
            assert abs(abs(np.dot(q[f, b], samples.rotation(f, b))) - 1) < 1e-12
            assert np.allclose(file["trajectory/velocity"][f, b], samples.velocity(f, b), atol=1e-11)
            assert np.allclose(file["trajectory/angular_velocity"][f, b], samples.spin(f, b), atol=1e-9)
        for c, key in enumerate(AUDIT):
            assert abs(file["audit/" + key][f] - samples.audit(f, c)) < 1e-12


def check_channels(file, frames):
    text = lambda name: [t.decode() for t in file["channels/" + name]]
    assert list(zip(text("name"), text("unit"))) == samples.CHANNELS
    expected = [[samples.channel(f, c) for c in range(C)] for f in range(frames)]
    assert np.allclose(file["channels/value"][:], expected, rtol=1e-15, atol=1e-15, equal_nan=True)


def check_events(file, frames):
    times, normals = file["events/time"][:], file["events/normal"][:]
    assert (np.diff(times) > 0).all() and np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-15)
    for i in range(0, 2 * frames, 5):
        assert file["events/kind"][i] == i % 4
        assert np.allclose(file["events/point"][i], (0.1 * i, -1, 0.5), atol=1e-15)
        assert np.array_equal(file["events/impulse"][i], (i, 0.25, -0.125 * i))


def check_attributes(file):
    text = lambda name: file.attrs[name].decode()
    assert text("format") == "carom-result" and file.attrs["format_version"] == 1
    assert text("title").startswith("Fünf Körper")
    assert text("created").endswith("Z") and text("host") == "testhost" and text("integrator") == "variational"
    assert file.attrs["seed"] == 0xFEDCBA9876543210
    assert file.attrs["step"] == 1e-3 and file.attrs["duration"] == 2
    assert list(file.attrs["camera_position"]) == [4, -3, 2]


def check_bodies(file):
    names = [name.decode() for name in file["bodies/name"]]
    assert names == ["ground", "box", 'ball, "red"', "pill", "hammer\n\u2692"], names
    assert list(file["shapes/kind"]) == [b"halfspace", b"polytope", b"sphere", b"capsule"]
    assert np.isinf(file["bodies/mass"][0]) and abs(file["bodies/mass"][1] - 12) < 1e-12
    inertia = file["bodies/inertia"][1:]
    assert np.allclose(inertia, np.swapaxes(inertia, 1, 2)) and (np.linalg.eigvalsh(inertia) > 0).all()
    # Euler: corners of all faces are twice the edges, V - E + F = 2; every face lies on the outside of the box.
    starts, corners, vertices = (file["shapes/" + n][:] for n in ["face_vertex_start", "face_vertices", "vertices"])
    assert len(vertices) - len(corners) // 2 + len(starts) - 1 == 2
    for f in range(len(starts) - 1):
        a, b, c = vertices[corners[starts[f]:starts[f + 1]]][:3]
        normal = np.cross(b - a, c - b)
        assert (np.dot(vertices - a, normal) <= 1e-12).all()


def von_mises(F):
    """Of the neo-Hookean law, without damping; F (..., 3, 3)."""
    lam, mu = 6e4, 4e4
    J = np.linalg.det(F)[..., None, None]
    sigma = (mu * (F @ np.swapaxes(F, -1, -2) - np.eye(3)) + lam * np.log(J) * np.eye(3)) / J
    deviator = sigma - np.trace(sigma, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
    return np.sqrt(1.5 * (deviator ** 2).sum(axis=(-2, -1)))


def check_solids(file):
    """Nodes bit for bit, and energies and stresses by formulas of our own."""
    rest, tets, skin = (file["solids/" + n][:] for n in ["rest", "tets", "skin"])
    x, v = file["trajectory/node_position"], file["trajectory/node_velocity"]
    N, T = len(rest), len(tets)
    assert x.shape == v.shape == (F, N, 3) and x.dtype == np.float64
    assert file["trajectory/von_mises"].shape == (F, T) and file["trajectory/von_mises"].dtype == np.float32
    assert file["trajectory/elastic_energy"].shape == file["trajectory/least_J"].shape == (F, 2)
    assert [n.decode() for n in file["solids/name"]] == ["soft ball", 'bar, "long"']
    assert list(file["solids/law"]) == [b"neo-hooke"] * 2
    for name in ["node_position", "node_velocity", "von_mises", "elastic_energy", "least_J"]:
        assert len(file["trajectory/" + name].attrs["description"]) > 5 and file["trajectory/" + name].maxshape[0] is None
    edges = lambda p: np.stack([p[tets[:, k]] - p[tets[:, 0]] for k in (1, 2, 3)], axis=-1)
    D = edges(rest)
    volumes = np.linalg.det(D) / 6
    assert (volumes > 0).all()
    masses = np.zeros(N)
    np.add.at(masses, tets.ravel(), np.repeat(1000 * volumes / 4, 4))
    assert np.allclose(file["solids/node_mass"], masses, rtol=1e-13)
    a, b, c = (rest[skin[:, k]] for k in range(3))  # closed, and seen from outside: the volume inside is that of the tets
    assert np.isclose((np.cross(a, b) * c).sum() / 6, volumes.sum(), rtol=1e-12)
    for f in range(0, F, 13):
        assert np.array_equal(x[f], [samples.node(f, rest[i]) for i in range(N)])
        assert np.array_equal(v[f], [samples.node_velocity(f, i) for i in range(N)])
        G = edges(x[f]) @ np.linalg.inv(D)
        J = np.linalg.det(G)
        W = 2e4 * ((G ** 2).sum(axis=(1, 2)) - 3) - 4e4 * np.log(J) + 3e4 * np.log(J) ** 2
        for s in range(2):
            own = slice(file["solids/tet_start"][s], file["solids/tet_start"][s] + file["solids/tet_count"][s])
            assert np.isclose(file["trajectory/elastic_energy"][f, s], (volumes * W)[own].sum(), rtol=1e-9, atol=1e-12)
            assert np.isclose(file["trajectory/least_J"][f, s], J[own].min(), rtol=1e-12)
        # Damping adds to the stress what its small constant allows.
        assert np.allclose(file["trajectory/von_mises"][f], von_mises(G), rtol=1e-4, atol=600)


def check_killed(path):
    try:
        h5py.File(path, "r").close()
        raise AssertionError("a killed file opened as if it were closed")
    except OSError:
        pass
    with h5py.File(path, "r", swmr=True) as file:
        check_layout(file, 40, 0)
        check_motion(file, 40)
        check_channels(file, 40)
        assert file["run/ending"][()] == b"unfinished"
    if shutil.which("h5clear"):
        subprocess.run(["h5clear", "-s", "--increment=0", path], check=True)
        with h5py.File(path, "r") as file:
            check_motion(file, 40)
    else:
        print("h5clear is not installed (apt install hdf5-tools): that way was not checked")


def main():
    with samples.make() as folder:
        with h5py.File(os.path.join(folder, "complete.h5"), "r") as file:
            check_layout(file, F, 2)
            check_attributes(file)
            check_bodies(file)
            check_motion(file, F)
            check_channels(file, F)
            check_events(file, F)
            assert file["run/ending"][()] == b"complete"
            assert list(file["run/verdict/pass"]) == [1, 0]
        with h5py.File(os.path.join(folder, "soft.h5"), "r") as file:
            check_solids(file)
        check_killed(os.path.join(folder, "killed.h5"))
    print("result files are as documented")


main()
