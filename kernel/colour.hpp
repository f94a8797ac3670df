// Colour passing: the coarsest stable partition of variables and factors that refines given start colours.
//
// Both sides take turns. Classes of one side that are news tell the nodes of the other side over which positions they
// meet; nodes of one class that were told different things part. When a class is cut, all its parts but the largest
// are news (Hopcroft 1971; Paige and Tarjan 1987), so an argument is looked at O(log n) times. News are spread in one
// of two ways with equal results: few by walking from the new classes to their neighbours (tell), many by every node
// looking at all its neighbours (look), which reads memory in order and needs no notes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lists.hpp"
#include "partition.hpp"

namespace lifagu {

struct Graph {  // the caller's arrays; checked before they come here
    std::int64_t variables, factors, arguments;
    const std::int64_t* offsets;    // [factors + 1]
    const std::int64_t* scopes;     // [arguments] variables
    const std::int64_t* positions;  // [arguments] what each argument sends; null: its place among the arguments
    std::int64_t width;             // positions are less than this
};

struct Start {  // start colours, and what they are less than
    const std::int64_t* variables;
    std::int64_t variable_bound;
    const std::int64_t* factors;
    std::int64_t factor_bound;
};

struct Result {  // where the colours go; until then this memory is worked in
    std::int64_t* variables;
    std::int64_t* factors;
};

// Neighbours of factors, read from the caller's arrays.
template <class Id>
struct Scopes {
    const Graph& graph;

    bool in_order() const { return graph.positions == nullptr; }  // no position twice: lists come out canonical
    std::int64_t degree(Id factor) const { return graph.offsets[factor + 1] - graph.offsets[factor]; }

    template <class Visit>
    void each(Id factor, Visit visit) const {
        const std::int64_t begin = graph.offsets[factor], end = graph.offsets[factor + 1];
        for (std::int64_t at = begin; at < end; ++at)
            visit(static_cast<Id>(graph.scopes[at]), graph.positions ? graph.positions[at] : at - begin);
    }
};

// Neighbours of variables: the same arguments sorted by variable.
template <class Id>
struct Uses {
    struct Use {
        Id factor, position;
    };
    Array<Id> starts;
    Array<Use> uses;

    template <class Watch>
    Uses(const Graph& graph, Watch& watch) : starts(graph.variables + 2), uses(graph.arguments) {
        std::fill_n(starts.data(), graph.variables + 2, Id{0});
        for (std::int64_t at = 0; at < graph.arguments; ++at) ++starts[graph.scopes[at] + 2];
        for (std::int64_t variable = 0; variable < graph.variables; ++variable)
            starts[variable + 2] += starts[variable + 1];
        const Scopes<Id> scopes{graph};
        for (std::int64_t factor = 0; factor < graph.factors; ++factor) {
            watch.tick(scopes.degree(static_cast<Id>(factor)));
            scopes.each(static_cast<Id>(factor), [&](Id variable, std::int64_t position) {
                uses[starts[variable + 1]++] = {static_cast<Id>(factor), static_cast<Id>(position)};
            });
        }
    }

    bool in_order() const { return false; }
    std::int64_t degree(Id variable) const { return starts[variable + 1] - starts[variable]; }

    template <class Visit>
    void each(Id variable, Visit visit) const {
        for (Id at = starts[variable]; at < starts[variable + 1]; ++at) visit(uses[at].factor, uses[at].position);
    }
};

template <class Id, class Neighbours>
struct Side {
    Neighbours neighbours;
    Partition<Id> partition;
    std::vector<Id> news{};   // classes that the other side has not been told of
    std::int64_t open = 0;    // arguments of nodes that are not alone in their class
    std::vector<Id> slot{};   // scratch: of a node that was told something, 1 + where it is noted
    std::vector<Id> moved{};  // scratch: of a class, how many of its nodes were told something

    std::int64_t arguments_of(Id number) const {  // all nodes of a class have the same degree
        return partition.size[number] * neighbours.degree(partition.elements[partition.first[number]]);
    }
};

template <class T>
void freed(std::vector<T>& items) {
    std::vector<T>().swap(items);
}

template <class Id, class Watch>
class Refinement {
public:
    Refinement(const Graph& graph, const Start& start, const Result& result, std::int64_t share, Watch& watch)
        : graph_(graph),
          share_(share),
          result_(result),
          watch_(watch),
          variables_{Uses<Id>(graph, watch),
                     Partition<Id>(start.variables, graph.variables, start.variable_bound, result.variables)},
          factors_{Scopes<Id>{graph},
                   Partition<Id>(start.factors, graph.factors, start.factor_bound, result.factors)} {
        total_ = left();
    }

