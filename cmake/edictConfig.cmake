# For find_package(edict), then target_link_libraries(… edict::edict_core (or edict_study for plans and pages)).
include(CMakeFindDependencyMacro)
find_dependency(Eigen3)
find_dependency(nlohmann_json)
find_dependency(Threads)
# A static library asks its user to link what it is made of.
find_dependency(fmt)
find_dependency(Boost)
find_dependency(ZLIB)
find_dependency(zstd)
find_dependency(LibArchive)
enable_language(C)
find_dependency(HDF5 COMPONENTS C)
include(${CMAKE_CURRENT_LIST_DIR}/edictTargets.cmake)
