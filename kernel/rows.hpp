// Rows of a small table added to many rows of sums, by code, and the way back.
#pragma once

#include <cstdint>

namespace lifagu {

struct Rows {
    std::int64_t sums, table, width, count;  // rows of sums, rows of the table, items in a row, codes
};

#if defined(_MSC_VER)
#define LIFAGU_ALONE __restrict
#else
#define LIFAGU_ALONE __restrict__
#endif

// Width > 0: that many items, known to the compiler, which then unrolls; 0: as many as `width` says.
template <int Width>
inline void add(double* LIFAGU_ALONE to, const double* LIFAGU_ALONE from, std::int64_t width) {
    for (std::int64_t item = 0; item < (Width ? Width : width); ++item) to[item] += from[item];
}

// Call act(row of sums, row of the table) for each code that is not negative; false if one is out of range.
// Without cells every row of sums has equally many codes, one after the other.
template <class Act>
bool for_each_row(const Rows& rows, const std::int32_t* cells, const std::int32_t* codes, Act act) {
    const std::int64_t each = !cells && rows.sums ? rows.count / rows.sums : 1;
    const std::int64_t groups = cells ? rows.count : rows.sums;
    for (std::int64_t group = 0; group < groups; ++group) {
        const std::int64_t cell = cells ? cells[group] : group;
        if (cell < 0 || cell >= rows.sums) return false;
        for (std::int64_t at = group * each; at < (group + 1) * each; ++at) {
            const std::int64_t code = codes[at];
            if (code < 0) continue;
            if (code >= rows.table) return false;
            act(cell, code);
        }
    }
    return true;
}

template <int Width>
bool move_rows(const Rows& rows, double* sums, const std::int32_t* cells, double* table, const std::int32_t* codes,
               bool into_sums) {
    const std::int64_t width = Width ? Width : rows.width;
    if (into_sums)
        return for_each_row(rows, cells, codes, [=](std::int64_t cell, std::int64_t code) {
            add<Width>(sums + cell * width, table + code * width, width);
        });
    return for_each_row(rows, cells, codes, [=](std::int64_t cell, std::int64_t code) {
        add<Width>(table + code * width, sums + cell * width, width);
    });
}

// Rows of the table added to rows of sums, or, the other way, rows of sums to rows of the table.
inline bool move_rows(const Rows& rows, double* sums, const std::int32_t* cells, double* table,
                      const std::int32_t* codes, bool into_sums) {
    switch (rows.width) {
        case 1: return move_rows<1>(rows, sums, cells, table, codes, into_sums);
        case 2: return move_rows<2>(rows, sums, cells, table, codes, into_sums);
        case 3: return move_rows<3>(rows, sums, cells, table, codes, into_sums);
        case 4: return move_rows<4>(rows, sums, cells, table, codes, into_sums);
        case 5: return move_rows<5>(rows, sums, cells, table, codes, into_sums);
        case 6: return move_rows<6>(rows, sums, cells, table, codes, into_sums);
        case 8: return move_rows<8>(rows, sums, cells, table, codes, into_sums);
        default: return move_rows<0>(rows, sums, cells, table, codes, into_sums);
    }
}

}  // namespace lifagu
