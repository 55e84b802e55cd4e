// For builds without other engines.
#include "conformance.h"
const conformance_peer *const conformance_peers[] = {NULL};