    void run() {
        split_by_degree(variables_);
        split_by_degree(factors_);
        all_news(factors_);
        spread(factors_, variables_);
        all_news(variables_);
        // Factors of equal degree meet all variables together alike, so one class of them may stay silent.
        if (factors_.neighbours.in_order()) drop_largest(variables_);
        while (!variables_.news.empty()) {
            spread(variables_, factors_);
            spread(factors_, variables_);
        }
    }

    // Colours numbered by first occurrence, in place of what was there to get them; ends the refinement.
    void write() {
        write(variables_.partition, result_.variables);
        write(factors_.partition, result_.factors);
    }

private:
    const Graph& graph_;
    const std::int64_t share_;  // look where the news have at least one share_-th of the arguments to be looked at
    const Result result_;
    Watch& watch_;
    Side<Id, Uses<Id>> variables_;
    Side<Id, Scopes<Id>> factors_;
    std::int64_t total_;     // of left(), at the start
    Lists<Id> lists_;        // what nodes of one class see or were told
    std::vector<Id> group_;  // and which of it each of them
    std::vector<Key> list_;
    std::vector<std::pair<Id, Key>> told_;
    std::vector<Id> touched_, touched_classes_;
    std::vector<std::size_t> starts_;

    std::int64_t left() const { return variables_.partition.left + factors_.partition.left; }

    void tick(std::int64_t amount) { watch_.tick(amount, total_ - left(), total_); }

    template <class Neighbours>
    static void all_news(Side<Id, Neighbours>& side) {
        side.news.resize(side.partition.classes());
        for (std::size_t each = 0; each < side.news.size(); ++each) side.news[each] = static_cast<Id>(each);
    }

    template <class Neighbours>
    static void drop_largest(Side<Id, Neighbours>& side) {
        auto smaller = [&](Id one, Id other) { return side.arguments_of(one) < side.arguments_of(other); };
        auto largest = std::max_element(side.news.begin(), side.news.end(), smaller);
        if (largest != side.news.end()) side.news.erase(largest);
    }

    // From here on all nodes of a class have the same degree.
    template <class Neighbours>
    void split_by_degree(Side<Id, Neighbours>& side) {
        Partition<Id>& partition = side.partition;
        const std::int64_t classes = partition.classes();
        for (Id number = 0; number < classes; ++number) {
            const Id begin = partition.first[number], held = partition.size[number];
            tick(held);
            const std::int64_t degree = side.neighbours.degree(partition.elements[begin]);
            Id same = 0;
            while (same < held && side.neighbours.degree(partition.elements[begin + same]) == degree) ++same;
            if (same == held) continue;
            group_.resize(held);
            for (Id i = 0; i < held; ++i) {
                const Key key = side.neighbours.degree(partition.elements[begin + i]);
                group_[i] = lists_.number(&key, 1);
            }
            partition.regroup(number, begin, group_, lists_.size(), [](Id, Id) {});
            lists_.clear();
        }
        for (Id number = 0; number < partition.classes(); ++number)
            if (partition.size[number] > 1) side.open += side.arguments_of(number);
    }

    // Tell one side about the new classes of the other.
    template <class Sources, class Targets>
    void spread(Side<Id, Sources>& from, Side<Id, Targets>& to) {
        if (from.news.empty()) return;
        std::int64_t arguments = 0;
        for (Id number : from.news) arguments += from.arguments_of(number);
        if (share_ * arguments >= to.open + to.partition.classes())
            look(from, to);
        else
            tell(from, to);
        from.news.clear();
    }

    // Every node that is not alone looks at all its neighbours.
    template <class Sources, class Targets>
    void look(const Side<Id, Sources>& from, Side<Id, Targets>& to) {
        const Key width = graph_.width;
        const std::int64_t classes = to.partition.classes();
        for (Id number = 0; number < classes; ++number) {
            const Id begin = to.partition.first[number], held = to.partition.size[number];
            if (held == 1) continue;
            const std::int64_t degree = to.neighbours.degree(to.partition.elements[begin]);
            if (degree == 0) continue;
            list_.resize(degree);
            group_.resize(std::max<std::size_t>(group_.size(), held));
            for (Id i = 0; i < held; ++i) {
                tick(degree);
                Key* next = list_.data();
                to.neighbours.each(to.partition.elements[begin + i], [&](Id node, std::int64_t position) {
                    *next++ = from.partition.class_of[node] * width + position;
                });
                if (!to.neighbours.in_order()) sort_keys(list_.data(), next);
                group_[i] = lists_.number(list_.data(), degree);
            }
            regroup(to, number, begin);
        }
        freed(group_);
        freed(to.partition.copy);
    }

