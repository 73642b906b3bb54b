// Eigen, with matrices that survive a lack of memory. Where Eigen 3.4 resizes a matrix it frees the
// old block and then asks for the new one; when there is none, the matrix still points to what was
// freed, and frees it again when it goes. Here it is empty in between. Everything includes this
// file in place of <Eigen/Core>, because a program must have one definition of a matrix.
#pragma once

#include <Eigen/Core>

namespace edict {

// Of the storage below as Eigen wrote it; Eigen itself looks at no such option.
inline constexpr int kEigenStorage = 1 << 20;

// What the storages below have in common. An empty matrix remains where this throws.
template <class Storage>
void resize_storage(Storage& storage, Eigen::Index size, Eigen::Index rows, Eigen::Index cols) {
  if (size == storage.rows() * storage.cols()) return storage.resize(size, rows, cols);
  {
    Storage empty;
    storage.swap(empty);
  }
  Storage made(size, rows, cols);
  storage.swap(made);
}

}  // namespace edict

namespace Eigen {

template <class T, int Options>
requires((Options & edict::kEigenStorage) ==
         0) class DenseStorage<T, Dynamic, Dynamic, Dynamic, Options>
    : public DenseStorage<T, Dynamic, Dynamic, Dynamic, Options | edict::kEigenStorage> {
  using Base = DenseStorage<T, Dynamic, Dynamic, Dynamic, Options | edict::kEigenStorage>;

 public:
  using Base::Base;
  void resize(Index size, Index rows, Index cols) {
    edict::resize_storage<Base>(*this, size, rows, cols);
  }
};

template <class T, int Rows, int Options>
requires((Options & edict::kEigenStorage) ==
         0) class DenseStorage<T, Dynamic, Rows, Dynamic, Options>
    : public DenseStorage<T, Dynamic, Rows, Dynamic, Options | edict::kEigenStorage> {
  using Base = DenseStorage<T, Dynamic, Rows, Dynamic, Options | edict::kEigenStorage>;

 public:
  using Base::Base;
  void resize(Index size, Index rows, Index cols) {
    edict::resize_storage<Base>(*this, size, rows, cols);
  }
};

template <class T, int Cols, int Options>
requires((Options & edict::kEigenStorage) ==
         0) class DenseStorage<T, Dynamic, Dynamic, Cols, Options>
    : public DenseStorage<T, Dynamic, Dynamic, Cols, Options | edict::kEigenStorage> {
  using Base = DenseStorage<T, Dynamic, Dynamic, Cols, Options | edict::kEigenStorage>;

 public:
  using Base::Base;
  void resize(Index size, Index rows, Index cols) {
    edict::resize_storage<Base>(*this, size, rows, cols);
  }
};

}  // namespace Eigen
