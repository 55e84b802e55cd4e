"""The public headers: what they declare is what the library exports, all of it is explained, and arguments keep one order.

usage: check_headers.py <folder of the headers> <shared library> <static library> <nm> <C compiler> <C++ compiler> <case>
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

# A declaration with what stands around it. Types are as written, without the name: "const carom_shape **".
Function = namedtuple("Function", "header line name arguments explained")
Argument = namedtuple("Argument", "type name")
MOST_ARGUMENTS = 6
PAIRS = {"create": "destroy", "open": "close", "init": "release", "retain": "release"}
FIRST_IS_ERROR = {"carom_fail"}  # the error is its object


# ---- reading headers -------------------------------------------------------------------------------------------------

def without_remarks(text):
    return re.sub(r"//[^\n]*", "", text)


def argument_of(text):
    text = " ".join(text.split())
    if text == "...":
        return Argument("...", "")
    name, array = re.fullmatch(r".*?(\w+)((?:\[\w*\])*)", text).groups()
    kind = text[:len(text) - len(name) - len(array)].strip()
    return Argument(kind + (" *" if array else ""), name)


def arguments_of(text):
    return [] if text.strip() == "void" else [argument_of(part) for part in text.split(",")]


def functions_of(header, text):
    """Every declaration marked CAROM_API; it is explained by /// on the line above, or by ///< where it ends."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        if not line.startswith("CAROM_API "):
            continue
        last = number
        while ";" not in without_remarks(lines[last]):
            last += 1
        declaration = " ".join(without_remarks(part) for part in lines[number:last + 1])
        name, arguments = re.search(r"(\w+)\(([^()]*)\)\s*(?:CAROM_PRINTF\([^)]*\))?\s*;", declaration).groups()
        explained = lines[number - 1].strip().startswith("///") or "///<" in lines[last]
        found.append(Function(header, number + 1, name, arguments_of(arguments), explained))
    return found


def headers():
    return sorted(glob.glob(os.path.join(FOLDER, "carom", "*.h")))


def read(path):
    with open(path) as file:
        return file.read()


def all_functions():
    return [f for path in headers() for f in functions_of(os.path.basename(path), read(path))]


# ---- what may be wrong with a function -------------------------------------------------------------------------------

def place(function):
    return f"{function.header}:{function.line}: {function.name}"


def is_output(argument):
    """Written through: T * or const T **, but not const T *."""
    return argument.type.endswith("*") and not re.fullmatch(r"const [\w ]+ \*|const char \*const \*", argument.type)


def rank(arguments, i):
    """Where an argument belongs: inputs, allocator, outputs, error. A size stands beside what it is the size of."""
    kind = arguments[i].type
    if kind in ("carom_error *", "carom_diagnostics *"):
        return 3
    if kind == "const carom_allocator *":
        return 1
    if is_output(arguments[i]):
        return 2
    return 2 if kind == "size_t" and i > 0 and is_output(arguments[i - 1]) else 0


def object_count(arguments):
    """The object comes first; a state is spoken of together with its model."""
    return 2 if [a.type.replace("const ", "") for a in arguments[:2]] == ["carom_model *", "carom_state *"] else 1


def order_faults(function):
    arguments = function.arguments
    if function.name in FIRST_IS_ERROR:
        return []
    if len(arguments) > MOST_ARGUMENTS:
        return [f"{place(function)} takes {len(arguments)} arguments, more than {MOST_ARGUMENTS}"]
    makes_object = any(re.fullmatch(r"(const )?carom_\w+ \*\*", a.type) for a in arguments[:1])
    start = 0 if makes_object or [a.type for a in arguments[:1]] == ["carom_error *"] else object_count(arguments)
    ranks = [rank(arguments, i) for i in range(start, len(arguments))]
    if ranks == sorted(ranks) and ranks.count(3) <= 1:
        return []
    return [f"{place(function)}: arguments are not in the order object, inputs, allocator, outputs, error"]


