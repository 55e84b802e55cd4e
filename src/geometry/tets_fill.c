// Closed surfaces filled with tetrahedra by Gmsh or TetGen, as programs of their own: what they read and write are
// files in a folder that is made for them and removed.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/child.h"
#include "base/groups.h"
#include "base/memory.h"
#include "base/read_file.h"
#include "base/text_buffer.h"
#include "geometry/tets.h"

enum { PATH = 1000 };

typedef struct filling {
  const carom_mesh *surface;
  const carom_tets_fill *options;
  carom_allocator allocator;
  char folder[PATH];
  bool *hollow;  // (triangle_count) whether the piece of the surface to which a triangle belongs bounds a hollow
  bool hollows;  // whether there is such a piece
  carom_error *error;
} filling;

carom_tets_fill carom_tets_fill_default(void) { return (carom_tets_fill){.filler = CAROM_TETS_GMSH, .seconds = 600}; }

static bool by_gmsh(const filling *f) { return f->options->filler == CAROM_TETS_GMSH; }
static const char *program_of(const filling *f) {
  return f->options->program ? f->options->program : by_gmsh(f) ? "gmsh" : "tetgen";
}

typedef struct path {
  char text[PATH + 20];
} path;

static path file_of(const filling *f, const char *name) {
  path p;
  snprintf(p.text, sizeof p.text, "%s/%s", f->folder, name);
  return p;
}

// ---- the folder ---------------------------------------------------------------------------------

static carom_status make_folder(filling *f) {
  const char *parent = f->options->folder ? f->options->folder : getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  int length = snprintf(f->folder, sizeof f->folder, "%s/carom-tets-XXXXXX", parent);
  if (length >= PATH)
    return carom_fail(f->error, CAROM_ERR_LIMIT, "the folder for temporary files has too long a name");
  return mkdtemp(f->folder) ? CAROM_OK : carom_fail_file(f->error, "create a folder in", parent, errno);
}

static void remove_folder(const filling *f) {
  DIR *files = opendir(f->folder);
  for (struct dirent *e; files && (e = readdir(files));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(dirfd(files), e->d_name, 0);
  if (files) closedir(files);
  rmdir(f->folder);
}

static carom_status write_file(const filling *f, const char *name, const carom_text_buffer *text) {
  if (text->failed) return carom_fail(f->error, CAROM_ERR_MEMORY, "out of memory for writing a surface");
  path p = file_of(f, name);
  return carom_write_file(&(carom_bytes){p.text, text->data, text->length}, f->error);
}

// ---- hollows ------------------------------------------------------------------------------------

// Pieces of the surface that share no vertex enclose a positive volume, or, around a hollow, a negative one.
static void mark_hollows(filling *f, int *parent, double *volume) {
  const carom_mesh *s = f->surface;
  carom_vec3 o = s->vertices[0];
  for (int i = 0; i < s->vertex_count; i++) parent[i] = i;
  for (int i = 0; i < 3 * s->triangle_count; i++) carom_group_unite(parent, s->triangles[i - i % 3], s->triangles[i]);
  for (int i = 0; i < s->triangle_count; i++) {
    const int *v = s->triangles + 3 * i;
    volume[carom_group_root(parent, v[0])] +=
        carom_tet_determinant(o, s->vertices[v[0]], s->vertices[v[1]], s->vertices[v[2]]);
  }
  for (int i = 0; i < s->triangle_count; i++) {
    f->hollow[i] = volume[carom_group_root(parent, s->triangles[3 * i])] < 0;
    f->hollows = f->hollows || f->hollow[i];
  }
}

static carom_status find_hollows(filling *f) {
  int *parent;
  double *volume;
  bool ready =
      CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->hollow, f->surface->triangle_count),
                    CAROM_ROOM(parent, f->surface->vertex_count), CAROM_ROOM(volume, f->surface->vertex_count));
  if (ready) mark_hollows(f, parent, volume);
  CAROM_RELEASE_ALL(&f->allocator, parent, volume);
  return ready ? CAROM_OK : carom_fail(f->error, CAROM_ERR_MEMORY, "out of memory for filling a surface");
}

// ---- what the programs read ---------------------------------------------------------------------

static void add_coordinates(carom_text_buffer *t, carom_vec3 p) {
  const double x[3] = {p.x, p.y, p.z};
  for (int k = 0; k < 3; k++) {
    carom_text_buffer_add(t, " ");
    carom_text_buffer_number(t, x[k], 17);
  }
  carom_text_buffer_add(t, "\n");
}

