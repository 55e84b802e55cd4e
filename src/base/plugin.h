// Parts of the library that are loaded when they are asked for, since they bring libraries that not every program
// wants.
#ifndef CAROM_SRC_BASE_PLUGIN_H
#define CAROM_SRC_BASE_PLUGIN_H

// A symbol of a plug-in ("libcarom_tao.so"): looked for beside the library, in its folder for plug-ins, and where the
// system looks. Null when there is none, or in builds with sanitizers, which refuse to load it as it must be. A plug-in
// is never unloaded; asking again only counts.
void *carom_plugin_symbol(const char *file, const char *symbol);

#endif
