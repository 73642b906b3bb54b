#include "edict/study/embedded.h"

namespace edict::study {

std::optional<std::string_view> embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return file.text;
  return std::nullopt;
}

}  // namespace edict::study
