// Files of tetrahedra: what is written comes back to the last bit, what is cut short or wrong is told.
#include <dirent.h>
#include <unistd.h>

#include "failing_allocator.h"
#include "tets_samples.h"

static carom_status parse(const sample *s, const carom_allocator *a, carom_tets *m, carom_error *error) {
  return carom_tets_parse(&(carom_bytes){s->name, s->data, s->size}, NULL, a, m, error);
}

static carom_status parse_pair(const sample *pair, const carom_allocator *a, carom_tets *m, carom_error *error) {
  const carom_bytes files[2] = {{pair[0].name, pair[0].data, pair[0].size}, {pair[1].name, pair[1].data, pair[1].size}};
  return carom_tets_parse_tetgen(files, NULL, a, m, error);
}

static carom_tets random_mesh(uint64_t seed, int nodes, double side) {
  carom_random r = carom_random_make(seed, 0);
  carom_tets m = sound_delaunay(&r, nodes, side, 1);
  m.groups = calloc((size_t)m.tet_count, sizeof(int));
  for (int t = 0; t < m.tet_count; t++) m.groups[t] = (int)carom_random_below(&r, 3) - (t % 2);
  return m;
}

// ---- round trips --------------------------------------------------------------------------------

TEST(all_formats_are_read) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    carom_tets m = random_mesh(seed, seed == 0 ? 6 : 40, pow(10, (double)seed * 2 - 6));
    for (int format = 0; format < SAMPLES; format++) {
      sample s = make_sample(&m, format);
      carom_tets back = {0};
      carom_error error = {0};
      if (parse(&s, NULL, &back, &error)) test_fail(__FILE__, __LINE__, "format %d: %s", format, error.message);
      CHECK(same_tets(&m, &back));
      bool fixed = format == 3 || format == 4, none = format >= 5 && format <= 9;
      if (!fixed && !none) CHECK(same_groups(&m, &back));
      if (none) CHECK(!back.groups);
      for (int t = 0; fixed && t < back.tet_count; t++) CHECK(back.groups && back.groups[t] == 42);
      if (format == 3) {
        REQUIRE(back.name_count == 1);
        CHECK(back.names[0].group == 42);
        CHECK_TEXT(back.names[0].name, "a name");
      }
      carom_tets_release(&back);
      free(s.data);
    }
    carom_tets_release(&m);
  }
}

