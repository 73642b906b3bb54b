// Which series train, which choose (validation) and which judge (test).
//
// The part of a series is a function of the seed and of its own key: its id, or the name of its
// group where whole groups stay on one side. A number in [0, 1) is drawn for the key, and the
// shares divide that interval. The order of the rows, the other series, later additions and the
// labels never move a series. The price: parts have their shares in expectation only (n·p ± √(n·p·
// (1−p)), of every class alike), since exact proportions would be a function of all the series.
//
// A stratified split, as in the paper, pays the other price: the series of a class keep the order
// of their draws and are spread evenly over [0, 1), so that every share holds within every class to
// less than one series. It is a function of the seed and of the ids of each class: the order of the
// rows moves nothing, but series that are added or labelled anew can move others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "protocol/data_settings.h"

namespace edict {

enum class Part { train, validation, test, unseen };  // unseen: of none of the three
std::string_view name_of(Part part);

// Indices of series, each list ascending.
struct Split {
  std::vector<std::size_t> train = {}, validation = {}, test = {};
  std::vector<std::size_t> unseen = {};  // only where a model is asked about series new to it

  std::vector<std::size_t>& operator[](Part part);
};

// A number in [0, 1) for each of these series, by which a part or fold is chosen.
std::vector<double> draw_places(const Dataset& dataset, std::span<const std::size_t> series,
                                std::uint64_t seed, SplitBy by, std::string_view purpose);

// `train` and `validation` are shares of the series, the test part is the rest.
Split split(const Dataset& dataset, std::uint64_t seed, double train = 0.7, double validation = 0.1,
            SplitBy by = SplitBy::series);
Split split(const Dataset& dataset, const DataSettings& settings);

// Of the validation series those that say how a forecast of the future errs: under data.split=time
// the pieces after all that is trained on, unless there are none; otherwise all of them.
std::vector<std::size_t> after_training(const Dataset& dataset, const DataSettings& settings,
                                        std::span<const std::size_t> validation);

// Throws Error where a part that training cannot do without is empty, as chance has it with few
// series.
void check_trainable(const Split& split, const DataSettings& settings);

}  // namespace edict
