# The command line, one process per case of tests/cli/cases.py.
find_program(CAROM_CLI_PYTHON NAMES python3)
set(cli_cases ${CMAKE_CURRENT_SOURCE_DIR}/cli/cases.py)
if(CAROM_CLI_PYTHON AND TARGET carom_cli)
  file(STRINGS ${cli_cases} lines REGEX "^def case_")
  foreach(line ${lines})
    string(REGEX REPLACE "^def case_([a-z0-9_]+).*" "\\1" name ${line})
    add_test(NAME cli.${name} COMMAND ${CAROM_CLI_PYTHON} ${cli_cases} $<TARGET_FILE:carom_cli> ${PROJECT_SOURCE_DIR}/examples ${name})
    set(labels cli)
    if(name MATCHES "_long$")
      list(APPEND labels long)
    endif()
    set_tests_properties(cli.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${CAROM_HANG} LABELS "${labels}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cli_cases})
else()
  message(STATUS "cli.*: left out (needs python3)")
endif()

# The replay page in headless Chromium: synthetic runs whose motion is known, and a page that the program made.
find_program(CAROM_CHROMIUM NAMES chromium chromium-browser)
if(CAROM_CHROMIUM AND NODE_EXECUTABLE AND CAROM_VIEWER AND EXISTS ${PROJECT_SOURCE_DIR}/viewer/node_modules)
  set(browser_environment CAROM_CHROMIUM=${CAROM_CHROMIUM} CAROM_TEMPLATE=${PROJECT_BINARY_DIR}/src/replay.html
      CAROM_SCREENSHOTS=${PROJECT_BINARY_DIR}/screenshots)
  add_test(NAME browser.replay COMMAND ${NODE_EXECUTABLE} --test ${CMAKE_CURRENT_SOURCE_DIR}/browser/replay.test.mjs)
  set(demo_folder ${PROJECT_BINARY_DIR}/demo)
  add_test(NAME browser.make_page COMMAND carom_cli demo whirl --dir ${demo_folder} --strict --force)
  add_test(NAME browser.program_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-page.mjs
           ${demo_folder}/whirl.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/whirl.png --hash t=6&paused)
  set_tests_properties(browser.make_page PROPERTIES FIXTURES_SETUP page LABELS browser TIMEOUT ${CAROM_HANG})
  set_tests_properties(browser.program_page PROPERTIES FIXTURES_REQUIRED page)
  set_tests_properties(browser.replay browser.program_page PROPERTIES LABELS browser TIMEOUT ${CAROM_HANG} RUN_SERIAL ON
                       ENVIRONMENT "${browser_environment}")
  if(TARGET result_samples)
    set(sensed_folder ${PROJECT_BINARY_DIR}/sensed)
    file(MAKE_DIRECTORY ${sensed_folder})
    add_test(NAME browser.make_sensed COMMAND result_samples ${sensed_folder})
    add_test(NAME browser.view_sensed COMMAND carom_cli view ${sensed_folder}/complete.h5 -o ${sensed_folder}/page.html --quiet)
    add_test(NAME browser.view_soft COMMAND carom_cli view ${sensed_folder}/soft.h5 -o ${sensed_folder}/soft.html --quiet)
    add_test(NAME browser.soft_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-page.mjs
             ${sensed_folder}/soft.html)
    set_tests_properties(browser.view_soft PROPERTIES DEPENDS browser.make_sensed FIXTURES_REQUIRED sensed FIXTURES_SETUP soft
                         LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.soft_page PROPERTIES FIXTURES_REQUIRED "sensed;soft" LABELS browser TIMEOUT ${CAROM_HANG}
                         RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
    add_test(NAME browser.sensed_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-page.mjs
             ${sensed_folder}/page.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/sensed.png --hash t=0.5&paused)
    set_tests_properties(browser.make_sensed PROPERTIES FIXTURES_SETUP sensed LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.view_sensed PROPERTIES DEPENDS browser.make_sensed FIXTURES_SETUP sensed LABELS browser
                         TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.sensed_page PROPERTIES FIXTURES_REQUIRED sensed LABELS browser TIMEOUT ${CAROM_HANG}
                         RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  endif()
  set(sweep_page ${PROJECT_BINARY_DIR}/demo-sweep)
  add_test(NAME browser.make_sweep COMMAND carom_cli sweep ${PROJECT_SOURCE_DIR}/examples/sweep-coin/problem.yaml --force
           -o ${sweep_page}.h5 --set axes.speed.count=9 --set axes.spin.count=9 --quiet)
  add_test(NAME browser.sweep_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-sweep.mjs
           ${sweep_page}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/sweep.png)
  add_test(NAME browser.make_sweep_of_three COMMAND carom_cli sweep ${CMAKE_CURRENT_SOURCE_DIR}/data/sweep-three/problem.yaml
           --force -o ${sweep_page}-three.h5 --quiet)
  add_test(NAME browser.sweep_page_of_three COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-sweep.mjs
           ${sweep_page}-three.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/sweep-three.png)
  set_tests_properties(browser.make_sweep browser.make_sweep_of_three PROPERTIES FIXTURES_SETUP sweep LABELS browser TIMEOUT
                       ${CAROM_HANG})
  set_tests_properties(browser.sweep_page browser.sweep_page_of_three PROPERTIES FIXTURES_REQUIRED sweep LABELS browser TIMEOUT
                       ${CAROM_HANG} RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  set(design_page ${PROJECT_BINARY_DIR}/demo-design)
  add_test(NAME browser.make_design COMMAND carom_cli design ${PROJECT_SOURCE_DIR}/examples/design-balls/problem.yaml --force
           -o ${design_page}.h5 --quiet)
  add_test(NAME browser.design_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-design.mjs
           ${design_page}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/design.png)
  set_tests_properties(browser.make_design PROPERTIES FIXTURES_SETUP design LABELS browser TIMEOUT ${CAROM_HANG})
  set_tests_properties(browser.design_page PROPERTIES FIXTURES_REQUIRED design LABELS browser TIMEOUT ${CAROM_HANG}
                       RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  set(root_line "x^3 - 2*x + 2" --start=0)
  set(root_plane "z^3 - 2*z + 2" --complex --start=0.02,0.03 --size=60)
  foreach(root line plane)
    set(root_page ${PROJECT_BINARY_DIR}/demo-root-${root})
    add_test(NAME browser.make_root_${root} COMMAND carom_cli root ${root_${root}} --basins ${root_page}.html --force)
    add_test(NAME browser.root_page_${root} COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-root.mjs
             ${root_page}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/root-${root}.png)
    set_tests_properties(browser.make_root_${root} PROPERTIES FIXTURES_SETUP root-${root} LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.root_page_${root} PROPERTIES FIXTURES_REQUIRED root-${root} LABELS browser TIMEOUT ${CAROM_HANG}
                         RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  endforeach()
  set(flow_page ${PROJECT_BINARY_DIR}/demo-flow.html)
  set(flow_example ${PROJECT_SOURCE_DIR}/examples/flow)
  add_test(NAME browser.make_flow COMMAND carom_cli flow ${flow_example}/A.png ${flow_example}/B.png -l 0.05 --levels 1 --warps 1
           --truth ${flow_example}/truth.flo --longest 1 --page ${flow_page} --force)
  add_test(NAME browser.flow_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-flow.mjs ${flow_page}
           --screenshot ${PROJECT_BINARY_DIR}/screenshots/flow.png)
  set_tests_properties(browser.make_flow PROPERTIES FIXTURES_SETUP flow LABELS browser TIMEOUT ${CAROM_HANG})
  set_tests_properties(browser.flow_page PROPERTIES FIXTURES_REQUIRED flow LABELS browser TIMEOUT ${CAROM_HANG} RUN_SERIAL ON
                       ENVIRONMENT "${browser_environment}")
  set(saa_sampled ${PROJECT_SOURCE_DIR}/examples/stochastic-newsvendor/problem.yaml -n 800)
  set(saa_listed ${PROJECT_SOURCE_DIR}/examples/stochastic-farmer/problem.yaml)
  foreach(saa sampled listed)
    set(saa_page ${PROJECT_BINARY_DIR}/demo-saa-${saa})
    add_test(NAME browser.make_saa_${saa} COMMAND carom_cli saa ${saa_${saa}} -o ${saa_page}.html --force)
    add_test(NAME browser.saa_page_${saa} COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-saa.mjs
             ${saa_page}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/saa-${saa}.png)
    set_tests_properties(browser.make_saa_${saa} PROPERTIES FIXTURES_SETUP saa-${saa} LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.saa_page_${saa} PROPERTIES FIXTURES_REQUIRED saa-${saa} LABELS browser TIMEOUT ${CAROM_HANG}
                         RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  endforeach()
  foreach(scene circle lane segments)
    set(ways ${PROJECT_BINARY_DIR}/demo-navigate-${scene})
    set(navigate_plan "")
    if(scene STREQUAL segments)
      set(navigate_plan --plan)
    endif()
    add_test(NAME browser.make_navigate_${scene} COMMAND carom_cli navigate ${PROJECT_SOURCE_DIR}/examples/navigate/${scene}.yaml
             -o ${ways}.html --force --quiet ${navigate_plan})
    add_test(NAME browser.navigate_page_${scene} COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-navigate.mjs
             ${ways}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/navigate-${scene}.png)
    set_tests_properties(browser.make_navigate_${scene} PROPERTIES FIXTURES_SETUP navigate-${scene} LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.navigate_page_${scene} PROPERTIES FIXTURES_REQUIRED navigate-${scene} LABELS browser TIMEOUT ${CAROM_HANG}
                         RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  endforeach()
  foreach(push peg-jam peg-squeeze peg-in-hole)
    set(push_page ${PROJECT_BINARY_DIR}/demo-push-${push}.html)
    set(push_problem problem.yaml)
    if(push STREQUAL peg-in-hole)
      set(push_problem pushes.yaml)
    endif()
    add_test(NAME browser.make_push_${push} COMMAND carom_cli push check ${PROJECT_SOURCE_DIR}/examples/${push}/${push_problem}
             --page ${push_page} --force --quiet)
    add_test(NAME browser.push_page_${push} COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-push.mjs
             ${push_page} --screenshot ${PROJECT_BINARY_DIR}/screenshots/push-${push}.png)
    set_tests_properties(browser.make_push_${push} PROPERTIES FIXTURES_SETUP push-${push} LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.push_page_${push} PROPERTIES FIXTURES_REQUIRED push-${push} LABELS browser TIMEOUT ${CAROM_HANG}
                         RUN_SERIAL ON ENVIRONMENT "${browser_environment}")
  endforeach()
  if(IPOPT_FOUND)
    set(pushes_page ${PROJECT_BINARY_DIR}/demo-pushes)
    add_test(NAME browser.make_pushes COMMAND carom_cli sweep ${PROJECT_SOURCE_DIR}/examples/sweep-pushes/problem.yaml --force
             -o ${pushes_page}.h5 --set axes.x.count=4 --set axes.turn.count=3 --quiet)
    add_test(NAME browser.pushes_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-sweep.mjs
             ${pushes_page}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/pushes.png)
    set_tests_properties(browser.make_pushes PROPERTIES FIXTURES_SETUP pushes LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.pushes_page PROPERTIES FIXTURES_REQUIRED pushes LABELS browser TIMEOUT ${CAROM_HANG} RUN_SERIAL ON
                         ENVIRONMENT "${browser_environment}")
    set(plan_page ${PROJECT_BINARY_DIR}/demo-plan-wall)
    add_test(NAME browser.make_plan COMMAND carom_cli plan ${PROJECT_SOURCE_DIR}/examples/plan-wall/problem.yaml --force
             -o ${plan_page}.h5 --view --quiet)
    add_test(NAME browser.plan_page COMMAND ${NODE_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/browser/check-page.mjs
             ${plan_page}.html --screenshot ${PROJECT_BINARY_DIR}/screenshots/plan-wall.png --hash t=0.1&paused)
    set_tests_properties(browser.make_plan PROPERTIES FIXTURES_SETUP plan LABELS browser TIMEOUT ${CAROM_HANG})
    set_tests_properties(browser.plan_page PROPERTIES FIXTURES_REQUIRED plan LABELS browser TIMEOUT ${CAROM_HANG} RUN_SERIAL ON
                         ENVIRONMENT "${browser_environment}")
  endif()
else()
  message(STATUS "browser.*: left out (needs Chromium, Node.js and viewer/node_modules)")
endif()
