// Numbering: equal lists get equal numbers, by first occurrence. A hash only finds candidates; comparing decides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "array.hpp"

namespace lifagu {

using Key = std::uint64_t;

template <class Id>
class Lists {
public:
    std::size_t size() const { return lists_.size(); }

    void clear() {
        lists_.clear();
        std::vector<Id>().swap(table_);
        blocks_.clear();
        next_ = first_.data();
        room_ = BLOCK;
    }

    // The number of this list; a new one if it has not been seen since the last clear. A list that stays where it is
    // until then need not be copied.
    Id number(const Key* list, std::size_t length, bool stays = false) {
        const Key hash = hash_of(list, length);
        if (table_.empty()) {
            for (std::size_t each = 0; each < size(); ++each)
                if (lists_[each].is(hash, list, length)) return static_cast<Id>(each);
            lists_.push_back({hash, stays ? list : kept(list, length), length});
            if (size() > FEW) spread(8 * FEW);
            return static_cast<Id>(size() - 1);
        }
        std::size_t slot = hash & (table_.size() - 1);
        for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1))
            if (lists_[table_[slot] - 1].is(hash, list, length)) return table_[slot] - 1;
        lists_.push_back({hash, stays ? list : kept(list, length), length});
        table_[slot] = static_cast<Id>(size());
        if (3 * size() > 2 * table_.size()) spread(2 * table_.size());
        return static_cast<Id>(size() - 1);
    }

private:
    static constexpr std::size_t FEW = 8;          // up to which looking at all is faster than a table
    static constexpr std::size_t BLOCK = 1 << 16;  // keys kept together

    struct List {
        Key hash;
        const Key* keys;
        std::size_t length;

        bool is(Key other, const Key* list, std::size_t held) const {
            return hash == other && length == held && std::equal(list, list + held, keys);
        }
    };
    std::deque<List> lists_;
    std::vector<Id> table_;  // 1 + number of a list, 0 where there is none; its length is a power of two
    Array<Key> first_{BLOCK};
    std::vector<Array<Key>> blocks_;  // when the first is full
    Key* next_ = first_.data();
    std::size_t room_ = BLOCK;  // from next_ on

    static Key hash_of(const Key* list, std::size_t length) {
        Key hash = length;
        for (std::size_t i = 0; i < length; ++i) {
            hash = (hash ^ list[i]) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 32;
        }
        hash *= 0xd6e8feb86659fd93u;  // what differs in high bits only must reach the low ones
        return hash ^ hash >> 32;
    }

    const Key* kept(const Key* list, std::size_t length) {
        if (length > room_) {
            room_ = std::max(BLOCK, length);
            blocks_.emplace_back(room_);
            next_ = blocks_.back().data();
        }
        Key* const to = next_;
        next_ = std::copy(list, list + length, to);
        room_ -= length;
        return to;
    }

    void spread(std::size_t length) {
        table_.assign(length, 0);
        for (std::size_t each = 0; each < size(); ++each) {
            std::size_t slot = lists_[each].hash & (length - 1);
            while (table_[slot] != 0) slot = (slot + 1) & (length - 1);
            table_[slot] = static_cast<Id>(each + 1);
        }
    }
};

inline void sort_keys(Key* begin, Key* end) {
    if (end - begin < 2) return;
    if (end - begin > 24) {
        std::sort(begin, end);
        return;
    }
    for (Key* at = begin + 1; at < end; ++at) {
        const Key key = *at;
        Key* to = at;
        for (; to > begin && to[-1] > key; --to) *to = to[-1];
        *to = key;
    }
}

}  // namespace lifagu
