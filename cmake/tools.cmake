# The command line tool with its experiments and importers (edict_research), and edict-mpi.
find_package(CLI11 REQUIRED)
find_package(LibArchive REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)

# Plans of experiments, their pages, and the importers of published datasets.
edict_library(edict_research ${EDICT_LIBRARY_KIND} edict_research ${EDICT_RESEARCH_SOURCES}
              ${EDICT_HASH_SOURCE})
target_link_libraries(edict_research PUBLIC edict_app
                      PRIVATE LibArchive::LibArchive HDF5::HDF5 ZLIB::ZLIB)
target_include_directories(edict_research SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE})

# The commands, for every program that has them.
file(GLOB_RECURSE EDICT_CLI_SOURCES CONFIGURE_DEPENDS src/front/cli/*.cpp)
set(EDICT_TOOL_MAIN ${PROJECT_SOURCE_DIR}/src/front/cli/main.cpp)
list(REMOVE_ITEM EDICT_CLI_SOURCES ${EDICT_TOOL_MAIN})
add_library(edict_cli OBJECT ${EDICT_CLI_SOURCES})
target_compile_definitions(edict_cli PUBLIC EDICT_VERSION="${PROJECT_VERSION}")
target_link_libraries(edict_cli PUBLIC edict_research fmt::fmt CLI11::CLI11 Boost::headers edict_flags)
edict_builds_quickly(edict_cli)
add_executable(edict_tool ${EDICT_TOOL_MAIN})
set_target_properties(edict_tool PROPERTIES OUTPUT_NAME edict)
target_link_libraries(edict_tool PRIVATE edict_cli)
target_compile_options(edict_tool PRIVATE ${EDICT_QUICKLY})
set_target_properties(edict_tool PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

if(EDICT_LIBRARY_KIND STREQUAL SHARED)
  install(TARGETS edict_research LIBRARY NAMELINK_SKIP)
endif()
install(TARGETS edict_tool)

# edict-mpi, for many processes; nothing else knows MPI. -DMPI_CXX_COMPILER=mpicxx.mpich chooses
# among several of them.
if(EDICT_MPI)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  edict_sources(EDICT_MPI_SOURCES front/mpi)
  add_executable(edict_mpi ${EDICT_MPI_SOURCES})
  set_target_properties(edict_mpi PROPERTIES OUTPUT_NAME edict-mpi
                        INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  # Without the C++ interface that MPI once had.
  target_compile_definitions(edict_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_compile_options(edict_mpi PRIVATE ${EDICT_QUICKLY})
  target_link_libraries(edict_mpi PRIVATE edict_cli MPI::MPI_CXX)
  install(TARGETS edict_mpi)
  install(FILES packaging/edict-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
  message(STATUS "edict-mpi: not built, MPI was not found (libopenmpi-dev or libmpich-dev)")
endif()
# Manual pages and completions are what the program itself prints.
install(CODE "set(EDICT \"$<TARGET_FILE:edict_tool>\")
              set(DATA \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
              set(MAN \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}\")
              include(\"${PROJECT_SOURCE_DIR}/cmake/install_pages.cmake\")")