static void add_vertices(carom_text_buffer *t, const carom_mesh *surface) {
  for (int i = 0; i < surface->vertex_count; i++) {
    carom_text_buffer_print(t, "%d", i + 1);
    add_coordinates(t, surface->vertices[i]);
  }
}

// Surface 1 bounds the solid from outside, surface 2 from within. Gmsh fills what both of them bound.
static void add_gmsh_surface(carom_text_buffer *t, const filling *f) {
  const carom_mesh *s = f->surface;
  carom_text_buffer_print(t, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", s->vertex_count);
  add_vertices(t, s);
  carom_text_buffer_print(t, "$EndNodes\n$Elements\n%d\n", s->triangle_count);
  for (int i = 0; i < s->triangle_count; i++) {
    const int *v = s->triangles + 3 * i;
    carom_text_buffer_print(t, "%d 2 2 0 %d %d %d %d\n", i + 1, f->hollow[i] ? 2 : 1, v[0] + 1, v[1] + 1, v[2] + 1);
  }
  carom_text_buffer_add(t, "$EndElements\n");
}

static carom_status write_gmsh(const filling *f) {
  carom_text_buffer t = carom_text_buffer_make(&f->allocator);
  add_gmsh_surface(&t, f);
  carom_status status = write_file(f, "surface.msh", &t);
  carom_text_buffer_clear(&t);
  carom_text_buffer_print(&t, "Merge \"surface.msh\";\nSurface Loop(1) = {1%s};\nVolume(1) = {1};\n",
                          f->hollows ? ", 2" : "");
  if (f->options->edge > 0) {
    carom_text_buffer_add(&t, "Mesh.MeshSizeMax = ");
    carom_text_buffer_number(&t, f->options->edge, 17);
    carom_text_buffer_add(&t, ";\n");
  }
  if (!status) status = write_file(f, "fill.geo", &t);
  carom_text_buffer_release(&t);
  return status;
}

// TetGen wants a point in every hollow: a little outside a triangle of its surface. Of two in one hollow it uses one.
static void add_hollows(carom_text_buffer *t, const filling *f) {
  const carom_mesh *s = f->surface;
  int count = 0, at = 0;
  for (int i = 0; i < s->triangle_count; i++) count += f->hollow[i];
  carom_text_buffer_print(t, "%d\n", count);
  for (int i = 0; i < s->triangle_count; i++) {
    if (!f->hollow[i]) continue;
    const int *v = s->triangles + 3 * i;
    carom_vec3 normal = carom_newell(s->vertices, v, 3), p = cm_add(s->vertices[v[0]], s->vertices[v[1]]);
    p = cm_scale(1 / 3.0, cm_add(p, s->vertices[v[2]]));
    carom_text_buffer_print(t, "%d", ++at);
    add_coordinates(t, cm_axpy(p, 1e-3 * sqrt(cm_norm(normal)), cm_unit(normal)));
  }
}

static carom_status write_tetgen(const filling *f) {
  const carom_mesh *s = f->surface;
  carom_text_buffer t = carom_text_buffer_make(&f->allocator);
  carom_text_buffer_print(&t, "%d 3 0 0\n", s->vertex_count);
  add_vertices(&t, s);
  carom_text_buffer_print(&t, "%d 0\n", s->triangle_count);
  for (int i = 0; i < s->triangle_count; i++) {
    const int *v = s->triangles + 3 * i;
    carom_text_buffer_print(&t, "3 %d %d %d\n", v[0] + 1, v[1] + 1, v[2] + 1);
  }
  add_hollows(&t, f);
  carom_status status = write_file(f, "surface.smesh", &t);
  carom_text_buffer_release(&t);
  return status;
}

// ---- running ------------------------------------------------------------------------------------

// What it printed last, preferably of an error.
static void find_last_words(const filling *f, char *words, size_t size) {
  carom_error why;
  size_t length;
  path log = file_of(f, "log");
  char *text = carom_read_file(log.text, (int64_t)1 << 26, &f->allocator, &length, &why);
  bool of_error = false;
  snprintf(words, size, "nothing");
  for (char *line = text, *end; line && *line; line = end) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    bool error = strstr(line, "Error") || strstr(line, "rror:");
    if (line[strspn(line, " \t\r")] && (error || !of_error)) snprintf(words, size, "'%.200s'", line);
    of_error = of_error || error;
    if (!end) break;
  }
  carom_release(&f->allocator, text);
}

