# The live server, a program beside the tool, which links neither SQLite nor OpenSSL. Nobody else
# links its library, which is therefore never installed.
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_path(PAHO_INCLUDE MQTTAsync.h REQUIRED)
find_library(PAHO_LIBRARY paho-mqtt3as REQUIRED)
if(EDICT_POSTGRESQL)
  find_package(PostgreSQL REQUIRED)
endif()
include(cmake/server_page.cmake)

edict_sources(EDICT_SERVER_SOURCES front/server)
list(FILTER EDICT_SERVER_SOURCES EXCLUDE REGEX "/server/program/")
if(EDICT_POSTGRESQL)
  list(FILTER EDICT_SERVER_SOURCES EXCLUDE REGEX "/store/without_postgresql.cpp$")
else()
  list(FILTER EDICT_SERVER_SOURCES EXCLUDE REGEX "/store/postgresql_[a-z_]*.cpp$")
endif()
edict_library(edict_server STATIC edict_server ${EDICT_SERVER_SOURCES} ${EDICT_PAGE_SOURCE})
target_link_libraries(edict_server PUBLIC edict_app
  PRIVATE SQLite::SQLite3 OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB ${PAHO_LIBRARY}
          $<$<BOOL:${EDICT_POSTGRESQL}>:PostgreSQL::PostgreSQL>)
target_include_directories(edict_server SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE} ${PAHO_INCLUDE})
target_compile_definitions(edict_server PRIVATE EDICT_VERSION="${PROJECT_VERSION}")
file(GLOB EDICT_SERVER_PROGRAM CONFIGURE_DEPENDS src/front/server/program/*.cpp)
add_executable(edict_server_program ${EDICT_SERVER_PROGRAM})
set_target_properties(edict_server_program PROPERTIES OUTPUT_NAME edict-server
                      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
target_compile_definitions(edict_server_program PRIVATE EDICT_VERSION="${PROJECT_VERSION}")
target_link_libraries(edict_server_program PRIVATE edict_server fmt::fmt CLI11::CLI11 edict_flags)
target_compile_options(edict_server_program PRIVATE ${EDICT_QUICKLY})
install(TARGETS edict_server_program)
install(FILES packaging/edict-server.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
