# Writes OUT, a C++ source that holds FILES (separated by |, relative to ROOT) as text, so that the
# program needs none of them at run time.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
file(WRITE ${OUT}.new "#include \"edict/study/embedded.h\"\n\nnamespace edict::study {\nnamespace {\n\n")
set(number 0)
foreach(name ${FILES})
  file(READ ${ROOT}/${name} text)
  file(APPEND ${OUT}.new "constexpr std::string_view kText${number} = R\"embedded(${text})embedded\";\n\n")
  string(APPEND entries "    {\"${name}\", kText${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(APPEND ${OUT}.new "constexpr EmbeddedFile kFiles[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace edict::study\n")
file(RENAME ${OUT}.new ${OUT})