static carom_status explain(const filling *f, carom_child_end end, int code) {
  char words[220];
  const char *program = program_of(f);
  if (end == CAROM_CHILD_MISSING)
    return carom_fail(f->error, CAROM_ERR_UNSUPPORTED,
                      "the program %s, which fills surfaces with tetrahedra, is not installed; install it (Debian: the "
                      "package %s), or mesh the solid by other means",
                      program, by_gmsh(f) ? "gmsh" : "tetgen");
  if (end == CAROM_CHILD_FAILED) return carom_fail_file(f->error, "run", program, code);
  if (end == CAROM_CHILD_TIMED_OUT)
    return carom_fail(f->error, CAROM_NOT_CONVERGED, "%s was ended after %g s; give it more time, or a coarser surface",
                      program, f->options->seconds);
  find_last_words(f, words, sizeof words);
  return carom_fail(
      f->error, CAROM_ERR_GEOMETRY,
      "%s could not fill the surface with tetrahedra (%s %d); it said %s; check the surface for triangles "
      "that cut each other",
      program, end == CAROM_CHILD_KILLED ? "signal" : "code", code, words);
}

static carom_status run(const filling *f, char *const *arguments) {
  path log = file_of(f, "log");
  int code;
  carom_child_end end = carom_child_run(&(carom_child){arguments, log.text, f->options->seconds}, &code);
  return end == CAROM_CHILD_EXITED && code == 0 ? CAROM_OK : explain(f, end, code);
}

static char *text_of(const char *constant) { return (char *)(uintptr_t)constant; }

static carom_status run_gmsh(const filling *f) {
  path geo = file_of(f, "fill.geo"), out = file_of(f, "filled.msh");
  char *const arguments[] = {
      text_of(program_of(f)), geo.text,         text_of("-3"),  text_of("-o"), out.text, text_of("-bin"),
      text_of("-format"),     text_of("msh41"), text_of("-nt"), text_of("1"),  NULL};
  return run(f, arguments);
}

// -p fills a closed surface, -Y keeps its triangles, -q wants good shapes, -a limits the volume.
static carom_status run_tetgen(const filling *f) {
  path surface = file_of(f, "surface.smesh");
  char flags[100] = "-pYq", number[CAROM_NUMBER_SIZE];
  double edge = f->options->edge;
  if (edge > 0) {
    carom_number_text(number, edge * edge * edge / sqrt(72), 12);
    snprintf(flags, sizeof flags, "-pYqa%s", number);
  }
  char *const arguments[] = {text_of(program_of(f)), flags, surface.text, NULL};
  return run(f, arguments);
}

static carom_status check_volume(const filling *f, double expected, carom_tets *filled) {
  double volume = carom_tets_measure(filled).volume;
  if (fabs(volume - expected) <= 1e-6 * expected) return CAROM_OK;
  carom_tets_release(filled);
  return carom_fail(
      f->error, CAROM_ERR_GEOMETRY,
      "%s filled %.6g m3, but the surface encloses %.6g m3; a surface of several pieces, or with hollows, "
      "must be meshed by other means",
      program_of(f), volume, expected);
}

static carom_status fill(const filling *f, double expected, carom_tets *tets) {
  const carom_tets_options options = {.scale = 1, .drop_loose = true};
  carom_tets filled;
  path out = file_of(f, by_gmsh(f) ? "filled.msh" : "surface.1.ele");
  carom_status status = by_gmsh(f) ? write_gmsh(f) : write_tetgen(f);
  if (!status) status = by_gmsh(f) ? run_gmsh(f) : run_tetgen(f);
  if (!status && access(out.text, R_OK) != 0) status = explain(f, CAROM_CHILD_EXITED, 0);
  if (!status) status = carom_tets_read(out.text, &options, &f->allocator, &filled, f->error);
  if (!status) status = check_volume(f, expected, &filled);
  if (!status) *tets = filled;
  return status;
}

carom_status carom_tets_init_filled(const carom_mesh *surface, const carom_tets_fill *options,
                                    const carom_allocator *allocator, carom_tets *tets, carom_error *error) {
  carom_tets_fill o = options ? *options : carom_tets_fill_default();
  filling f = {.surface = surface, .options = &o, .allocator = carom_allocator_or_default(allocator), .error = error};
  carom_mass enclosed;
  carom_status status = carom_mesh_mass(surface, 1, &enclosed, error);
  if (!status && !(isfinite(o.edge) && o.edge >= 0 && o.seconds > 0))
    status = carom_fail(error, CAROM_ERR_ARGUMENT, "an edge of %g m and %g s; expected 0 or more, and some time",
                        o.edge, o.seconds);
  if (!status) status = find_hollows(&f);
  if (!status) status = make_folder(&f);
  if (!status) {
    status = fill(&f, enclosed.mass, tets);
    remove_folder(&f);
  }
  carom_release(&f.allocator, f.hollow);
  return status;
}