    // Nodes of new classes tell their neighbours.
    template <class Sources, class Targets>
    void tell(const Side<Id, Sources>& from, Side<Id, Targets>& to) {
        note(from, to);
        Partition<Id>& partition = to.partition;
        for (Id node : touched_) {  // to the end of its class
            const Id number = partition.class_of[node];
            if (to.moved[number] == 0) touched_classes_.push_back(number);
            partition.move(node, partition.first[number] + partition.size[number] - ++to.moved[number]);
        }
        for (Id number : touched_classes_) {
            const Id end = partition.first[number] + partition.size[number], begin = end - to.moved[number];
            to.moved[number] = 0;
            group_.resize(std::max<std::size_t>(group_.size(), end - begin));
            for (Id i = 0; i < end - begin; ++i) {
                const std::size_t slot = to.slot[partition.elements[begin + i]] - 1;
                const std::size_t start = slot == 0 ? 0 : starts_[slot - 1];
                sort_keys(list_.data() + start, list_.data() + starts_[slot]);
                group_[i] = lists_.number(list_.data() + start, starts_[slot] - start);
            }
            regroup(to, number, begin);
        }
        for (Id node : touched_) to.slot[node] = 0;
        touched_.clear();
        touched_classes_.clear();
    }

    // What the new classes tell: touched_, and for the node in slot i the keys list_[starts_[i-1]:starts_[i]].
    template <class Sources, class Targets>
    void note(const Side<Id, Sources>& from, Side<Id, Targets>& to) {
        const Key width = graph_.width;
        to.slot.resize(to.partition.count);
        to.moved.reserve(to.partition.count);
        to.moved.resize(to.partition.classes());
        told_.clear();
        starts_.clear();
        for (Id number : from.news) {
            const Id begin = from.partition.first[number], held = from.partition.size[number];
            tick(from.arguments_of(number));
            for (Id i = 0; i < held; ++i) {
                from.neighbours.each(from.partition.elements[begin + i], [&](Id node, std::int64_t position) {
                    if (to.partition.size[to.partition.class_of[node]] == 1) return;
                    Id& slot = to.slot[node];
                    if (slot == 0) {
                        touched_.push_back(node);
                        starts_.push_back(0);
                        slot = static_cast<Id>(touched_.size());
                    }
                    ++starts_[slot - 1];
                    told_.emplace_back(slot, number * width + position);
                });
            }
        }
        std::size_t total = 0;
        for (std::size_t& start : starts_) start = std::exchange(total, total + start);
        list_.resize(std::max(list_.size(), told_.size()));
        for (const auto& [slot, key] : told_) list_[starts_[slot - 1]++] = key;  // starts become ends
    }

    // Cut a class; all its parts but the largest are news.
    template <class Neighbours>
    void regroup(Side<Id, Neighbours>& side, Id number, Id begin) {
        const std::size_t groups = lists_.size();
        lists_.clear();
        Partition<Id>& partition = side.partition;
        std::vector<Id>& news = side.news;
        const std::int64_t degree = side.neighbours.degree(partition.elements[begin]);
        Id largest = -1, held = 0;
        partition.regroup(number, begin, group_, groups, [&](Id part, Id size) {
            if (size == 1) side.open -= degree;
            if (size > held) {
                std::swap(part, largest);
                held = size;
            }
            if (part >= 0) news.push_back(part);
        });
    }

    static void write(Partition<Id>& partition, std::int64_t* colours) {
        std::vector<Id>& number = partition.first;  // from now on the new number of each class
        std::fill(number.begin(), number.end(), Id{-1});
        Id next = 0;
        for (std::int64_t x = 0; x < partition.count; ++x) {
            Id& colour = number[partition.class_of[x]];
            if (colour < 0) colour = next++;
            colours[x] = colour;
        }
    }
};

}  // namespace lifagu
