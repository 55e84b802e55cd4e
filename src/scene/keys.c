#include "scene/keys.h"

#define KEY_TEXT(section, key, text) #text,
#define KEY_ARRAY(section, name) static const char *const keys_##section[] = {CAROM_KEYS_##section(KEY_TEXT, section)};
CAROM_SECTIONS(KEY_ARRAY)

#define SECTION_ROW(section, name) {name, KEYS_IN_##section, keys_##section},
const carom_section_keys carom_scene_sections[CAROM_SECTION_COUNT] = {CAROM_SECTIONS(SECTION_ROW)};

#define SECTION_FITS(section, name) \
  _Static_assert((int)KEYS_IN_##section <= (int)CAROM_MOST_KEYS, "CAROM_MOST_KEYS is too small");
CAROM_SECTIONS(SECTION_FITS)
