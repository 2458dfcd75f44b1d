# What a plugin author calls. Both functions are used by the plugins of Coxswain itself.
set(COX_SDK_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "where plugin.map is")

# cox_add_plugin(<name> <source...> [SCHEMA <file.json>] [LIBS <library...>])
# Builds <name>.so: nothing visible but cox_plugin_entry, nothing unresolved, two builds of it can
# live in one process. SCHEMA makes "schema.hpp" with `kSchema`. Installed into lib/cox/plugins.
function(cox_add_plugin name)
  cmake_parse_arguments(ARG "" "SCHEMA" "LIBS" ${ARGN})
  add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE Coxswain::sdk ${ARG_LIBS})
  target_compile_features(${name} PRIVATE cxx_std_17)
  set_target_properties(${name} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${COX_SDK_CMAKE_DIR}/plugin.map")
  # Unique symbols are shared between generations despite RTLD_LOCAL, and pin the library.
  target_compile_options(${name} PRIVATE -Wall -Wextra
                                         $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE "-Wl,--version-script=${COX_SDK_CMAKE_DIR}/plugin.map")
  if(NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")  # a sanitizer's runtime is in the executable
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  if(ARG_SCHEMA)
    get_filename_component(schema_file "${ARG_SCHEMA}" ABSOLUTE)
    file(READ "${schema_file}" schema_text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${schema_file}")
    get_filename_component(schema_file "${schema_file}" NAME)
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/${name}_schema")
    configure_file("${COX_SDK_CMAKE_DIR}/schema.hpp.in" "${dir}/schema.hpp" @ONLY)
    target_include_directories(${name} PRIVATE "${dir}")
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION lib/cox/plugins COMPONENT plugins)
endfunction()

# cox_add_plugin_test(<test> <plugin> <source...>)
# A GoogleTest program that gets the path of the plugin as COX_PLUGIN_UNDER_TEST.
function(cox_add_plugin_test name plugin)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE Coxswain::sdk GTest::gtest_main ${CMAKE_DL_LIBS})
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_compile_definitions(${name} PRIVATE "COX_PLUGIN_UNDER_TEST=\"$<TARGET_FILE:${plugin}>\"")
  add_dependencies(${name} ${plugin})
  gtest_discover_tests(${name} NO_PRETTY_VALUES PROPERTIES LABELS plugin)
endfunction()