TEST(tetgen_pairs_are_read) {
  for (int first = 0; first < 2; first++) {
    carom_tets m = random_mesh(11, 30, 1), back = {0};
    carom_error error = {0};
    sample pair[2];
    make_tetgen(&m, first, pair);
    if (parse_pair(pair, NULL, &back, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
    CHECK(same_tets(&m, &back));
    CHECK(same_groups(&m, &back));
    carom_tets_release(&back);
    for (int i = 0; i < 2; i++) {
      FILE *f = fopen(i ? "pair.v2.ele" : "pair.v2.node", "wb");
      fwrite(pair[i].data, 1, pair[i].size, f);
      fclose(f);
    }
    CHECK(carom_tets_read("pair.v2.ele", NULL, NULL, &back, NULL) == CAROM_OK);
    CHECK(same_tets(&m, &back));
    carom_tets_release(&back);
    CHECK(carom_tets_read("pair.v2.node", NULL, NULL, &back, NULL) == CAROM_OK);
    CHECK(same_tets(&m, &back));
    carom_tets_release(&back);
    unlink("pair.v2.node");
    CHECK(carom_tets_read("pair.v2.ele", NULL, NULL, &back, &error) == CAROM_ERR_IO);
    CHECK_TEXT(error.message, "pair.v2.node: cannot be read: No such file or directory");
    for (int i = 0; i < 2; i++) free(pair[i].data);
    carom_tets_release(&m);
  }
}

TEST(what_is_written_comes_back) {
  static const char *const paths[] = {"out.vtu", "out.msh", "OUT.MSH"};
  for (uint64_t seed = 20; seed < 26; seed++) {
    carom_tets m = random_mesh(seed, 10 + 30 * ((int)seed - 20), 1);
    if (seed == 25) free(m.groups), m.groups = NULL;
    m.names = calloc(1, sizeof *m.names);
    m.names[0] = (carom_tets_name){2, strdup("soft \"part\"")};
    m.name_count = 1;
    for (int p = 0; p < 3; p++) {
      carom_tets back = {0};
      carom_error error = {0};
      if (carom_tets_write(&m, paths[p], &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
      if (carom_tets_read(paths[p], NULL, NULL, &back, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
      CHECK(same_tets(&m, &back));
      CHECK(same_groups(&m, &back));
      if (p > 0) {
        REQUIRE(back.name_count == 1);
        CHECK_TEXT(back.names[0].name, "soft 'part'");
      }
      carom_tets_release(&back);
    }
    carom_error error = {0};
    CHECK(carom_tets_write(&m, "out.stl", &error) == CAROM_ERR_ARGUMENT);
    CHECK_TEXT(error.message, "out.stl: a mesh of tetrahedra is written as NAME.vtu or NAME.msh");
    CHECK(carom_tets_write(&m, "no/such/folder/out.vtu", &error) == CAROM_ERR_IO);
    carom_tets_release(&m);
  }
}

static const float single[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};

// Two pieces with numbers of other sizes than ours: 70 bytes each.
static void put_piece(FILE *f, int piece) {
  int base = 70 * piece;
  fprintf(
      f,
      "<Piece NumberOfPoints='4' NumberOfCells='1'><Points><DataArray type=\"Float32\" format=\"appended\" "
      "offset=\"%d\" /></Points><Cells><DataArray format='appended' offset='%d' Name='connectivity' type='UInt16'/>"
      "<DataArray format='appended' offset='%d' Name='offsets' type='Int16'/><DataArray format='ascii' Name='types' "
      "type='Int8'>10</DataArray></Cells></Piece>",
      base, base + 52, base + 64);
}

static void put_piece_data(FILE *f, int piece, bool swapped) {
  static const int16_t corners[4] = {0, 1, 2, 3}, end = 4;
  put_int(f, 48, swapped);
  for (int i = 0; i < 12; i++) {
    float moved = single[i] + (float)(3 * piece);
    put_swapped(f, &moved, 4, swapped);
  }
  put_int(f, 8, swapped);
  for (int i = 0; i < 4; i++) put_swapped(f, &corners[i], 2, swapped);
  put_int(f, 2, swapped);
  put_swapped(f, &end, 2, swapped);
}

TEST(vtu_of_two_pieces_in_either_byte_order) {
  for (int swapped = 0; swapped < 2; swapped++) {
    sample s = {.name = "a.vtu"};
    FILE *f = open_memstream(&s.data, &s.size);
    fprintf(f, "<VTKFile type='UnstructuredGrid' byte_order=\"%s\"><UnstructuredGrid>",
            swapped ? "BigEndian" : "LittleEndian");
    for (int piece = 0; piece < 2; piece++) put_piece(f, piece);
    fprintf(f, "</UnstructuredGrid><AppendedData encoding=\"raw\">_");
    for (int piece = 0; piece < 2; piece++) put_piece_data(f, piece, swapped);
    fprintf(f, "</AppendedData></VTKFile>");
    fclose(f);
    carom_tets m = {0};
    carom_error error = {0};
    if (parse(&s, NULL, &m, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
    REQUIRE(m.tet_count == 2 && m.node_count == 8);
    CHECK(m.nodes[5].x == 4 && m.nodes[5].y == 3 && m.tets[1][0] == 4 && is_sound(&m));
    carom_tets_release(&m);
    free(s.data);
  }
}

TEST(vtk_in_single_precision_with_long_line_ends) {
  sample s = {.name = "a.vtk"};
  FILE *f = open_memstream(&s.data, &s.size);
  fprintf(f, "# vtk DataFile Version 2.0\r\nx\r\nBINARY\r\nDATASET UNSTRUCTURED_GRID\r\nPOINTS 4 float\r\n");
  for (int i = 0; i < 12; i++) put_swapped(f, &single[i], 4, true);
  fprintf(f, "\nCELLS 1 5\n");
  for (int i = 0; i < 5; i++) put_int(f, i ? i - 1 : 4, true);
  fprintf(f, "\nCELL_TYPES 1\n");
  put_int(f, 10, true);
  fclose(f);
  carom_tets m = {0};
  REQUIRE(parse(&s, NULL, &m, NULL) == CAROM_OK);
  CHECK_NEAR(carom_tets_measure(&m).volume, 1 / 6.0, 1e-16);
  carom_tets_release(&m);
  free(s.data);
}

TEST(scale_and_turned_files) {
  carom_tets m = random_mesh(3, 20, 1);
  sample s = make_sample(&m, 0);
  carom_tets back = {0};
  carom_tets_options options = {.scale = 1e-3};
  CHECK(carom_tets_parse(&(carom_bytes){s.name, s.data, s.size}, &options, NULL, &back, NULL) == CAROM_OK);
  CHECK_NEAR(carom_tets_measure(&back).volume, 1e-9 * carom_tets_measure(&m).volume, 1e-22);
  carom_tets_release(&back);
  free(s.data);
  // All the other way round: turned without a word.
  for (int t = 0; t < m.tet_count; t++) {
    int third = m.tets[t][2];
    m.tets[t][2] = m.tets[t][3];
    m.tets[t][3] = third;
  }
  s = make_sample(&m, 0);
  CHECK(parse(&s, NULL, &back, NULL) == CAROM_OK);
  CHECK(is_sound(&back));
  CHECK(back.tets[0][2] == m.tets[0][3]);
  carom_tets_release(&back);
  options.scale = 0;
  carom_error error;
  CHECK(carom_tets_parse(&(carom_bytes){s.name, s.data, s.size}, &options, NULL, &back, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "the scale of a mesh is 0; expected a positive number");
  free(s.data);
  carom_tets_release(&m);
}

// ---- damage -------------------------------------------------------------------------------------

// Files that are cut short anywhere are refused, unless only an end that says nothing is missing.
TEST(files_cut_short_are_refused) {
  carom_tets m = random_mesh(5, 9, 1);
  for (int format = 0; format < SAMPLES; format++) {
    sample s = make_sample(&m, format);
    int taken = 0;
    size_t whole = s.size;
    for (s.size = 0; s.size < whole; s.size++) {
      carom_tets back = {0};
      carom_error error = {0};
      char *exact = malloc(s.size + 1);  // a block of its own size: reading past its end is seen
      memcpy(exact, s.data, s.size);
      sample cut = {s.name, exact, s.size};
      carom_status status = parse(&cut, NULL, &back, &error);
      if (status == CAROM_OK) taken++;
      if (status == CAROM_OK && !same_tets(&m, &back))
        test_fail(__FILE__, __LINE__, "format %d at %zu", format, s.size);
      if (status != CAROM_OK && status != CAROM_ERR_FORMAT)
        test_fail(__FILE__, __LINE__, "status %d: %s", status, error.message);
      carom_tets_release(&back);
      free(exact);
    }
    if (taken > 120) test_fail(__FILE__, __LINE__, "format %d: %d pieces were taken for whole", format, taken);
    free(s.data);
  }
  carom_tets_release(&m);
}

static void damage(carom_random *r, sample *s) {
  int times = 1 + (int)carom_random_below(r, 4);
  for (int i = 0; i < times; i++) {
    size_t at = carom_random_below(r, (uint32_t)s->size);
    uint32_t how = carom_random_below(r, 3);
    if (how == 0) s->data[at] = (char)carom_random_below(r, 256);
    if (how == 1) s->data[at] = "0123456789-.e \n"[carom_random_below(r, 15)];
    if (how == 2) s->data[at] = (char)(s->data[at] ^ 1 << carom_random_below(r, 8));
  }
}

TEST(damaged_files_are_refused_or_sound) {
  carom_random r = carom_random_make(77, 0);
  carom_tets m = random_mesh(6, 12, 1);
  int taken = 0, refused = 0;
  for (int trial = 0; trial < 20000; trial++) {
    sample s = make_sample(&m, trial % SAMPLES);
    damage(&r, &s);
    carom_tets back = {0};
    carom_error error = {0};
    carom_status status = parse(&s, NULL, &back, &error);
    if (status == CAROM_OK) CHECK(is_sound(&back));
    if (status != CAROM_OK) CHECK(error.status == status && error.message[0]);
    status == CAROM_OK ? taken++ : refused++;
    carom_tets_release(&back);
    free(s.data);
  }
  CHECK(taken > 1000 && refused > 1000);
  carom_tets_release(&m);
}

// ---- one message each ---------------------------------------------------------------------------

#define MSH2(nodes, elements) \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" nodes "$EndNodes\n$Elements\n" elements "$EndElements\n"
#define FOUR "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
#define FIVE "5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n"
#define VTK(rest) "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n" rest
#define POINTS4 "POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define VTU(head, points, cells)                                                                                 \
  "<VTKFile type=\"UnstructuredGrid\"" head                                                                      \
  "><UnstructuredGrid>\n<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">"                                        \
  "<Points><DataArray type=\"Float64\" Name=\"p\" format=\"ascii\">" points "</DataArray></Points><Cells>" cells \
  "</Cells></Piece></UnstructuredGrid></VTKFile>"
#define CELL(nodes, type)                                                                 \
  "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">" nodes               \
  "</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray>" \
  "<DataArray type=\"Int32\" Name=\"types\" format=\"ascii\">" type "</DataArray>"

static const struct {
  const char *name, *text;
  carom_status status;
  const char *message;
} bad[] = {
    {"a.msh", "", CAROM_ERR_FORMAT, "a.msh: the file is empty"},
    {"a.txt", "hello", CAROM_ERR_FORMAT,
     "a.txt: not a mesh of tetrahedra that can be read; expected Gmsh (.msh), VTK (.vtk, .vtu) or TetGen (.node and "
     ".ele)"},
    {"a.msh", "hello", CAROM_ERR_FORMAT, "a.msh:1: expected $MeshFormat, found 'hello'"},
    {"a.msh", "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n", CAROM_ERR_FORMAT,
     "a.msh:2: expected version 2.2 or 4.1 (gmsh -format msh41), found '3.0'"},
    {"a.msh", "$MeshFormat\n4.1 0 4\n$EndMeshFormat\n", CAROM_ERR_FORMAT,
     "a.msh:2: expected the size of a number, 8, found '4'"},
    {"a.msh", MSH2(FOUR, "1\n1 4 2 0 1 1 2 3 3\n"), CAROM_ERR_GEOMETRY,
     "a.msh:13: tetrahedron 1 has node 3 twice; remove it, or correct it"},
    {"a.msh", MSH2(FOUR, "1\n1 4 2 0 1 1 2 3 9\n"), CAROM_ERR_FORMAT,
     "a.msh:13: tetrahedron 1 refers to node 9, which is not among the 4 nodes of the file"},
    {"a.msh", MSH2(FOUR, "1\n7 5 2 0 1 1 2 3 4 1 2 3 4\n"), CAROM_ERR_UNSUPPORTED,
     "a.msh:13: element 7 is a hexahedron; expected tetrahedra of 4 nodes: mesh with those (in Gmsh: -order 1, no "
     "recombination)"},
    {"a.msh", MSH2(FOUR, "1\n7 11 2 0 1 1 2 3 4 1 2 3 4 1 2\n"), CAROM_ERR_UNSUPPORTED,
     "a.msh:13: element 7 is a tetrahedron of 10 nodes; expected tetrahedra of 4 nodes: mesh with those (in Gmsh: "
     "-order 1, "
     "no recombination)"},
    {"a.msh", MSH2(FOUR, "1\n7 99 2 0 1 1 2 3 4\n"), CAROM_ERR_UNSUPPORTED, "a.msh:13: unknown type of element: 99"},
    {"a.msh", MSH2(FOUR, "1\n7 2 2 0 1 1 2 3\n"), CAROM_ERR_FORMAT,
     "a.msh: no tetrahedra, only 1 elements without a volume; mesh the inside too (gmsh -3, tetgen -p)"},
    {"a.msh", MSH2(FOUR, "0\n"), CAROM_ERR_FORMAT, "a.msh: a mesh without tetrahedra"},
    {"a.msh", MSH2("4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n", "1\n1 4 2 0 1 1 2 3 4\n"), CAROM_ERR_GEOMETRY,
     "a.msh:13: tetrahedron 1 is flat: its nodes lie in one plane; remove it, or mesh again with better shapes"},
    {"a.msh", MSH2(FIVE, "2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 4 3 5\n"), CAROM_ERR_GEOMETRY,
     "a.msh:15: tetrahedron 2 has a negative volume (-0.333 m3), as have 1 of 2; swap two corners of each, or mesh "
     "again if "
     "they are folded over"},
    {"a.msh", MSH2(FIVE, "1\n1 4 2 0 1 1 2 3 4\n"), CAROM_ERR_GEOMETRY,
     "a.msh:10: node 5 belongs to no tetrahedron (1 of 5 do not); remove it, or ask for such nodes to be left out "
     "(drop_loose)"},
    {"a.msh", MSH2(FOUR, "2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 3 1 4\n"), CAROM_ERR_GEOMETRY,
     "a.msh:14: tetrahedron 2 has the same nodes as tetrahedron 1; remove it"},
    {"a.msh", MSH2(FIVE, "2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 1 2 3 5\n"), CAROM_ERR_GEOMETRY,
     "a.msh:15: tetrahedra 1 and 2 lie on the same side of the face of nodes 1, 2, 3 that they share: the mesh "
     "overlaps "
     "itself, mesh again"},
    {"a.msh",
     MSH2("6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n6 0 0 -1\n",
          "3\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 1 2 3 5\n3 4 2 0 1 1 3 2 6\n"),
     CAROM_ERR_GEOMETRY,
     "a.msh:16: 3 tetrahedra share the face of nodes 1, 2, 3, among them 1 and 2; expected at most two: the mesh "
     "overlaps "
     "itself, mesh again"},
    {"a.msh", MSH2("2\n1 0 0 0\n1 1 0 0\n", "0\n"), CAROM_ERR_FORMAT,
     "a.msh:7: node 1 is there twice; give every node a number of its own"},
    {"a.msh", MSH2("2\n1 0 0 nan\n2 1 0 0\n", "0\n"), CAROM_ERR_FORMAT, "a.msh:6: expected a number, found 'nan'"},
    {"a.msh", MSH2("2\n1 0 0 1e200\n2 1 0 0\n", "0\n"), CAROM_ERR_NUMBER,
     "a.msh:6: 1e200 is out of range; expected a coordinate below 1e+100"},
    {"a.msh", MSH2("1000000000\n1 0 0 0\n", "0\n"), CAROM_ERR_FORMAT,
     "a.msh:5: the number of nodes is 1000000000, but only 44 bytes follow in the file; is it cut short?"},
    {"a.msh", MSH2("-1\n1 0 0 0\n", "0\n"), CAROM_ERR_FORMAT, "a.msh:5: the number of nodes is -1; expected 0 or more"},
    {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1", CAROM_ERR_FORMAT,
     "a.msh:7: expected a number, found the end of the file"},
    {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Other\n1 2 3", CAROM_ERR_FORMAT,
     "a.msh: the section $Other has no end ($EndOther); is the file cut short?"},
    {"a.msh", "$MeshFormat\n2.2 1 8\n\1\2\3\4\n$EndMeshFormat\n", CAROM_ERR_FORMAT,
     "a.msh:2: a binary file must have the number 1 after this line, in 4 bytes"},
    {"a.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\n", CAROM_ERR_FORMAT,
     "a.vtk:4: expected UNSTRUCTURED_GRID, found 'POLYDATA'"},
    {"a.vtk", VTK(POINTS4 "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n"), CAROM_ERR_FORMAT,
     "a.vtk:8: cell 0 refers to point 4; expected 0 to 3"},
    {"a.vtk", VTK(POINTS4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n"), CAROM_ERR_UNSUPPORTED,
     "a.vtk:8: cell 0 is a hexahedron (type 12); expected tetrahedra of 4 nodes (type 10): mesh with those"},
    {"a.vtk", VTK(POINTS4 "CELLS 1 5\n3 0 1 2 3\nCELL_TYPES 1\n10\n"), CAROM_ERR_FORMAT,
     "a.vtk:8: cell 0 is a tetrahedron of 3 nodes; expected 4"},
    {"a.vtk", VTK(POINTS4 "CELLS 1 5\n4 0 1 2 3\n"), CAROM_ERR_FORMAT,
     "a.vtk: 1 cells and 0 types of cells; expected POINTS, CELLS and as many CELL_TYPES; is the file cut short?"},
    {"a.vtk", VTK(POINTS4 "CELLS 2 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n"), CAROM_ERR_FORMAT,
     "a.vtk: the list of cells ends within cell 1; is the file cut short?"},
    {"a.vtk", VTK("POINTS 4 int\n0 0 0 1 0 0 0 1 0 0 0 1\n"), CAROM_ERR_FORMAT,
     "a.vtk:5: points of type int; expected double or float"},
    {"a.vtu", "<VTKFile type=\"PolyData\">", CAROM_ERR_FORMAT,
     "a.vtu:1: expected a file of type UnstructuredGrid, found 'PolyData'"},
    {"a.vtu", "<?xml version=\"1.0\"?><html></html>", CAROM_ERR_FORMAT,
     "a.vtu: no UnstructuredGrid in it; expected a .vtu file of VTK"},
    {"a.vtu", "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>\n<Piece NumberOfPoints='1' NumberOfCells='x'>",
     CAROM_ERR_FORMAT, "a.vtu:2: expected NumberOfCells, found 'x'"},
    {"a.vtu", VTU("", "0 0 0 1 0 0 0 1 0 0 0", CELL("0 1 2 3", "10")), CAROM_ERR_FORMAT,
     "a.vtu: the piece has 11 numbers for points; expected 12; is the file cut short?"},
    {"a.vtu", VTU("", "0 0 0 1 0 0 0 1 0 0 0 x", CELL("0 1 2 3", "10")), CAROM_ERR_FORMAT,
     "a.vtu:2: expected a number, found 'x'"},
    {"a.vtu", VTU("", "0 0 0 1 0 0 0 1 0 0 0 1", CELL("0 1 2 4", "10")), CAROM_ERR_FORMAT,
     "a.vtu: cell 0 refers to point 4; expected 0 to 3"},
    {"a.vtu", VTU("", "0 0 0 1 0 0 0 1 0 0 0 1", CELL("0 1 2 3", "14")), CAROM_ERR_UNSUPPORTED,
     "a.vtu: cell 0 is a pyramid (type 14); expected tetrahedra of 4 nodes (type 10): mesh with those"},
    {"a.vtu", VTU(" compressor=\"vtkLZ4DataCompressor\"", "", ""), CAROM_ERR_FORMAT,
     "a.vtu:1: expected no compressor or vtkZLibDataCompressor, found 'vtkLZ4DataCompressor'"},
    {"a.vtu",
     "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>\n<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>"
     "<DataArray type=\"Float64\" Name=\"p\" format=\"binary\">/////w==</DataArray>",
     CAROM_ERR_FORMAT, "a.vtu: the array 'p' is not whole; is the file cut short?"},
    {"a.vtu",
     "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>\n<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>"
     "<DataArray type=\"Complex\" Name=\"p\" format=\"binary\">AAAA</DataArray>",
     CAROM_ERR_FORMAT,
     "a.vtu: the array 'p' has an unknown type; expected Float64, Float32, Int64, Int32 or another of VTK's"},
};

TEST(bad_files) {
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    carom_tets m = {.node_count = 42};
    carom_error error = {0};
    carom_bytes bytes = {bad[i].name, bad[i].text, strlen(bad[i].text)};
    carom_status status = carom_tets_parse(&bytes, NULL, NULL, &m, &error);
    if (status != bad[i].status) test_fail(__FILE__, __LINE__, "%zu: status %d, expected %d", i, status, bad[i].status);
    CHECK_TEXT(error.message, bad[i].message);
    CHECK(m.node_count == 42);
  }
}

static const struct {
  const char *node, *ele;
  carom_status status;
  const char *message;
} bad_pairs[] = {
    {"4 3 0 0\n", "", CAROM_ERR_FORMAT, "a.node:2: expected a node's number, found the end of the file"},
    {"4 2 0 0\n1 0 0\n2 1 0\n", "", CAROM_ERR_FORMAT, "a.node:1: the dimension of the nodes is 2; expected 3"},
    {"0 3 0 0\n", "", CAROM_ERR_FORMAT, "a.node:1: no nodes; expected the .node file that TetGen wrote with the .ele"},
    {"2 3 0 0\n5 0 0 0\n6 1 0 0\n", "", CAROM_ERR_FORMAT, "a.node:2: the first node has the number 5; expected 0 or 1"},
    {"2 3 0 0\n0 0 0 0\n2 1 0 0\n", "", CAROM_ERR_FORMAT, "a.node:3: expected node 1, found 2; they must be in order"},
    {"2 3 0 0\n0 0 0\n1 1 0 0\n", "", CAROM_ERR_FORMAT, "a.node:2: expected a number, found the end of the line"},
    {"4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "1 10 0\n1 1 2 3 4 1 2 3 4 1 2\n", CAROM_ERR_UNSUPPORTED,
     "a.ele:1: tetrahedra of 10 nodes; expected those of 4: run tetgen without -o2"},
    {"4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "1 4 0\n1 1 2 3 5\n", CAROM_ERR_FORMAT,
     "a.ele:2: tetrahedron 1 refers to node 5; the nodes are 1 to 4"},
    {"4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "1 4 1\n1 1 2 3 4 0.5\n", CAROM_ERR_FORMAT,
     "a.ele:2: expected a whole number as the attribute: its region, found '0.5'"},
    {"4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "2 4 0\n1 1 2 3 4\n", CAROM_ERR_FORMAT,
     "a.ele:3: expected a tetrahedron's number, found the end of the file"},
    {"5 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 2 2 2\n", "1 4 0\n1 1 2 3 4\n", CAROM_ERR_GEOMETRY,
     "a.node:6: node 5 belongs to no tetrahedron (1 of 5 do not); remove it, or ask for such nodes to be left out "
     "(drop_loose)"},
};

TEST(bad_tetgen_files) {
  for (size_t i = 0; i < sizeof bad_pairs / sizeof bad_pairs[0]; i++) {
    carom_tets m = {.node_count = 42};
    carom_error error = {0};
    carom_bytes files[2] = {{"a.node", bad_pairs[i].node, strlen(bad_pairs[i].node)},
                            {"a.ele", bad_pairs[i].ele, strlen(bad_pairs[i].ele)}};
    carom_status status = carom_tets_parse_tetgen(files, NULL, NULL, &m, &error);
    if (status != bad_pairs[i].status) test_fail(__FILE__, __LINE__, "%zu: status %d", i, status);
    CHECK_TEXT(error.message, bad_pairs[i].message);
    CHECK(m.node_count == 42);
  }
}

TEST(binary_nan_and_loose_nodes) {
  carom_tets m = random_mesh(8, 10, 1), back = {0};
  carom_error error = {0};
  m.nodes[3].y = NAN;
  sample s = make_sample(&m, 1);
  CHECK(parse(&s, NULL, &back, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "a.msh: node 16 is at (");
  CHECK_CONTAINS(error.message, ", nan, ");
  free(s.data);
  carom_tets_release(&m);
  const char *text = MSH2("6\n1 9 9 9\n2 0 0 0\n3 1 0 0\n4 0 1 0\n5 7 7 7\n6 0 0 1\n", "1\n1 4 0 2 3 4 6\n");
  carom_tets_options options = {.scale = 1, .drop_loose = true};
  CHECK(carom_tets_parse(&(carom_bytes){"a.msh", text, strlen(text)}, &options, NULL, &back, &error) == CAROM_OK);
  CHECK(back.node_count == 4 && is_sound(&back));
  CHECK_NEAR(carom_tets_measure(&back).volume, 1.0 / 6, 1e-16);
  carom_tets_release(&back);
}

// A file that announces much and holds little asks for little memory.
TEST(announcements_ask_for_no_memory) {
  const char *const texts[] = {
      MSH2("2000000000\n1 0 0 0\n", "0\n"),
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2000000000 1 2000000000\n3 1 0 2000000000\n1\n$EndNodes\n",
      VTK("POINTS 2000000000 double\n0 0 0"), VTK(POINTS4 "CELLS 1000000000 2000000000\n4 0 1 2 3\n"),
      "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>\n<Piece "
      "NumberOfPoints=\"2000000000\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" Name=\"p\" "
      "format=\"binary\">"
      "/////////////////////w==</DataArray></Points>"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    failing_allocator f = {.allowed = -1};
    carom_allocator a = failing_allocator_of(&f);
    carom_tets m;
    CHECK(carom_tets_parse(&(carom_bytes){"a", texts[i], strlen(texts[i])}, NULL, &a, &m, NULL) == CAROM_ERR_FORMAT);
    CHECK(f.live == 0);
    CHECK(f.bytes < 100000);
  }
}

TEST(allocation_fails) {
  carom_tets m = random_mesh(9, 12, 1);
  for (int format = 0; format <= SAMPLES; format++) {
    sample s[2] = {{0}};
    if (format < SAMPLES)
      s[0] = make_sample(&m, format);
    else
      make_tetgen(&m, 1, s);
    for (int at = 0;; at++) {
      failing_allocator f = {.allowed = at};
      carom_allocator a = failing_allocator_of(&f);
      carom_error error = {0};
      carom_tets back = {0};
      carom_status status = format < SAMPLES ? parse(s, &a, &back, &error) : parse_pair(s, &a, &back, &error);
      carom_tets_release(&back);
      CHECK(f.live == 0);
      if (status == CAROM_OK) {
        CHECK(at > 10);
        break;
      }
      CHECK(status == CAROM_ERR_MEMORY);
      CHECK_CONTAINS(error.message, "out of memory");
      REQUIRE(at < 2000);
    }
    free(s[0].data);
    free(s[1].data);
  }
  for (int at = 0; at < 3; at++) {
    failing_allocator f = {.allowed = at};
    carom_tets handed = m;
    handed.allocator = failing_allocator_of(&f);
    carom_error error = {0};
    CHECK(carom_tets_write(&handed, at % 2 ? "x.msh" : "x.vtu", &error) == CAROM_ERR_MEMORY);
    CHECK(f.live == 0);
  }
  carom_tets_release(&m);
}

// ---- Gmsh and TetGen themselves -----------------------------------------------------------------

static bool has_program(const char *name) {
  char command[100];
  snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
  return system(command) == 0;
}

static void put(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  fputs(text, f);
  fclose(f);
}

// Two boxes that share a face, a group each.
static const char two_boxes[] =
    "SetFactory(\"Built-in\");\nMesh.MeshSizeMax = 0.5;\nPoint(1)={0,0,0};Point(2)={1,0,0};Line(1)={1,2};\n"
    "s[] = Extrude{0,1,0}{Line{1};};\nv[] = Extrude{0,0,1}{Surface{s[1]};};\nw[] = Extrude{0,0,2}{Surface{v[0]};};\n"
    "Physical Volume(\"lower\", 7) = {v[1]};\nPhysical Volume(\"upper\", 3) = {w[1]};\n";

static bool mesh_boxes(const char *flags, const char *out) {
  char command[200];
  put("boxes.geo", two_boxes);
  snprintf(command, sizeof command, "gmsh -nt 1 %s -o %s boxes.geo >/dev/null 2>&1", flags, out);
  return system(command) == 0;
}

static void check_groups_of_boxes(const carom_tets *m) {
  REQUIRE(m->groups && m->name_count == 2);
  CHECK_TEXT(m->names[0].group == 7 ? m->names[0].name : m->names[1].name, "lower");
  double *volumes = calloc((size_t)m->tet_count, sizeof *volumes), lower = 0;
  carom_tets_volumes(m, volumes);
  for (int t = 0; t < m->tet_count; t++) {
    CHECK(m->groups[t] == 7 || m->groups[t] == 3);
    lower += m->groups[t] == 7 ? volumes[t] : 0;
  }
  free(volumes);
  CHECK_NEAR(lower, 1, 1e-12);
}

TEST(files_of_gmsh) {
  static const char *const flags[] = {"-3 -format msh22",      "-3 -format msh22 -bin", "-3 -format msh41",
                                      "-3 -format msh41 -bin", "-3 -format vtk",        "-3 -format vtk -bin"};
  if (!has_program("gmsh")) test_skip("gmsh is not installed");
  carom_tets_quality first = {0};
  for (int i = 0; i < 6; i++) {
    const char *out = i < 4 ? "boxes.msh" : "boxes.vtk";
    carom_tets m = {0};
    carom_error error = {0};
    REQUIRE(mesh_boxes(flags[i], out));
    if (carom_tets_read(out, NULL, NULL, &m, &error)) test_fail(__FILE__, __LINE__, "%s: %s", flags[i], error.message);
    REQUIRE(is_sound(&m));
    if (i < 4) check_groups_of_boxes(&m);
    carom_tets_quality q = carom_tets_measure(&m);
    CHECK_NEAR(q.volume, 3, 1e-12);
    if (i == 0) first = q;
    CHECK_NEAR(q.mean_shape, first.mean_shape, 1e-12);
    CHECK(q.worst == first.worst);
    carom_tets_release(&m);
  }
}

TEST(gmsh_reads_our_files) {
  if (!has_program("gmsh")) test_skip("gmsh is not installed");
  carom_tets m = {0}, back = {0};
  REQUIRE(mesh_boxes("-3 -format msh41", "boxes.msh"));
  REQUIRE(carom_tets_read("boxes.msh", NULL, NULL, &m, NULL) == CAROM_OK);
  REQUIRE(carom_tets_write(&m, "ours.msh", NULL) == CAROM_OK);
  REQUIRE(system("gmsh -0 -format msh41 -bin -o theirs.msh ours.msh >/dev/null 2>&1") == 0);
  REQUIRE(carom_tets_read("theirs.msh", NULL, NULL, &back, NULL) == CAROM_OK);
  CHECK(back.tet_count == m.tet_count);
  check_groups_of_boxes(&back);
  CHECK_NEAR(carom_tets_measure(&back).volume, 3, 1e-12);
  carom_tets_release(&back);
  carom_tets_release(&m);
}

TEST(files_of_gmsh_that_are_refused) {
  if (!has_program("gmsh")) test_skip("gmsh is not installed");
  carom_tets m;
  carom_error error = {0};
  REQUIRE(mesh_boxes("-3 -order 2 -format msh41", "second.msh"));
  CHECK(carom_tets_read("second.msh", NULL, NULL, &m, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "is a tetrahedron of 10 nodes");
  REQUIRE(mesh_boxes("-2 -format msh41 -setnumber Mesh.SaveAll 1", "flat.msh"));
  CHECK(carom_tets_read("flat.msh", NULL, NULL, &m, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "elements without a volume; mesh the inside too");
}

// The unit cube with a region of number 5, counted from 0 and from 1.
TEST(files_of_tetgen) {
  static const char cube[] =
      "8 3 0 0\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n6 0\n4 1 4 3 2\n4 5 6 7 8\n"
      "4 1 2 6 5\n4 2 3 7 6\n4 3 4 8 7\n4 4 1 5 8\n0\n1\n1 0.5 0.5 0.5 5 0\n";
  if (!has_program("tetgen")) test_skip("tetgen is not installed");
  put("cube.smesh", cube);
  for (int from_zero = 0; from_zero < 2; from_zero++) {
    REQUIRE(system(from_zero ? "tetgen -pqAza0.02 cube.smesh >/dev/null 2>&1"
                             : "tetgen -pqAa0.02 cube.smesh >/dev/null 2>&1") == 0);
    carom_tets m = {0};
    carom_error error = {0};
    if (carom_tets_read("cube.1.ele", NULL, NULL, &m, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
    CHECK(is_sound(&m));
    CHECK(m.tet_count > 50);
    CHECK_NEAR(carom_tets_measure(&m).volume, 1, 1e-12);
    REQUIRE(m.groups);
    for (int t = 0; t < m.tet_count; t++) CHECK(m.groups[t] == 5);
    carom_tets_release(&m);
  }
  REQUIRE(system("tetgen -pqo2 cube.smesh >/dev/null 2>&1") == 0);
  carom_tets m;
  carom_error error = {0};
  CHECK(carom_tets_read("cube.1.ele", NULL, NULL, &m, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "tetrahedra of 10 nodes; expected those of 4: run tetgen without -o2");
}

// ---- filling ------------------------------------------------------------------------------------

static int count_files(const char *folder) {
  int count = 0;
  DIR *files = opendir(folder);
  for (struct dirent *e; (e = readdir(files));) count += e->d_name[0] != '.';
  closedir(files);
  return count;
}

static void check_filled(carom_tets_filler filler, const char *file, double edge, int pieces) {
  carom_mesh surface;
  REQUIRE(carom_mesh_read(file, NULL, NULL, &surface, NULL) == CAROM_OK);
  int before = count_files(".");
  carom_tets_fill fill = carom_tets_fill_default();
  fill.filler = filler;
  fill.edge = edge;
  fill.folder = ".";
  carom_tets m = {0};
  carom_error error = {0};
  if (carom_tets_init_filled(&surface, &fill, NULL, &m, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  REQUIRE(m.tets);
  CHECK(is_sound(&m));
  carom_mass a, b;
  CHECK(carom_tets_mass(&m, 3, &a, NULL) == CAROM_OK && carom_mesh_mass(&surface, 3, &b, NULL) == CAROM_OK);
  CHECK_NEAR(a.mass, b.mass, 1e-9 * b.mass);
  CHECK_AT_MOST(cm_norm(cm_sub(a.center, b.center)), 1e-9);
  carom_tets_skin skin;
  REQUIRE(carom_tets_skin_init(&m, NULL, &skin, NULL) == CAROM_OK);
  CHECK(skin.triangle_count == surface.triangle_count);
  CHECK(skin.component_count == pieces);
  CHECK(count_files(".") == before);
  carom_tets_skin_release(&skin);
  carom_tets_release(&m);
  carom_mesh_release(&surface);
}

static void put_cube(FILE *f, double x, double half, bool inside_out, int first) {
  static const int faces[6][4] = {{1, 2, 4, 3}, {5, 7, 8, 6}, {1, 5, 6, 2}, {3, 4, 8, 7}, {1, 3, 7, 5}, {2, 6, 8, 4}};
  for (int i = 0; i < 8; i++)
    fprintf(f, "v %g %g %g\n", x + (i & 4 ? half : -half), i & 2 ? half : -half, i & 1 ? half : -half);
  for (int i = 0; i < 6; i++) {
    fputc('f', f);
    for (int k = 0; k < 4; k++) fprintf(f, " %d", first + faces[i][inside_out ? 3 - k : k]);
    fputc('\n', f);
  }
}

static void put_cubes(const char *path, double x, bool hollow) {
  FILE *f = fopen(path, "w");
  put_cube(f, 0, 1, false, 0);
  put_cube(f, x, 0.5, hollow, 8);
  fclose(f);
}

TEST(surfaces_are_filled) {
  static const char *const programs[] = {"gmsh", "tetgen"};
  put_cubes("hollow.obj", 0, true);
  put_cubes("apart.obj", 3, false);
  int filled = 0;
  for (int f = 0; f < 2; f++) {
    if (!has_program(programs[f])) {
      fprintf(stderr, "%s is not installed: its part is left out\n", programs[f]);
      continue;
    }
    check_filled(f ? CAROM_TETS_TETGEN : CAROM_TETS_GMSH, CAROM_TEST_DATA "/meshes/cube.obj", 0, 1);
    check_filled(f ? CAROM_TETS_TETGEN : CAROM_TETS_GMSH, CAROM_TEST_DATA "/meshes/corner.obj", 0.4, 1);
    check_filled(f ? CAROM_TETS_TETGEN : CAROM_TETS_GMSH, "hollow.obj", 0.5, 1);
    check_filled(f ? CAROM_TETS_TETGEN : CAROM_TETS_GMSH, "apart.obj", 0, 2);
    filled++;
  }
  if (!filled) test_skip("neither gmsh nor tetgen is installed");
}

static void check_not_filled(const carom_mesh *surface, const carom_tets_fill *fill, carom_status status,
                             const char *message) {
  carom_tets m = {.node_count = 42};
  carom_error error = {0};
  CHECK(carom_tets_init_filled(surface, fill, NULL, &m, &error) == status);
  CHECK_TEXT(error.message, message);
  CHECK(m.node_count == 42);
}

TEST(surfaces_that_cannot_be_filled) {
  carom_mesh surface;
  REQUIRE(carom_mesh_read(CAROM_TEST_DATA "/meshes/cube.obj", NULL, NULL, &surface, NULL) == CAROM_OK);
  carom_tets_fill fill = carom_tets_fill_default();
  put("slow.sh", "#!/bin/sh\nexec sleep 3000\n");
  put("loud.sh", "#!/bin/sh\necho fine\necho 'Error : no luck'\necho bye\nexit 3\n");
  REQUIRE(system("chmod +x slow.sh loud.sh") == 0);
  int before = count_files(".");
  fill.folder = ".";
  fill.program = "no-such-gmsh";
  check_not_filled(
      &surface, &fill, CAROM_ERR_UNSUPPORTED,
      "the program no-such-gmsh, which fills surfaces with tetrahedra, is not installed; install it (Debian: "
      "the package gmsh), or mesh the solid by other means");
  fill.program = "/bin/false";
  check_not_filled(
      &surface, &fill, CAROM_ERR_GEOMETRY,
      "/bin/false could not fill the surface with tetrahedra (code 1); it said nothing; check the surface for "
      "triangles that cut each other");
  fill.program = "./slow.sh";
  fill.seconds = 0.05;
  check_not_filled(&surface, &fill, CAROM_NOT_CONVERGED,
                   "./slow.sh was ended after 0.05 s; give it more time, or a coarser surface");
  fill.program = "./loud.sh";
  fill.seconds = 600;
  check_not_filled(
      &surface, &fill, CAROM_ERR_GEOMETRY,
      "./loud.sh could not fill the surface with tetrahedra (code 3); it said 'Error : no luck'; check the "
      "surface for triangles that cut each other");
  fill.folder = "no/such/folder";
  check_not_filled(&surface, &fill, CAROM_ERR_IO,
                   "cannot create a folder in 'no/such/folder': No such file or directory; create the folder first "
                   "(mkdir -p) or correct the path");
  surface.triangle_count--;
  fill.folder = ".";
  carom_tets m;
  carom_error error;
  CHECK(carom_tets_init_filled(&surface, &fill, NULL, &m, &error) == CAROM_ERR_GEOMETRY);
  CHECK_CONTAINS(error.message, "the mesh is not closed");
  CHECK(count_files(".") == before);
  carom_mesh_release(&surface);
}
