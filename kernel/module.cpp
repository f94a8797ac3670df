// lifagu._kernel: what pays to be compiled, on plain arrays of 64-bit integers handed over as buffers.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "colour.hpp"
#include "numbering.hpp"
#include "rows.hpp"

namespace {

constexpr std::int64_t MOST_SHORT = std::numeric_limits<std::int32_t>::max() - 2;  // what 32 bits can number

struct Stopped {};  // a Python exception is set

template <class Item>
struct Kind;  // what a buffer of such items is called, and how its format may be written
template <>
struct Kind<std::int64_t> {
    static constexpr const char *name = "64-bit integers", *formats = "lq";
};
template <>
struct Kind<std::int32_t> {
    static constexpr const char *name = "32-bit integers", *formats = "il";
};
template <>
struct Kind<double> {
    static constexpr const char *name = "64-bit floats", *formats = "d";
};

// A buffer of numbers, held while it lives.
template <class Item>
class Buffer {
public:
    Buffer(PyObject* object, const char* name, bool writable = false) : name_(name) {
        if (object == Py_None) return;
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object, &view_, flags) != 0) throw Stopped{};
        const std::string format = view_.format ? view_.format : "";
        if (view_.itemsize != sizeof(Item) || format.size() != 1 || !std::strchr(Kind<Item>::formats, format[0])) {
            PyBuffer_Release(&view_);
            throw std::invalid_argument(std::string(name) + " must hold " + Kind<Item>::name);
        }
        held_ = true;
    }
    ~Buffer() {
        if (held_) PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::int64_t length() const { return held_ ? view_.len / static_cast<std::int64_t>(sizeof(Item)) : 0; }
    Item* data() const { return held_ ? static_cast<Item*>(view_.buf) : nullptr; }
    bool given() const { return held_; }

    void must_have(std::int64_t entries) const {
        if (length() != entries)
            throw std::invalid_argument(std::string(name_) + " has " + std::to_string(length()) + " entries, not " +
                                        std::to_string(entries));
    }

    void must_not_overlap(const Buffer& other) const {
        const std::less<const Item*> before;
        if (before(data(), other.data() + other.length()) && before(other.data(), data() + length()))
            throw std::invalid_argument(std::string(name_) + " must not share memory with " + other.name_);
    }

    // All entries must lie in 0…bound-1; returns 1 + the largest.
    Item must_be_below(std::int64_t bound) const {
        Item largest = -1;
        for (std::int64_t at = 0; at < length(); ++at) {
            if (data()[at] < 0 || data()[at] >= bound)
                throw std::invalid_argument(std::string(name_) + "[" + std::to_string(at) + "] is " +
                                            std::to_string(data()[at]) + ", not in 0…" + std::to_string(bound - 1));
            largest = std::max(largest, data()[at]);
        }
        return largest + 1;
    }

private:
    const char* name_;
    Py_buffer view_{};
    bool held_ = false;
};

using Integers = Buffer<std::int64_t>;
using Codes = Buffer<std::int32_t>;
using Floats = Buffer<double>;

