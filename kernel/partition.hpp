// A partition of 0…n-1 into classes, each a stretch of one array, that can be cut in time proportional to what moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "array.hpp"

namespace lifagu {

template <class Id>
struct Partition {
    std::int64_t count;
    Array<Id> own;  // where the caller's memory does not suffice
    Id* elements;   // class after class
    Id* place;      // elements[place[x]] == x
    Array<Id> class_of;
    std::vector<Id> first, size;  // of each class its stretch of elements
    std::vector<Id> parts, copy;  // scratch for regroup
    std::int64_t left = 0;        // Σ size · how often it can be halved: how much splitting is possible at most

    // Elements of equal colour (each less than bound) together, ascending within a class. Works in the memory that
    // the result will need, `length` times 8 bytes.
    Partition(const std::int64_t* colours, std::int64_t length, std::int64_t bound, void* memory)
        : count(length),
          own(sizeof(Id) < 8 ? 0 : length),
          elements(static_cast<Id*>(memory)),
          place(sizeof(Id) < 8 ? elements + length : own.data()),
          class_of(length) {
        first.reserve(length);  // reserved memory is not used memory: better than growing by copying
        size.reserve(length);
        std::vector<Id> next(bound + 1, 0), number(bound, 0);
        for (std::int64_t x = 0; x < count; ++x) ++next[colours[x] + 1];
        for (std::int64_t colour = 0; colour < bound; ++colour) {
            const Id held = next[colour + 1];
            next[colour + 1] += next[colour];
            if (held == 0) continue;
            number[colour] = static_cast<Id>(first.size());
            first.push_back(next[colour]);
            size.push_back(held);
            left += weight(held);
        }
        for (std::int64_t x = 0; x < count; ++x) {
            const Id where = next[colours[x]]++;
            elements[where] = static_cast<Id>(x);
            place[x] = where;
            class_of[x] = number[colours[x]];
        }
    }

    std::int64_t classes() const { return static_cast<std::int64_t>(first.size()); }

    // Swap an element of a class to the place `where` of the same class.
    void move(Id element, Id where) {
        const Id here = place[element], other = elements[where];
        elements[here] = other;
        place[other] = here;
        elements[where] = element;
        place[element] = where;
    }

    // Cut the end of a class, from place `begin` on, into its groups: group[i] is that of elements[begin + i].
    // What is before `begin` keeps the class; where nothing is, the largest group does. Calls added(class, size) for
    // each class that the old one now consists of, if there are several.
    template <class Added>
    void regroup(Id old, Id begin, const std::vector<Id>& group, std::size_t groups, Added added) {
        const Id end = first[old] + size[old];
        const Id rest = begin - first[old];
        if (rest == 0 && groups == 1) return;
        left -= weight(size[old]);
        parts.assign(groups + 1, 0);
        for (Id i = 0; i < end - begin; ++i) ++parts[group[i] + 1];
        std::size_t keeper = groups;
        if (rest == 0) keeper = std::max_element(parts.begin() + 1, parts.end()) - parts.begin() - 1;
        const Id fresh = static_cast<Id>(first.size());
        for (std::size_t each = 0; each < groups; ++each) {
            const Id held = parts[each + 1];
            if (each == keeper) {
                first[old] = begin + parts[each];
                size[old] = held;
            } else {
                first.push_back(begin + parts[each]);
                size.push_back(held);
                added(static_cast<Id>(first.size() - 1), held);
            }
            left += weight(held);
            parts[each + 1] += parts[each];
        }
        if (rest != 0) {
            size[old] = rest;
            left += weight(rest);
        }
        added(old, size[old]);
        copy.assign(elements + begin, elements + end);
        for (Id i = 0; i < end - begin; ++i) {
            const Id element = copy[i];
            const std::size_t part = group[i];
            const Id where = begin + parts[part]++;
            elements[where] = element;
            place[element] = where;
            if (part != keeper) class_of[element] = fresh + static_cast<Id>(part) - (part > keeper ? 1 : 0);
        }
    }

    static std::int64_t weight(std::int64_t held) {  // 0 for a class of one
#ifdef __GNUC__
        return held * (63 - __builtin_clzll(static_cast<unsigned long long>(held)));
#else
        std::int64_t bits = 0;
        for (std::int64_t rest = held; rest > 1; rest /= 2) ++bits;
        return held * bits;
#endif
    }
};

}  // namespace lifagu
