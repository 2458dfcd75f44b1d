# One CMake target a folder: cox_library(model DEPS base) builds cox_model from the folder's *.cpp.
# Which folder may use which is written once, in the DEPS of each call; tests/rules checks it.

find_package(GTest REQUIRED)
include(GoogleTest)

add_library(cox_flags INTERFACE)
target_compile_features(cox_flags INTERFACE cxx_std_20)
target_compile_options(cox_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # g++ 12 sees uninitialised members inside of std::regex when a sanitizer is on (GCC bug 105562).
  $<$<BOOL:${COX_SANITIZER}>:-Wno-maybe-uninitialized>
  # g++ 12 at -O3 warns of overlaps in std::string's operator+ that cannot be (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>
  # A unity build includes each .cpp in another file, so that g++ takes it for a header.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<BOOL:${COX_WERROR}>:-Werror>)
target_include_directories(cox_flags INTERFACE "${PROJECT_SOURCE_DIR}/framework"
                                               "${PROJECT_SOURCE_DIR}/framework/sdk")

# cox_library(<folder> DEPS <folders...> LIBS <third party...>)
function(cox_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")  # belongs to the program, not to its tests
  list(TRANSFORM ARG_DEPS PREPEND cox_)
  if(sources)
    add_library(cox_${name} STATIC ${sources})
    target_link_libraries(cox_${name} PUBLIC cox_flags ${ARG_DEPS} PRIVATE ${ARG_LIBS})
    set_target_properties(cox_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  else()
    add_library(cox_${name} INTERFACE)
    target_link_libraries(cox_${name} INTERFACE cox_flags ${ARG_DEPS} ${ARG_LIBS})
  endif()
endfunction()

# cox_unit_test(<folder> [LABELS ...] DEPS <folders...> LIBS <third party...>)
# builds <folder>_test from the folder's *_test.cpp and registers each TEST with CTest.
function(cox_unit_test name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;LABELS;DEFS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cpp")
  if(NOT sources)
    return()
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  list(TRANSFORM ARG_DEPS PREPEND cox_)
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE cox_flags ${ARG_DEPS} ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_test PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name}_test PRIVATE COX_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  COX_BINARY_DIR="${PROJECT_BINARY_DIR}" ${ARG_DEFS})
  # A name of a test is its own, not the bytes of its parameter: tests/rules/semantics.yaml cites it.
  gtest_discover_tests(${name}_test NO_PRETTY_VALUES PROPERTIES LABELS "${ARG_LABELS}"
                       DISCOVERY_TIMEOUT 60)
endfunction()
