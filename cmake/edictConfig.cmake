# For find_package(edict), then target_link_libraries(… edict::edict): libedict and the headers of
# include/edict, for C and C++20.
include(${CMAKE_CURRENT_LIST_DIR}/edictTargets.cmake)
