// Rows of a small table added to many rows of sums, by code, and the way back.
#pragma once

#include <cstdint>

namespace lifagu {

struct Rows {
    std::int64_t sums, table, width, count;  // rows of sums, rows of the table, items in a row, codes
};

// Call act(row of sums, row of the table) for each code that is not negative; false if one is out of range.
template <class Act>
bool for_each_row(const Rows& rows, const std::int32_t* cells, const std::int32_t* codes, Act act) {
    for (std::int64_t at = 0; at < rows.count; ++at) {
        const std::int64_t code = codes[at], cell = cells ? cells[at] : at;
        if (code < 0) continue;
        if (code >= rows.table || cell < 0 || cell >= rows.sums) return false;
        act(cell * rows.width, code * rows.width);
    }
    return true;
}

inline bool add_rows(const Rows& rows, double* sums, const std::int32_t* cells, const double* table,
                     const std::int32_t* codes) {
    return for_each_row(rows, cells, codes, [=](std::int64_t to, std::int64_t from) {
        for (std::int64_t item = 0; item < rows.width; ++item) sums[to + item] += table[from + item];
    });
}

inline bool collect_rows(const Rows& rows, const double* sums, const std::int32_t* cells, double* table,
                         const std::int32_t* codes) {
    return for_each_row(rows, cells, codes, [=](std::int64_t from, std::int64_t to) {
        for (std::int64_t item = 0; item < rows.width; ++item) table[to + item] += sums[from + item];
    });
}

}  // namespace lifagu
