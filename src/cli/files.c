// What is asked about files before long work begins, so that nothing is lost and nothing is done in vain; and pages,
// which are written whole or not at all.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

FILE *cli_open_input(const char *path) {
  struct stat about;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  FILE *in = regular ? fdopen(file, "rb") : NULL;
  if (!regular) errno = EINVAL;
  if (!in) close(file);
  return in;
}

// ---- one place, two names -------------------------------------------------------------------------------------------

static bool same_inode(const struct stat *x, const struct stat *y) {
  return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool stat_folder(const char *path, struct stat *about) {
  char folder[CLI_PATH];
  int length = (int)(file_name(path) - path);
  snprintf(folder, sizeof folder, "%.*s", length, path);
  return stat(length > 0 ? folder : ".", about) == 0;
}

// By device and inode, so that links do not hide it; of files that are not there yet, by folder and name. Devices and
// pipes can take several outputs.
static bool same_place(const char *a, const char *b) {
  struct stat x, y;
  bool there = stat(a, &x) == 0;
  if (there != (stat(b, &y) == 0)) return false;
  if (there) return S_ISREG(x.st_mode) && same_inode(&x, &y);
  return strcmp(file_name(a), file_name(b)) == 0 && stat_folder(a, &x) && stat_folder(b, &y) && same_inode(&x, &y);
}

// ---- what may be replaced -------------------------------------------------------------------------------------------

static bool contains(const char *text, size_t size, const char *part) {
  size_t n = strlen(part);
  for (size_t i = 0; i + n <= size; i++)
    if (memcmp(text + i, part, n) == 0) return true;
  return false;
}

// Our pages, scenes and exports say near their beginning who made them. Tables (CSV) have no place for it.
static bool made_by_us(const char *path) {
  static const char *const signs[] = {CLI_GENERATOR, "\"generator\":\"carom ", "<!-- made by carom -->",
                                      "# made by carom"};
  char begin[4096];
  FILE *in = cli_open_input(path);
  size_t size = in ? fread(begin, 1, sizeof begin, in) : 0;
  bool ours = false;
  if (in) fclose(in);
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) ours = ours || contains(begin, size, signs[i]);
  return ours;
}

static void try_opening(void *path) {
  carom_result *older = NULL;
  if (carom_result_open(path, NULL, &older, NULL) == CAROM_OK) carom_result_close(older);
}

static bool result_of(const char *path, const char *command) {
  char name[CLI_PATH];
  carom_result *older = NULL;
  snprintf(name, sizeof name, "%s", path);
  if (!cli_survives(path, try_opening, name)) return false;
  bool own =
      carom_result_open(path, NULL, &older, NULL) == CAROM_OK && strncmp(older->command, command, strlen(command)) == 0;
  carom_result_close(older);
  return own;
}

bool cli_may_replace(const char *verb, const cli_output *o, bool force) {
  struct stat about;
  if (force || stat(o->path, &about) != 0 || !S_ISREG(about.st_mode)) return true;
  if (o->own && (about.st_size == 0 || result_of(o->path, o->own))) return true;
  if (o->own)
    return cli_error("%s: '%s' exists already and is not a result of '%s'; move it away or overwrite it with --force",
                     verb, o->path, o->own);
  if (!o->result && (about.st_size == 0 || made_by_us(o->path))) return true;
  return cli_error("%s: '%s' exists already%s; choose another name or overwrite it with --force", verb, o->path,
                   o->result ? "" : " and does not say that carom made it");
}

// Asked of a name beside the output's, as files are written before they get their own: whoever is killed here leaves no
// empty file that looks like a result.
static bool can_create(const char *output) {
  char beside[CLI_PATH + 48];
  snprintf(beside, sizeof beside, "%s.%ld.part", output, (long)getpid());
  int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file >= 0) close(file), unlink(beside);
  return file >= 0 || errno == EEXIST;
}

// Opening for writing, without a change to what is there, is the only sure way to know.
static bool can_open(const char *output) {
  int file = open(output, O_WRONLY | O_CLOEXEC);
  if (file >= 0) close(file);
  return file >= 0;
}

static bool can_write(const char *verb, const char *output) {
  struct stat about;
  bool there = stat(output, &about) == 0;
  if (there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return true;  // a pipe might make us wait
  if (!there && lstat(output, &about) == 0)
    return cli_error("%s: cannot write '%s': it is a link that leads nowhere; remove it or choose another name", verb,
                     output);
  if (there ? can_open(output) : can_create(output)) return true;
  return cli_error("%s: cannot write '%s': %s; nothing was done yet", verb, output, strerror(errno));
}

// ---- the rule -------------------------------------------------------------------------------------------------------

static bool keeps_input(const char *verb, const char *output, const char *input) {
  if (!input || !same_place(output, input)) return true;
  return cli_error("%s: '%s' is read, so it cannot be written as well; give another name for the output", verb, output);
}

static bool keeps_inputs(const cli_files *f, const char *output) {
  for (int i = 0; i < CLI_INPUTS; i++)
    if (!keeps_input(f->verb, output, f->inputs[i])) return false;
  for (int i = 0; f->scene && i < f->scene->file_count; i++)
    if (!keeps_input(f->verb, output, f->scene->files[i])) return false;
  return true;
}

static bool stands_alone(const cli_files *f, int which) {
  for (int i = 0; i < which; i++)
    if (f->outputs[i].path && same_place(f->outputs[i].path, f->outputs[which].path))
      return cli_error("%s: '%s' and '%s' are one file, and both would be written; give them different names", f->verb,
                       f->outputs[i].path, f->outputs[which].path);
  return true;
}

int cli_check_files(const cli_files *f) {
  for (int i = 0; i < CLI_OUTPUTS; i++)
    if (f->outputs[i].path && (!keeps_inputs(f, f->outputs[i].path) || !stands_alone(f, i))) return EXIT_MISTAKE;
  for (int i = 0; i < CLI_OUTPUTS; i++) {
    const cli_output *o = &f->outputs[i];
    if (o->path && (!cli_may_replace(f->verb, o, f->force) || !can_write(f->verb, o->path))) return EXIT_FAILED;
  }
  return EXIT_GOOD;
}

// ---- pages ----------------------------------------------------------------------------------------------------------

cli_page *cli_page_begin(cli_page *page) {
  *page = (cli_page){0};
  page->out = open_memstream(&page->text, &page->size);
  if (!page->out) cli_error("out of memory for a page");
  return page->out ? page : NULL;
}

int cli_page_end(cli_page *page, const char *path) {
  carom_error error = {.status = CAROM_ERR_MEMORY, .message = "out of memory for a page"};
  bool whole = !ferror(page->out);
  carom_status status = fclose(page->out) == 0 && whole ? CAROM_OK : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) status = carom_write_file(&(carom_bytes){path, page->text, page->size}, &error);
  free(page->text);
  return status == CAROM_OK ? EXIT_GOOD : cli_fail(&error);
}
