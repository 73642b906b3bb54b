// A small dataset that has something in each of its arrays.
#pragma once

#include "data/read/csv/csv.h"

namespace edict {

// Every kind of thing that a dataset can hold, twice.
inline Dataset full() {
  return read_csv_text(
      "id,time,x,y,z,label,group,static:age,static:weight\n"
      "a,0,1,,3,no,g,20,60\n"
      "a,1,3,4,,no,g,20,60\n"
      "b,-1,5,,7,yes,h,30,\n"
      "b,9,,8,9,yes,h,30,\n",
      "f");
}

}  // namespace edict
