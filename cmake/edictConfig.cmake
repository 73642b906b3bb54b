# For find_package(edict), then target_link_libraries(… edict::edict_core (or edict_research for plans and pages)).
include(CMakeFindDependencyMacro)
find_dependency(Eigen3)
find_dependency(nlohmann_json)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/edictTargets.cmake)

# A static library asks its user to link what it is made of; a shared one brings it.
get_target_property(edict_kind edict::edict_core TYPE)
if(edict_kind STREQUAL STATIC_LIBRARY)
  find_dependency(fmt)
  find_dependency(Boost)
  find_dependency(ZLIB)
  find_dependency(zstd)
  find_dependency(LibArchive)
  enable_language(C)
  find_dependency(HDF5 COMPONENTS C)
endif()
