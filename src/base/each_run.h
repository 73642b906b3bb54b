// Neighbours that belong together.
#pragma once

#include <cstddef>
#include <span>

namespace edict {

// visit(the items that share what `same` compares), run after run.
template <class Item, class Same, class Visit>
void each_run(std::span<Item> items, const Same& same, const Visit& visit) {
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && same(items[begin], items[end])) ++end;
    visit(items.subspan(begin, end - begin));
  }
}

}  // namespace edict
