// An array of fixed length that is not filled when it is made, so that its memory is used only where it is written.
#pragma once

#include <cstddef>
#include <memory>

namespace lifagu {

template <class T>
class Array {
public:
    Array() = default;
    explicit Array(std::size_t length) : items_(new T[length]) {}
    T& operator[](std::size_t place) { return items_[place]; }
    const T& operator[](std::size_t place) const { return items_[place]; }
    T* data() { return items_.get(); }

private:
    std::unique_ptr<T[]> items_;
};

}  // namespace lifagu
