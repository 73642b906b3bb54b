# Writes OUT, a C++ source that holds FILES (separated by |, relative to ROOT) as text, so that the
# program needs none of them at run time. HEADER declares EmbeddedFile and embedded_files() in
# NAMESPACE. A file that lies elsewhere is given as its name, "=", and its path.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
file(WRITE ${OUT}.new "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\nnamespace {\n\n")
set(number 0)
foreach(name ${FILES})
  set(path ${ROOT}/${name})
  if(name MATCHES "^(.+)=(.+)$")
    set(name ${CMAKE_MATCH_1})
    set(path ${CMAKE_MATCH_2})
  endif()
  file(READ ${path} text)
  file(APPEND ${OUT}.new "constexpr std::string_view kText${number} = R\"embedded(${text})embedded\";\n\n")
  string(APPEND entries "    {\"${name}\", kText${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(APPEND ${OUT}.new "constexpr EmbeddedFile kFiles[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace ${NAMESPACE}\n")
file(RENAME ${OUT}.new ${OUT})
