// Command lines: every byte is a word of a vocabulary, so that nothing outside the folder is named.
#include "cli/cli.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\nleak:libhdf5\n"; }

static const char *const words[] = {
    "s.yaml",
    "r.h5",
    "p.txt",
    "m.obj",
    "t.csv",
    "x.h5",
    "x.html",
    "x.csv",
    "x.glb",
    "nowhere/x",
    "",
    "-",
    "--",
    "-o",
    "--output",
    "--force",
    "-f",
    "--json",
    "-q",
    "--quiet",
    "--no-output",
    "--set",
    "-s",
    "duration=0.01",
    "duration=-1",
    "integrator.step=1 ms",
    "bodies.a.position=[0, 0, 1]",
    "a=b",
    "=",
    "--integrator",
    "moreau",
    "cone",
    "dcr",
    "exact",
    "nothing",
    "--step",
    "1e-3",
    "1e-300",
    "nan",
    "inf",
    "-1",
    "0",
    "7",
    "--duration",
    "0.01",
    "--threads",
    "-j",
    "1",
    "--continue",
    "--solver",
    "--strict",
    "--separate",
    "--scene",
    "--to",
    "csv",
    "vtk",
    "glb",
    "html",
    "fields",
    "--cells",
    "2,2,2",
    "--from",
    "--until",
    "--every-frame",
    "--pose-a",
    "--pose-b",
    "1,2,3",
    "1,2,3/0,0,1,90",
    "1,2,3,1,0,0,0",
    "--beta",
    "0,0,0",
    "--pairs",
    "box: [1, 1, 1]",
    "sphere: 0.5",
    "halfspace:",
    "--method",
    "lemke",
    "pgs",
    "newton",
    "--problem",
    "1",
    "--tolerance",
    "--max-iterations",
    "--block",
    "--relaxation",
    "--brief",
    "--resolved",
    "--help",
    "-h",
    "-x",
    "--html",
    "--integrators",
    "moreau,cone",
    "--dump-contact-problems",
    "d",
    "--output=x.h5",
    "--json=1",
    "x^2 + y - 1",
    "x - y*(",
    "--start=1",
    "--start=0.5,2",
    "--complex",
    "--trace=0",
    "--variables=y,x",
    "--basins=b.html",
    "--size=16",
    "--window=0,1",
    "--runs=3",
    "-qf",
    "-ox.h5",
    "\033[2J",
    "\xff",
    "%s%n",
};
static int (*const verbs[])(int, char **) = {cli_check,    cli_info,        cli_gap,    cli_lcp,   cli_root,
                                             cli_navigate, cli_integrators, cli_export, cli_audit, cli_explain,
                                             cli_run,      cli_compare,     cli_view};

static void make_files(void) {
  static int made;
  if (made++) return;
  fuzz_put_text(
      "s.yaml",
      "carom: 1\nbodies:\n  - {name: a, shape: {box: [1, 1, 1]}, density: 1, velocity: [1, 0, 0]}\n"
      "  - {name: b, shape: {sphere: 1}, density: 1, position: [9, 0, 0]}\nintegrator: {name: moreau, step: 5 ms}\n"
      "duration: 0.02 s\noutput: {interval: 10 ms}\n");
  fuzz_put_text("p.txt", "carom-lcp 1\nn 2\nM\n2 1\n1 2\nq -5 -6\n");
  fuzz_put_text("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  fuzz_put_text("t.csv", "time,body,x,y,z\n0,a,0,0,0\n0,b,9,0,0\n1,a,1,0,0\n1,b,9,0,0\n");
  char verb[] = "run", scene[] = "s.yaml", o[] = "-o", result[] = "r.h5", quiet[] = "-q";
  char *line[] = {verb, scene, o, result, quiet, NULL};
  if (cli_run(5, line) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { MOST = 10 };
  char *line[MOST + 2] = {0}, text[MOST + 1][64];
  if (size < 1 || size > MOST) return 0;
  fuzz_folder();
  make_files();
  for (size_t i = 0; i < size; i++) {
    const char *word = i == 0 ? "verb" : words[data[i] % (sizeof words / sizeof *words)];
    snprintf(text[i], sizeof text[i], "%s", word);
    line[i] = text[i];
  }
  int code = verbs[data[0] % (sizeof verbs / sizeof *verbs)]((int)size, line);
  if (code < 0 || code > 4) abort();
  return 0;
}