// Other threads run while this lives; now and then signals are looked at and progress is reported.
class Watch {
public:
    explicit Watch(PyObject* progress) : progress_(progress), state_(PyEval_SaveThread()) {}
    ~Watch() {
        if (state_) PyEval_RestoreThread(state_);
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    void tick(std::int64_t amount, std::int64_t done = 0, std::int64_t total = 1) {
        since_ += amount;
        if (since_ >= OFTEN) pause(done, total);
    }

private:
    static constexpr std::int64_t OFTEN = 1 << 21;  // arguments, some tens of milliseconds

    PyObject* progress_;
    PyThreadState* state_;
    std::int64_t since_ = 0;

    void pause(std::int64_t done, std::int64_t total) {
        since_ = 0;
        PyEval_RestoreThread(state_);
        state_ = nullptr;
        if (PyErr_CheckSignals() != 0) throw Stopped{};
        if (progress_ != Py_None) {
            PyObject* result = PyObject_CallFunction(progress_, "LL", (long long)done, (long long)total);
            if (!result) throw Stopped{};
            Py_DECREF(result);
        }
        state_ = PyEval_SaveThread();
    }
};

// Run a function that may throw; its exceptions become Python's.
template <class Work>
PyObject* guarded(Work work) {
    try {
        work();
        Py_RETURN_NONE;
    } catch (const Stopped&) {
    } catch (const std::invalid_argument& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::exception&) {  // std::bad_alloc, or std::length_error from a vector
        PyErr_NoMemory();
    }
    return nullptr;
}

template <class Id>
void refine(const lifagu::Graph& graph, const lifagu::Start& start, const lifagu::Result& result, std::int64_t share,
            PyObject* progress) {
    Watch watch(progress);
    lifagu::Refinement<Id, Watch> refinement(graph, start, result, share, watch);
    refinement.run();
    refinement.write();
}

// Offsets must begin with 0, never fall and end with the number of arguments; returns the largest arity.
std::int64_t largest_arity(const Integers& offsets, std::int64_t arguments) {
    const std::int64_t* at = offsets.data();
    const std::int64_t factors = offsets.length() - 1;
    if (at[0] != 0 || at[factors] != arguments)
        throw std::invalid_argument("offsets must begin with 0 and end with the number of arguments");
    std::int64_t arity = 0;
    for (std::int64_t factor = 0; factor < factors; ++factor) {
        if (at[factor + 1] < at[factor]) throw std::invalid_argument("offsets must not fall");
        arity = std::max(arity, at[factor + 1] - at[factor]);
    }
    return arity;
}

PyObject* colour(PyObject*, PyObject* given) {
    PyObject *offsets_, *scopes_, *positions_, *variable_start_, *factor_start_, *variables_, *factors_, *progress;
    int wide, share;
    if (!PyArg_ParseTuple(given, "OOOOOOOOpi", &offsets_, &scopes_, &positions_, &variable_start_, &factor_start_,
                          &variables_, &factors_, &progress, &wide, &share))
        return nullptr;
    return guarded([&] {
        const Integers offsets(offsets_, "offsets"), scopes(scopes_, "arguments"), positions(positions_, "positions");
        const Integers variable_start(variable_start_, "variable_start"), factor_start(factor_start_, "factor_start");
        const Integers variables(variables_, "variable_colours", true), factors(factors_, "factor_colours", true);
        const std::int64_t variable_count = variable_start.length(), factor_count = factor_start.length();
        offsets.must_have(factor_count + 1);
        variables.must_have(variable_count);
        factors.must_have(factor_count);
        if (positions.given()) positions.must_have(scopes.length());
        for (const Integers* each : {&offsets, &scopes, &positions, &variable_start, &factor_start, &factors})
            variables.must_not_overlap(*each);
        for (const Integers* each : {&offsets, &scopes, &positions, &variable_start, &factor_start})
            factors.must_not_overlap(*each);
        scopes.must_be_below(variable_count);
        const std::int64_t arity = largest_arity(offsets, scopes.length());
        const std::int64_t width = positions.given() ? positions.must_be_below(scopes.length()) : arity;
        if (width > 0 && std::max(variable_count, factor_count) > std::numeric_limits<std::int64_t>::max() / width)
            throw std::invalid_argument("the graph is too large");
        const lifagu::Graph graph{variable_count, factor_count,     scopes.length(), offsets.data(),
                                  scopes.data(),  positions.data(), width};
        const lifagu::Start start{variable_start.data(), variable_start.must_be_below(variable_count),
                                  factor_start.data(), factor_start.must_be_below(factor_count)};
        const bool large = wide || std::max({variable_count, factor_count, scopes.length()}) > MOST_SHORT;
        auto run = large ? refine<std::int64_t> : refine<std::int32_t>;
        run(graph, start, {variables.data(), factors.data()}, share, progress);
    });
}

PyObject* number_lists(PyObject*, PyObject* given) {
    PyObject *values_, *starts_, *numbers_;
    long long width;
    int ordered, wide;
    if (!PyArg_ParseTuple(given, "OOLpOp", &values_, &starts_, &width, &ordered, &numbers_, &wide)) return nullptr;
    return guarded([&] {
        const Integers values(values_, "values"), starts(starts_, "offsets"), numbers(numbers_, "numbers", true);
        numbers.must_not_overlap(values);
        numbers.must_not_overlap(starts);
        if (starts.given()) {
            starts.must_have(numbers.length() + 1);
            largest_arity(starts, values.length());
        } else {
            const std::int64_t rows = numbers.length();
            if (width < 0 || (rows > 0 && width > std::numeric_limits<std::int64_t>::max() / rows))
                throw std::invalid_argument("width is out of range");
            values.must_have(width * rows);
        }
        const bool large = wide || numbers.length() > MOST_SHORT;
        auto run = large ? lifagu::number_lists<std::int64_t, Watch> : lifagu::number_lists<std::int32_t, Watch>;
        Watch watch(Py_None);
        run(reinterpret_cast<const lifagu::Key*>(values.data()), starts.data(), width, ordered, numbers.data(),
            numbers.length(), watch);
    });
}

PyObject* number_ids(PyObject*, PyObject* given) {
    PyObject *ids_, *numbers_;
    if (!PyArg_ParseTuple(given, "OO", &ids_, &numbers_)) return nullptr;
    return guarded([&] {
        const Integers ids(ids_, "ids"), numbers(numbers_, "numbers", true);
        numbers.must_have(ids.length());
        numbers.must_not_overlap(ids);
        std::int64_t largest = -1;
        for (std::int64_t at = 0; at < ids.length(); ++at) largest = std::max(largest, ids.data()[at]);
        Watch watch(Py_None);
        lifagu::number_ids(ids.data(), largest + 1, numbers.data(), ids.length(), watch);
    });
}

// Rows of a table added to rows of sums, or rows added up into a table: which of them is written differs.
PyObject* move_rows(PyObject* given, bool into_sums) {
    PyObject *sums_, *cells_, *table_, *codes_;
    long long width;
    if (!PyArg_ParseTuple(given, "OOOOL", &sums_, &cells_, &table_, &codes_, &width)) return nullptr;
    return guarded([&] {
        const Floats sums(sums_, "sums", into_sums), table(table_, "table", !into_sums);
        const Codes cells(cells_, "cells"), codes(codes_, "codes");
        sums.must_not_overlap(table);
        if (width < 1 || sums.length() % width != 0 || table.length() % width != 0)
            throw std::invalid_argument("sums and table must hold rows of that width");
        const lifagu::Rows rows{sums.length() / width, table.length() / width, width, codes.length()};
        if (cells.given())
            cells.must_have(codes.length());
        else if (rows.sums ? codes.length() % rows.sums != 0 : codes.length() != 0)
            throw std::invalid_argument("without cells there must be equally many codes for each row of sums");
        Watch watch(Py_None);
        const bool legal =
            lifagu::move_rows(rows, sums.data(), cells.data(), table.data(), codes.data(), into_sums);
        if (!legal) throw std::invalid_argument("cells or codes are out of range");
    });
}

PyObject* add_rows(PyObject*, PyObject* given) { return move_rows(given, true); }
PyObject* collect_rows(PyObject*, PyObject* given) { return move_rows(given, false); }

PyMethodDef methods[] = {
    {"colour", colour, METH_VARARGS,
     "colour(offsets, arguments, positions, variable_start, factor_start, variable_colours, factor_colours, progress, "
     "wide, share)\n\nColour passing; fills variable_colours and factor_colours."},
    {"number_lists", number_lists, METH_VARARGS,
     "number_lists(values, offsets, width, ordered, numbers, wide)\n\nNumber equal lists alike, by first occurrence."},
    {"number_ids", number_ids, METH_VARARGS, "number_ids(ids, numbers)\n\nNumber ids by first occurrence."},
    {"add_rows", add_rows, METH_VARARGS,
     "add_rows(sums, cells, table, codes, width)\n\nsums[cells[i]] += table[codes[i]]; cells None: equally many codes "
     "for each row of sums, in order; codes < 0: nothing."},
    {"collect_rows", collect_rows, METH_VARARGS,
     "collect_rows(sums, cells, table, codes, width)\n\nThe way back: table[codes[i]] += sums[cells[i]]."},
    {nullptr, nullptr, 0, nullptr},
};

int fill(PyObject* module) { return PyModule_AddIntConstant(module, "INTERFACE", 2); }

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(fill)}, {0, nullptr}};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "Compiled parts of lifagu.", 0, methods, slots, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__kernel() { return PyModuleDef_Init(&module); }
