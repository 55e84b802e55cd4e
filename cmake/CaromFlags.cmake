# Flags that every target of ours takes, through the interface target carom_flags.
add_library(carom_flags INTERFACE)
target_compile_options(carom_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wstrict-prototypes -Wmissing-prototypes
                       # The same bits from every build: no fused operations unless the source asks for them.
                       -ffp-contract=off
                       # sqrt compiles to the instruction instead of a call that sets errno.
                       -fno-math-errno)
target_compile_definitions(carom_flags INTERFACE _XOPEN_SOURCE=700)
if(CAROM_WERROR)
  target_compile_options(carom_flags INTERFACE -Werror)
endif()
