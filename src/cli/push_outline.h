// What a body covers of the plane z = 0, as convex outlines.
#ifndef CAROM_SRC_CLI_PUSH_OUTLINE_H
#define CAROM_SRC_CLI_PUSH_OUTLINE_H

#include "cli/cli.h"

enum { CLI_OUTLINE_POINTS = 4096 };

typedef struct cli_outline {
  int count;
  double points[CLI_OUTLINE_POINTS][2];  // counter-clockwise
} cli_outline;

// The shadow of a shape in the world. Half-spaces reach as far as `far` from their origin; what has more corners than
// there is room for is drawn with fewer.
void cli_outline_of(const carom_placed *placed, double far, cli_outline *outline);

#endif
