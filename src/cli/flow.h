// What the files of `carom flow` share.
#ifndef CAROM_SRC_CLI_FLOW_H
#define CAROM_SRC_CLI_FLOW_H

#include "cli/cli.h"

typedef struct cli_flow_run {
  const char *paths[2];                                    // of A and B
  const char *output, *picture, *page, *mps, *truth_path;  // null: none
  carom_image A, B;
  carom_flow_field field, truth;
  carom_flow_options options;
  carom_flow_info info;
  carom_flow_error distance;  // from the truth
  double longest;             // of the picture; 0: of the field
} cli_flow_run;

void cli_flow_print(const cli_flow_run *r);
void cli_flow_print_json(const cli_flow_run *r);
int cli_flow_write_page(const cli_flow_run *r);  // an exit code

#endif
