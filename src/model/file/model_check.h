// What a model that was read from a file must satisfy before anything is computed with it. The
// parts are each well-formed by then; what is looked for here is what no trained model can hold.
#pragma once

#include <string>

namespace edict {

struct Model;

// The first thing found wrong, as the end of a sentence, or empty. `model` needs no network yet.
std::string wrong_protocol(const Model& model);

// The same of the parameters, those of every seed's classifier among them.
std::string wrong_parameters(const Model& model);

}  // namespace edict
