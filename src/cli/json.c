#include <math.h>
#include <string.h>

#include "cli/cli.h"

static void begin_member(cli_json *json, const char *name) {
  if (!json->first) fputc(',', json->out);
  json->first = false;
  if (name) fprintf(json->out, "\"%s\":", name);
}

cli_json cli_json_begin(FILE *out) {
  fputc('{', out);
  return (cli_json){out, true};
}

void cli_json_end(cli_json *json) { fputs("}\n", json->out); }

void cli_json_open(cli_json *json, const char *name, char bracket) {
  begin_member(json, name);
  fputc(bracket, json->out);
  json->first = true;
}

void cli_json_close(cli_json *json, char bracket) {
  fputc(bracket, json->out);
  json->first = false;
}

void cli_json_text(cli_json *json, const char *name, const char *text) {
  begin_member(json, name);
  cli_put_escaped(json->out, "\"%s\"", text, "\"\\");
}

// JSON has no infinities and no NaN.
void cli_json_number(cli_json *json, const char *name, double value) {
  begin_member(json, name);
  if (isfinite(value))
    fprintf(json->out, "%.17g", value);
  else
    fputs("null", json->out);
}

void cli_json_integer(cli_json *json, const char *name, long long value) {
  begin_member(json, name);
  fprintf(json->out, "%lld", value);
}

void cli_json_bool(cli_json *json, const char *name, bool value) {
  begin_member(json, name);
  fputs(value ? "true" : "false", json->out);
}

void cli_json_members(cli_json *json, const cli_member *members, size_t count) {
  for (const cli_member *m = members; m < members + count; m++) {
    if (m->kind == CLI_MEMBER_TEXT) cli_json_text(json, m->name, m->text);
    if (m->kind == CLI_MEMBER_NUMBER) cli_json_number(json, m->name, m->number);
    if (m->kind == CLI_MEMBER_INTEGER) cli_json_integer(json, m->name, m->integer);
    if (m->kind == CLI_MEMBER_BOOL) cli_json_bool(json, m->name, m->integer != 0);
  }
}

void cli_json_verdict(cli_json *json, const carom_verdict *verdict) {
  cli_json_open(json, "verdict", '{');
  cli_json_bool(json, "pass", verdict->pass);
  cli_json_text(json, "outcome", carom_outcome_name(verdict->outcome));
  cli_json_text(json, "reason", verdict->reason);
  cli_json_open(json, "rows", '[');
  for (int i = 0; i < verdict->count; i++) {
    const carom_verdict_row *row = &verdict->rows[i];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "key", row->key);
    cli_json_number(json, "value", row->value);
    cli_json_number(json, "bound", row->bound);
    cli_json_bool(json, "pass", row->pass);
    cli_json_text(json, "where", row->where);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

void cli_json_diagnostics(cli_json *json, const carom_diagnostics *diagnostics) {
  cli_json_open(json, "diagnostics", '[');
  for (int i = 0; i < diagnostics->count; i++) {
    const carom_diagnostic *d = &diagnostics->items[i];
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("severity", d->warning ? "warning" : "error"), CLI_T("file", d->file),
                CLI_I("line", d->line), CLI_I("column", d->column), CLI_T("message", d->message),
                CLI_T("hint", d->hint ? d->hint : ""));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}
