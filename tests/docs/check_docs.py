"""The documentation against the tree: what it names is there, what it quotes is so, and modules keep the order it draws.

usage: check_docs.py <root of the project> <case>
"""
import glob
import os
import re
import sys

MODULE_FILE = r"`((?:base|math|solve|geometry|solid|collide|model|mechanics|contact|impact|step|control|scene|result|export|sweep|cli)" \
              r"/[a-z0-9_/]+\.[ch])`"
TREE_FILE = r"`((?:src|include|tests|bench|samples|scripts|examples|docs|cmake)/[A-Za-z0-9_./-]+)`"


def read(root, path):
    with open(os.path.join(root, path)) as f:
        return f.read()


def pages(root):
    found = [*glob.glob(os.path.join(root, "docs", "*.md")), *(os.path.join(root, n) for n in ("README.md", "CONTRIBUTING.md"))]
    return sorted(os.path.relpath(p, root) for p in found)


def missing(root, pattern, place):
    """Names in the pages that `place` (page, name) finds no file for."""
    bad, count = [], 0
    for page in pages(root):
        for name in re.findall(pattern, read(root, page)):
            count += 1
            if not os.path.exists(os.path.join(root, place(page, name))):
                bad.append(f"{page}: no {name}")
    assert count > 10, f"only {count} names were found: is the pattern right?"
    return bad


def case_files_that_are_named_are_there(root):
    return missing(root, TREE_FILE, lambda page, name: name) + missing(root, MODULE_FILE, lambda page, name: "src/" + name)


def case_links_lead_somewhere(root):
    local = r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)"
    return missing(root, local, lambda page, name: os.path.join(os.path.dirname(page), name))


def lines_of(text):
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def case_the_page_on_integrators_quotes_the_toy(root):
    toy = lines_of(read(root, "tests/toy/penalty.c")) + "\n" + lines_of(read(root, "tests/toy/test_toy.c"))
    blocks = re.findall(r"```c\n(.*?)```", read(root, "docs/add-an-integrator.md"), re.S)
    assert len(blocks) >= 10, "where are the pieces of code?"
    return [f"not in tests/toy:\n{b}" for b in blocks if lines_of(b) not in toy]


# ---- modules ---------------------------------------------------------------------------------------------------------

def modules(root):
    """Rank of every module, and the module of every public header, by the table of docs/architecture.md."""
    rank, owner = {}, {}
    for name, headers in re.findall(r"^\| `src/(\w+)` \|[^|]*\|([^|]*)\|$", read(root, "docs/architecture.md"), re.M):
        rank[name] = len(rank)
        for header in re.findall(r"`(\w+\.h)`", headers):
            owner.setdefault(header, name)
    return rank, owner


def sources(root):
    for folder, _, files in os.walk(os.path.join(root, "src")):
        for name in files:
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), os.path.join(root, "src"))


def case_modules_and_headers_are_all_in_the_table(root):
    rank, owner = modules(root)
    folders = {p.split(os.sep)[0] for p in sources(root)}
    headers = {os.path.basename(p) for p in glob.glob(os.path.join(root, "include", "carom", "*.h"))} - {"carom.h"}
    return [f"{a} has {sorted(b)}" for a, b in (
        ("the table lacks folders of src; it", folders - set(rank)), ("src lacks modules of the table; it", set(rank) - folders),
        ("the table lacks headers; it", headers - set(owner)), ("include/carom lacks headers; it", set(owner) - headers)) if b]


def case_a_module_includes_only_those_above_it(root):
    rank, owner = modules(root)
    bad, count = [], 0
    for path in sources(root):
        own = path.split(os.sep)[0]
        for name in re.findall(r'^#include "([^"]+)"', read(root, os.path.join("src", path)), re.M):
            public = name.startswith("carom/")
            other = owner.get(name[len("carom/"):]) if public else name.split("/")[0]
            count += 1
            if own == "cli" and not public and other not in ("cli", "base"):
                bad.append(f"src/{path} includes {name}, which is not public")
            if other in rank and rank[other] > rank[own]:
                bad.append(f"src/{path} includes {name}, of {other}, which is below {own} in the table")
    assert count > 500, f"only {count} includes were found"
    return bad


def main():
    root, case = sys.argv[1:3]
    bad = globals()["case_" + case](root)
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
