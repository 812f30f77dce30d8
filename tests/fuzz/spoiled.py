"""Model folders with something changed in them."""

import json
import zipfile

from malformed import damaged, pick


def spoil_json(rng, value):
    """Return a JSON value with something in it lost, renamed or of another kind."""
    if rng.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return pick(rng, [None, -1, 10**30, 1.5, "x", "../x", [], {}, [1], {"name": 1}, True, "\ud800"])
    spoiled = value.copy()
    key = pick(rng, list(value)) if isinstance(value, dict) else int(rng.integers(len(value)))
    if rng.random() < 0.3:
        del spoiled[key]
    else:
        spoiled[key] = spoil_json(rng, value[key])
    return spoiled


def spoil_archive(rng, path):
    """Change one member of an archive."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = "schema.json" if rng.random() < 0.7 else pick(rng, list(members))
    if name == "schema.json" and rng.random() < 0.8:
        members[name] = json.dumps(spoil_json(rng, json.loads(members[name]))).encode()
    else:
        members[name] = damaged(rng, members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def spoil_model(rng, model):
    """Change a model folder, with the checksums made to fit half of the time."""
    from manyviews.io.files import checksum

    header = json.loads((model / "model.json").read_text(encoding="utf-8"))
    parts = {"model.skops": header} | ({"imputer.skops": header["imputer"]} if "imputer" in header else {})
    for file, described in parts.items():
        if rng.random() < 0.5:
            spoil_archive(rng, model / file)
        if rng.random() < 0.7:
            described["sha256"] = checksum(model / file)
    if rng.random() < 0.6:
        header = spoil_json(rng, header)
    text = json.dumps(header)
    (model / "model.json").write_bytes(damaged(rng, text.encode()) if rng.random() < 0.2 else text.encode())
