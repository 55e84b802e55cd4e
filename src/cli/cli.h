// What the verbs of the command line share: exit codes, options, messages, JSON, progress. Like any stranger's program
// it sees the public headers only.
#ifndef CAROM_SRC_CLI_CLI_H
#define CAROM_SRC_CLI_CLI_H

#include <stdio.h>

#include "carom/carom.h"

enum {
  EXIT_GOOD = 0,
  EXIT_FAILED = 1,         // a file could not be written, a step failed, ...
  EXIT_MISTAKE = 2,        // the command line or the scene is wrong
  EXIT_VERDICT = 3,        // --strict, and the audit did not pass
  EXIT_INFEASIBLE = 4,     // no plan meets the conditions (the best iterate is kept), or no decision the scenarios
  EXIT_INTERRUPTED = 130,  // Ctrl-C; what was done so far is kept
};

// ---- verbs ------------------------------------------------------------------------------------------------

typedef struct cli_verb {
  const char *name, *summary;
  int (*run)(int argc, char **argv);  // argv[0] is the verb
} cli_verb;

int cli_run(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_audit(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_design(int argc, char **argv);
int cli_push(int argc, char **argv);
int cli_demo(int argc, char **argv);
int cli_gap(int argc, char **argv);
int cli_lcp(int argc, char **argv);
int cli_friction(int argc, char **argv);
int cli_flow(int argc, char **argv);
int cli_root(int argc, char **argv);
int cli_saa(int argc, char **argv);
int cli_navigate(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_integrators(int argc, char **argv);

// ---- options ----------------------------------------------------------------------------------------------

enum { CLI_MAX_LIST = 64, CLI_OWN_ITEMS = 8 };  // from the command line, and those that a verb adds itself

typedef struct cli_list {
  const char *items[CLI_MAX_LIST + CLI_OWN_ITEMS];
  int count;
} cli_list;

typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_LIST, CLI_END } cli_kind;

typedef struct cli_option {
  cli_kind kind;
  char letter;        // 0 for none
  const char *name;   // without the dashes
  const char *value;  // what stands for the value in --help; null for flags
  const char *help;
  void *target;  // bool, const char * or cli_list
} cli_option;

// What a verb takes. `operands` receives up to max_operands words that are not options.
typedef struct cli_syntax {
  const char *verb, *usage, *about;
  const cli_option *options;  // ends with CLI_END
  const char **operands;
  int min_operands, max_operands;
} cli_syntax;

// True: go on. False: stop with *exit_code, since help was asked for or a message was printed.
bool cli_parse(const cli_syntax *syntax, int argc, char **argv, int *exit_code);

// The value of an option, which stays as it is where `text` is null; false after a message.
bool cli_read_number(const char *verb, const char *option, const char *text, double least, double most, double *value);
bool cli_read_count(const char *verb, const char *option, const char *text, double least, double most, int *value);
// The index of one of `words` (ends with null).
bool cli_read_word(const char *verb, const char *option, const char *text, const char *const *words, int *index);
// Numbers separated by commas, exactly `count` of them, all finite; false without a message otherwise. *end is set to
// what follows.
bool cli_read_numbers(const char *text, int count, double *values, const char **end);

// ---- messages ---------------------------------------------------------------------------------------------

// As fprintf, but what %s stands for is escaped (carom_escape): it may come from a stranger's file.
void cli_print(FILE *out, const char *format, ...) CAROM_PRINTF(2, 3);
void cli_print_lines(const char *text);  // on stdout; all but the ends of lines is escaped
// One text by a form with one %s, escaped, with more characters that must be (carom_escape).
void cli_put_escaped(FILE *out, const char *form, const char *text, const char *also);
bool cli_error(const char *format, ...) CAROM_PRINTF(1, 2);  // "carom: ..." on stderr; always false
int cli_fail(const carom_error *error);                      // prints it; returns EXIT_FAILED
int cli_stopped(const char *output);                         // after Ctrl-C: says that this is not written
void cli_print_diagnostics(const carom_diagnostics *diagnostics);
void cli_print_verdict(const carom_verdict *verdict, FILE *out);

// The command as the user typed it, for the record.
void cli_command_line(int argc, char **argv, char *text, size_t size);

// `path` with its last extension replaced, and without its folder unless that is kept.
void cli_replace_extension(const char *path, bool keep_folder, const char *extension, char *text, size_t size);

// ---- files ------------------------------------------------------------------------------------------------

enum { CLI_PATH = 4096 + 128 };  // longer than any path that the system takes, so that none is cut to another one

FILE *cli_open_input(const char *path);  // null for pipes and devices too: they might keep us waiting

// What a command reads and writes, asked before the work begins. One rule for every verb: nothing is written over what
// is read (the files of a scene among them) or over another output, and no file is replaced that Carom did not make,
// unless --force says so. Names that are null are passed over.
enum { CLI_INPUTS = 4, CLI_OUTPUTS = 12 };
typedef struct cli_output {
  const char *path;
  const char *own;  // a result that may be replaced where this command ("carom demo") made it; null for others
  bool result;      // replaced by --force alone, whoever made it, unless `own` says otherwise
} cli_output;
typedef struct cli_files {
  const char *verb;
  bool force;
  const char *inputs[CLI_INPUTS];
  const carom_scene *scene;
  cli_output outputs[CLI_OUTPUTS];
} cli_files;
int cli_check_files(const cli_files *files);  // EXIT_GOOD, or an exit code after a message
// The part of the rule for one more output: whether that may be replaced, or is not there.
bool cli_may_replace(const char *verb, const cli_output *output, bool force);
// Pages and other texts, put together in memory and then written whole or not at all.
typedef struct cli_page {
  FILE *out;  // null when out of memory
  char *text;
  size_t size;
} cli_page;
cli_page *cli_page_begin(cli_page *page);
int cli_page_end(cli_page *page, const char *path);                  // EXIT_GOOD, or EXIT_FAILED after a message
#define CLI_GENERATOR "<meta name=\"generator\" content=\"carom\">"  // by which we know our pages again

// ---- JSON -------------------------------------------------------------------------------------------------
// Just enough to print one object: open, members, close. Names are ours and need no escaping; texts are escaped.

typedef struct cli_json {
  FILE *out;
  bool first;  // nothing written yet at this level
} cli_json;

cli_json cli_json_begin(FILE *out);
void cli_json_end(cli_json *json);  // closes the outermost object and the line
void cli_json_open(cli_json *json, const char *name, char bracket);
void cli_json_close(cli_json *json, char bracket);
void cli_json_text(cli_json *json, const char *name, const char *text);
void cli_json_number(cli_json *json, const char *name, double value);
void cli_json_integer(cli_json *json, const char *name, long long value);
void cli_json_bool(cli_json *json, const char *name, bool value);

// Several members of the object that is open: CLI_MEMBERS(&json, CLI_T("title", title), CLI_N("step", h));
typedef struct cli_member {
  const char *name;
  enum { CLI_MEMBER_TEXT, CLI_MEMBER_NUMBER, CLI_MEMBER_INTEGER, CLI_MEMBER_BOOL } kind;
  const char *text;
  double number;
  long long integer;
} cli_member;
void cli_json_members(cli_json *json, const cli_member *members, size_t count);
#define CLI_T(name_, value) \
  { .name = name_, .kind = CLI_MEMBER_TEXT, .text = value }
#define CLI_N(name_, value) \
  { .name = name_, .kind = CLI_MEMBER_NUMBER, .number = value }
#define CLI_I(name_, value) \
  { .name = name_, .kind = CLI_MEMBER_INTEGER, .integer = value }
#define CLI_B(name_, value) \
  { .name = name_, .kind = CLI_MEMBER_BOOL, .integer = value }
#define CLI_MEMBERS(json, ...)                              \
  cli_json_members(json, (const cli_member[]){__VA_ARGS__}, \
                   sizeof((const cli_member[]){__VA_ARGS__}) / sizeof(cli_member))

void cli_json_verdict(cli_json *json, const carom_verdict *verdict);
void cli_json_diagnostics(cli_json *json, const carom_diagnostics *diagnostics);

// ---- memory -----------------------------------------------------------------------------------------------

bool cli_has_room(void);  // under a limit on the address space; false after a message

// ---- long work --------------------------------------------------------------------------------------------

void cli_catch_interrupts(void);
void cli_hear_of_full_disks(void);  // as errors, instead of a signal that kills
bool cli_interrupted(void);

// A bar on stderr when that is a terminal, nothing otherwise.
typedef struct cli_progress {
  const char *label;
  double start, last_drawn;
  bool terminal, drawn;
} cli_progress;

cli_progress cli_progress_begin(const char *label, bool quiet);
void cli_progress_show(cli_progress *progress, double done, double total, const char *detail);
void cli_progress_end(cli_progress *progress);
carom_progress cli_progress_callback(cli_progress *progress);  // also asks for a stop after Ctrl-C

// ---- shared steps of verbs --------------------------------------------------------------------------------

// Reads a scene, with a progress bar when it is long.
carom_status cli_load_scene(const char *path, const cli_list *overrides, carom_scene **scene,
                            carom_diagnostics *diagnostics);
// Reads a scene, printing its diagnostics; null after an error.
carom_scene *cli_read_scene(const char *path, const cli_list *overrides, bool json);
// Whether the integrator can begin from the start of the scene; says so when it cannot.
bool cli_can_start(const carom_scene *scene);
// The longest explicit step that is stable at rest for all solids of a model, without contact; infinite without solids.
double cli_critical_step(const carom_model *model);
// What steps are taken in several parts for: "springs keep their energy".
const char *cli_why_parts(const carom_model *model);
carom_scene_options cli_scene_options(const cli_list *overrides);
// The last word on a file with mistakes: how many, and which verb reads it if this one does not.
typedef enum cli_reads {
  CLI_READS_SCENE,
  CLI_READS_PLAN,
  CLI_READS_SWEEP,
  CLI_READS_DESIGN,
  CLI_READS_PUSH,
  CLI_READS_SAA,
  CLI_READS_NAVIGATE,
  CLI_READS_RESULT
} cli_reads;
void cli_count_mistakes(const char *path, int count, cli_reads kind);
carom_result *cli_open_result(const char *path);
// From here on this process only waits for a child that does the rest of the verb: for what reads results of strangers.
void cli_guard(const char *path);
// Tries in a child first what would crash this process with a damaged file; false after a message.
bool cli_survives(const char *path, void (*attempt)(void *context), void *context);
// Writes the replay page of a result file and says so; an exit code.
int cli_write_replay(const char *result_path, const char *page_path, bool quiet);

// Which of how many processes this is, in a run under mpirun.
typedef struct cli_ranks {
  int rank, count;  // count is 0 or 1 for a process by itself
} cli_ranks;

typedef struct cli_run_settings {
  const char *output;  // result file; null for none
  bool overwrite, quiet, json, strict;
  const char *command;  // for the record
  const char *resume;   // result file whose checkpoint to begin from; null: the scene's start
  cli_ranks ranks;
} cli_run_settings;

// Runs a scene that was read; an exit code.
int cli_run_scene(const carom_scene *scene, const cli_run_settings *settings);

#endif
