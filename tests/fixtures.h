// The small worlds of samples/, in a test.
#ifndef CAROM_TESTS_FIXTURES_H
#define CAROM_TESTS_FIXTURES_H

#include "test.h"
#include "worlds.h"

#endif
