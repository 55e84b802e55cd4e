// Build tool: turns files into one C source with a table  const carom_embedded NAME[] = {{file, bytes, size}, ...,
// {0}}. usage: embed OUTPUT NAME [LABEL=FILE ...]
#include <stdio.h>
#include <string.h>

static int embed_bytes(FILE *out, int index, const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) return fprintf(stderr, "embed: cannot read %s\n", path), 1;
  fprintf(out, "static const unsigned char data_%d[] = {", index);
  long size = 0;
  for (int c; (c = fgetc(in)) != EOF; size++) fprintf(out, size % 24 ? "%d," : "\n%d,", c);
  fprintf(out, "0};\n");  // a terminating zero lets text be used as a string
  fclose(in);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  FILE *out = fopen(argv[1], "wb");
  if (!out) return fprintf(stderr, "embed: cannot write %s\n", argv[1]), 1;
  fprintf(out, "#include \"base/embedded.h\"\n");
  for (int i = 3; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals || embed_bytes(out, i, equals + 1)) return 1;
    *equals = 0;
  }
  fprintf(out, "const carom_embedded %s[] = {\n", argv[2]);
  for (int i = 3; i < argc; i++) fprintf(out, "{\"%s\", data_%d, sizeof data_%d - 1},\n", argv[i], i, i);
  fprintf(out, "{0, 0, 0}};\n");
  return fclose(out) ? 1 : 0;
}