def explanation_faults(function):
    return [] if function.explained else [f"{place(function)} has no comment of its own"]


def pair_faults(names):
    """An end for every beginning, in the words of docs/architecture.md."""
    faults = []
    for name in sorted(names):
        match = re.fullmatch(r"(carom_\w+?)_(create|open|init|retain)(_\w+)?", name)
        ends = [f"{match[1]}_{PAIRS[match[2]]}", f"{match[1]}_release" if match[1] == "carom_shape" else ""] if match else []
        if match and not names & set(ends):
            faults.append(f"{name} has no {ends[0]}")
    return faults


# ---- what may be wrong with a type -----------------------------------------------------------------------------------

def struct_bodies(text):
    """(line, opening line, the lines between its braces) of every struct and enum."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.match(r"(typedef )?(struct|enum) \w* ?\{", line) and "}" not in line:
            end = next(i for i in range(number, len(lines)) if lines[i].startswith("}"))
            yield number, line, lines[number + 1:end]


def is_plain(line, fields):
    """Names of an enum, or all fields in one line: the comment of the type may say it all."""
    return "enum" in line or sum(";" in field for field in fields) <= 1


def field_faults(header, text):
    faults = []
    lines = text.split("\n")
    for number, line, fields in struct_bodies(text):
        if not lines[number - 1].startswith("///"):
            faults.append(f"{header}:{number + 1}: '{line.strip(' {')}' has no comment of its own")
        for i, field in enumerate(fields):
            code = without_remarks(field).strip()
            explained = "///<" in field or (i > 0 and fields[i - 1].strip().startswith("///"))
            goes_on = i + 1 < len(fields) and not code.endswith((";", ",")) and "///" in fields[i + 1]
            if code and not (explained or goes_on or is_plain(line, fields)):
                faults.append(f"{header}:{number + i + 2}: '{code}' has no comment")
    return faults


# ---- cases -----------------------------------------------------------------------------------------------------------

def refuse(faults):
    if faults:
        sys.exit("\n".join(faults))


def exported():
    table = subprocess.run([NM, "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in table.splitlines()}


def case_library_and_headers_agree():
    declared, found = {f.name for f in all_functions()}, exported()
    refuse([f"{name} is declared, but the library does not export it" for name in sorted(declared - found)] +
           [f"{name} is exported, but no public header declares it" for name in sorted(found - declared)])
    assert len(declared) > 200, len(declared)


def writable(table):
    """Variables in a table of `nm --format=sysv`: what is neither code nor constant."""
    found = set()
    for line in table.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and fields[3] in ("OBJECT", "TLS") and re.fullmatch(
                r"\.(t?bss|t?data|data\.rel(\.local)?)(\..*)?|\*COM\*", fields[6]) and ".rel.ro" not in fields[6]:
            found.add(fields[0])
    return found


# What base.h admits: the locks around HDF5 and Ipopt, OpenMP's own around the starts of plans and fits, the number under which
# HDF5 knows our way of writing files, and whether OpenBLAS has its buffer.
LOCKS = {"mutex", "alone", "driver_id", "awake", ".gomp_critical_user_carom_plan_starts",
         ".gomp_critical_user_carom_push_watch", ".gomp_critical_user_carom_push_plan_seeds",
         ".gomp_critical_user_carom_push_fit_replicates"}


def case_the_library_keeps_no_state():
    table = subprocess.run([NM, "--format=sysv", ARCHIVE], check=True, capture_output=True, text=True).stdout
    assert "carom_ssh" in table
    refuse([f"the library has a variable: {name}" for name in sorted(writable(table) - LOCKS)])


def case_every_function_is_explained():
    refuse([fault for f in all_functions() for fault in explanation_faults(f)])


def case_every_type_and_field_is_explained():
    refuse([fault for path in headers() for fault in field_faults(os.path.basename(path), read(path))])


def case_arguments_keep_one_order():
    refuse([fault for f in all_functions() for fault in order_faults(f)])


def case_every_beginning_has_its_end():
    refuse(pair_faults({f.name for f in all_functions()}))


def case_the_whole_includes_every_header():
    whole = set(re.findall(r'#include "carom/(\w+\.h)"', read(os.path.join(FOLDER, "carom", "carom.h"))))
    others = {os.path.basename(path) for path in headers()} - {"carom.h"}
    refuse([f"carom.h does not include {name}" for name in sorted(others - whole)])


def compile_each(compiler, language, standard):
    if not compiler or "NOTFOUND" in compiler:
        print(f"no compiler for {language}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "alone")
        for path in headers():
            with open(source, "w") as file:
                file.write(f'#include "carom/{os.path.basename(path)}"\n')
            subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                            "-fsyntax-only", f"-I{FOLDER}", source], check=True)


def case_each_header_stands_alone_in_c17():
    compile_each(C, "c", "c17")


def case_each_header_stands_alone_in_cxx17():
    compile_each(CXX, "c++", "c++17")


def case_faults_are_noticed():
    """The checks above on headers that are wrong on purpose."""
    def one(text):
        return functions_of("x.h", text)[0]

    good = ("/// Makes one.\nCAROM_API carom_status carom_a_create(int n, const carom_allocator *allocator, carom_a **a,\n"
            "                            carom_error *error);")
    assert not explanation_faults(one(good)) and not order_faults(one(good))
    assert explanation_faults(one("\nCAROM_API void carom_a_step(carom_a *a);"))
    assert explanation_faults(one("/// About the one before.\n\nCAROM_API void carom_a_step(carom_a *a);"[26:]))
    assert not explanation_faults(one("\nCAROM_API void carom_a_step(carom_a *a);  ///< one step"))
    for wrong in ["carom_a **a, int n, const carom_allocator *allocator, carom_error *error",
                  "int n, carom_a **a, const carom_allocator *allocator, carom_error *error",
                  "int n, const carom_allocator *allocator, carom_error *error, carom_a **a",
                  "carom_error *error, int n", "carom_a *a, double *out, int n", "carom_a *a, double *out, const double *in",
                  "const carom_a *a, const carom_allocator *allocator, int n", "int a, int b, int c, int d, int e, int f, int g"]:
        assert order_faults(one(f"\nCAROM_API carom_status carom_a_create({wrong});")), wrong
    for right in ["void", "carom_a *a, const void *data, size_t size, carom_error *error",
                  "const carom_a *a, void *memory, size_t size", "const carom_model *model, carom_state *state, int body",
                  "carom_a *a, const char *const *names, double hessian[144]"]:
        assert not order_faults(one(f"\nCAROM_API carom_status carom_a_do({right});")), right
    assert pair_faults({"carom_a_create"}) and pair_faults({"carom_a_open", "carom_a_destroy"})
    assert not pair_faults({"carom_a_create", "carom_a_destroy", "carom_b_init", "carom_b_release"})
    row = "%s |0000000000000000|   b  |            OBJECT|0000000000000028|     |%s"
    assert writable(row % ("counter", ".bss") + "\n" + row % ("kept", ".data.rel.local")) == {"counter", "kept"}
    assert not writable(row % ("names", ".data.rel.ro.local") + "\n" + row % ("table", ".rodata"))
    assert field_faults("x.h", "/// A.\nstruct a {\n  int b;\n  int c;  ///< m\n};")
    assert field_faults("x.h", "\nstruct a {\n  int b;  ///< m\n};")
    assert not field_faults("x.h", "/// A.\nstruct a {\n  int b;  ///< m\n  /// m\n  int c;\n};")


def main():
    cases = {k[5:]: v for k, v in globals().items() if k.startswith("case_")}
    cases[sys.argv[7]]()


FOLDER, LIBRARY, ARCHIVE, NM, C, CXX = sys.argv[1:7]
main()
