# Writes OUT, a C++ source with the SHA-256 of FILES (separated by |, relative to ROOT): of their
# names and contents, in the order of their names.
string(REPLACE "|" ";" FILES "${FILES}")
list(SORT FILES)
set(all "")
foreach(name ${FILES})
  file(SHA256 ${ROOT}/${name} hash)
  string(APPEND all "${hash}  ${name}\n")
endforeach()
string(SHA256 hash "${all}")
file(WRITE ${OUT}.new "#include \"research/source_hash.h\"\n\nnamespace edict::study {\n\n"
  "std::string_view source_hash() {\n  return \"${hash}\";\n}\n\n}  // namespace edict::study\n")
file(RENAME ${OUT}.new ${OUT})
