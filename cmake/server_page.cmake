# The page of the server, as text in a source file: EDICT_PAGE_SOURCE. What we wrote lies in
# src/front/server/page; uPlot, which draws its charts, is fetched by npm, held against its hash and
# never committed. EDICT_PAGE tells whether it was had; without it the server answers everything but
# its page, and says so there.
set(EDICT_UPLOT_VERSION 1.6.32)
set(EDICT_UPLOT_SHA512 2883159c6ebccefbb95d751b0b82d010f9e1c0ec41b8bc96d401eda66e882935c89a46cb824332fa369b8cb8122cc6ac36e186cd09bf7a9ded3a4c93c6989023)
set(EDICT_UPLOT "" CACHE FILEPATH "uplot-${EDICT_UPLOT_VERSION}.tgz, where npm cannot fetch it")

set(uplot_folder ${PROJECT_BINARY_DIR}/uplot)
set(uplot_archive ${EDICT_UPLOT})
if(NOT uplot_archive)
  set(uplot_archive ${uplot_folder}/uplot-${EDICT_UPLOT_VERSION}.tgz)
  if(NOT EXISTS ${uplot_archive})
    find_program(EDICT_NPM npm)
    if(EDICT_NPM)
      file(MAKE_DIRECTORY ${uplot_folder})
      execute_process(COMMAND ${EDICT_NPM} pack uplot@${EDICT_UPLOT_VERSION} --silent
          --fetch-retries=1 --fetch-timeout=20000 --pack-destination ${uplot_folder}
        WORKING_DIRECTORY ${uplot_folder} TIMEOUT 60 OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE ignored)
    endif()
  endif()
endif()

set(EDICT_PAGE OFF)
if(EXISTS ${uplot_archive})
  file(SHA512 ${uplot_archive} uplot_hash)
  if(NOT uplot_hash STREQUAL EDICT_UPLOT_SHA512)
    message(FATAL_ERROR "${uplot_archive} is not uPlot ${EDICT_UPLOT_VERSION} as published (its SHA-512 differs): remove it and configure again")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${uplot_archive} DESTINATION ${uplot_folder}
       PATTERNS package/LICENSE package/dist/uPlot.iife.min.js package/dist/uPlot.min.css)
  set(EDICT_PAGE ON)
  message(STATUS "Page of the server: with uPlot ${EDICT_UPLOT_VERSION}")
else()
  message(STATUS "Page of the server: left out, uPlot is missing; install npm or give -DEDICT_UPLOT=uplot-${EDICT_UPLOT_VERSION}.tgz, and configure again")
endif()

file(GLOB EDICT_PAGE_FILES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/front/server/page
     ${PROJECT_SOURCE_DIR}/src/front/server/page/*)
list(TRANSFORM EDICT_PAGE_FILES PREPEND ${PROJECT_SOURCE_DIR}/src/front/server/page/
     OUTPUT_VARIABLE page_dependencies)
if(EDICT_PAGE)
  # without-charts.html stands in for the page and is not part of it.
  list(REMOVE_ITEM EDICT_PAGE_FILES without-charts.html)
  set(uplot_package ${uplot_folder}/package)
  list(APPEND EDICT_PAGE_FILES "uplot.js=${uplot_package}/dist/uPlot.iife.min.js"
       "uplot.css=${uplot_package}/dist/uPlot.min.css" "uplot-license.txt=${uplot_package}/LICENSE")
else()
  set(EDICT_PAGE_FILES
      "index.html=${PROJECT_SOURCE_DIR}/src/front/server/page/without-charts.html")
endif()
list(JOIN EDICT_PAGE_FILES "|" page_names)
set(EDICT_PAGE_SOURCE ${PROJECT_BINARY_DIR}/page_files.cpp)
add_custom_command(OUTPUT ${EDICT_PAGE_SOURCE}
  COMMAND ${CMAKE_COMMAND} -DOUT=${EDICT_PAGE_SOURCE}
          -DROOT=${PROJECT_SOURCE_DIR}/src/front/server/page -DHEADER=front/server/embedded_files.h
          -DNAMESPACE=edict::server "-DFILES=${page_names}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${page_dependencies} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
