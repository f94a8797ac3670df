// Equal things get equal numbers, by first occurrence: lists of values, or plain ids.
#pragma once

#include <cstdint>
#include <vector>

#include "lists.hpp"

namespace lifagu {

// List i is values[starts[i]:starts[i+1]], or without starts the i-th `width` values; if not ordered, as a multiset.
template <class Id, class Watch>
void number_lists(const Key* values, const std::int64_t* starts, std::int64_t width, bool ordered,
                  std::int64_t* numbers, std::int64_t count, Watch& watch) {
    Lists<Id> lists;
    std::vector<Key> sorted;
    for (std::int64_t i = 0; i < count; ++i) {
        const Key* list = values + (starts ? starts[i] : i * width);
        const std::size_t length = starts ? starts[i + 1] - starts[i] : width;
        watch.tick(1 + length);
        if (!ordered) {
            sorted.assign(list, list + length);
            sort_keys(sorted.data(), sorted.data() + length);
            list = sorted.data();
        }
        numbers[i] = lists.number(list, length, ordered);
    }
}

// Ids are less than bound; negative ones stay.
template <class Watch>
void number_ids(const std::int64_t* ids, std::int64_t bound, std::int64_t* numbers, std::int64_t count, Watch& watch) {
    std::vector<std::int64_t> number(bound, -1);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        watch.tick(1);
        if (ids[i] < 0) {
            numbers[i] = ids[i];
            continue;
        }
        if (number[ids[i]] < 0) number[ids[i]] = next++;
        numbers[i] = number[ids[i]];
    }
}

}  // namespace lifagu
