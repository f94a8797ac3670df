"""Every mistake that a folder of Parquet tables can have, and what is said of it."""

from support.parquet_folders import GOOD


def at(table, column, row, what):
    return f"{table}.parquet: column {column}, row {row} (counted from 0): {what}"


# by what is wrong: the tables that have it, and what is said
MISTAKES = {
    "no file": (
        {"factors": None},
        "factors.parquet: there is no such file; factors.parquet has the columns id, table_id",
    ),
    "no column": (
        {"arguments": "SELECT 0 AS factor_id, 0 AS variable_id"},
        "arguments.parquet: there is no column position; arguments.parquet has the columns "
        "factor_id, position",
    ),
    "a column too many": (
        {"variables": "SELECT 0 AS id, 'S' AS kinds"},
        "variables.parquet: the column 'kinds' means nothing here; did you mean 'kind'?; leave",
    ),
    "a type": (
        {"variables": "SELECT 'a' AS id"},
        "variables.parquet: the column id has the type VARCHAR; give whole numbers",
    ),
    "a list missing": (
        {"tables": "SELECT 0 AS id, 1.5 AS potentials"},
        "tables.parquet: the column potentials has the type DECIMAL(2,1); give lists of numbers",
    ),
    "a null id": (
        {"variables": "SELECT unnest([0, NULL]) AS id"},
        at("variables", "id", 1, "null; give a whole number"),
    ),
    "nothing but null ids": (
        {"arguments": "SELECT NULL::VARCHAR AS factor_id, 0 AS position, 0 AS variable_id"},
        at("arguments", "factor_id", 0, "null; give a whole number"),
    ),
    "half an id": (
        {"factors": "SELECT unnest([0, 1]) AS id, unnest([0, 0.5]) AS table_id"},
        at("factors", "table_id", 1, "0.5 is not a whole number from 0 on"),
    ),
    "a negative id": (
        {"variables": "SELECT unnest([0, 1, 2, -3]) AS id"},
        at("variables", "id", 3, "-3 is not a whole number from 0 on"),
    ),
    "nan for an id": (
        {"variables": "SELECT unnest([0, 1, 'nan'::DOUBLE]) AS id"},
        at("variables", "id", 2, "nan is not a whole number from 0 on"),
    ),
    "an id beyond all": (
        {"variables": "SELECT unnest([0, 18446744073709551615::UBIGINT]) AS id"},
        at("variables", "id", 1, "18446744073709551615 is not a whole number"),
    ),
    "an id twice": (
        {"variables": "SELECT unnest([2, 0, 1, 5, 1, 2]) AS id"},
        at("variables", "id", 4, "1 stands in an earlier row already; give each row"),
    ),
    "a name twice": (
        {"factors": "SELECT unnest([1, 0]) AS id, unnest(['f', 'f']) AS name, 0 AS table_id"},
        at("factors", "name", 1, "factor 'f' stands in an earlier row already"),
    ),
    "an empty name": (
        {"factors": "SELECT unnest([0, 1]) AS id, unnest(['f', '']) AS name, 0 AS table_id"},
        at("factors", "name", 1, "an empty name"),
    ),
    "a null name": (
        {"factors": "SELECT unnest([0, 1]) AS id, unnest(['f', NULL]) AS name, 0 AS table_id"},
        at("factors", "name", 1, "null; give every row a text, or leave the column out"),
    ),
    "a null label": (
        {
            "variables": "SELECT unnest([0, 1, 2]) AS id, unnest([['a'], ['a', NULL], "
            "NULL]) AS range"
        },
        at("variables", "range", 1, "a null in the list; leave it out"),
    ),
    "a label twice": (
        {"variables": "SELECT unnest([0, 1, 2]) AS id, unnest([['a'], ['a', 'a'], NULL]) AS range"},
        at("variables", "range", 1, "the variable has the label 'a' twice in its range"),
    ),
    "no labels": (
        {"variables": "SELECT unnest([0, 1, 2]) AS id, unnest([['a'], [], NULL]) AS range"},
        at("variables", "range", 1, "the variable has an empty range"),
    ),
    "an empty kind": (
        {"variables": "SELECT unnest([0, 1, 2]) AS id, unnest(['a', NULL, '']) AS kind"},
        at("variables", "kind", 2, "an empty text; give a name, or null for none"),
    ),
    "a null individual": (
        {
            "variables": "SELECT unnest([0, 1, 2]) AS id, unnest([['a'], NULL, ['a', "
            "NULL]]) AS individual"
        },
        at("variables", "individual", 2, "a null in the list"),
    ),
    "a dangling table": (
        {"factors": "SELECT unnest([0, 1]) AS id, unnest([NULL, 4]) AS table_id"},
        at("factors", "table_id", 1, "4 is not an id in tables.parquet; add that row"),
    ),
    "a dangling variable": (
        {
            "arguments": "SELECT 0 AS factor_id, unnest([0, 1]) AS position, unnest([0, "
            "99]) AS variable_id"
        },
        at("arguments", "variable_id", 1, "99 is not an id in variables.parquet"),
    ),
    "a dangling factor": (
        {"arguments": "SELECT 2 AS factor_id, 0 AS position, 0 AS variable_id"},
        at("arguments", "factor_id", 0, "2 is not an id in factors.parquet"),
    ),
    "a dangling id among ids with gaps": (
        {
            "variables": "SELECT unnest([0, 1, 2, 9]) AS id",
            "evidence": None,
            "arguments": GOOD["arguments"] + " UNION ALL SELECT 1, 1, 10",
        },
        at("arguments", "variable_id", 3, "10 is not an id in variables.parquet"),
    ),
    "a position beyond": (
        {
            "arguments": "SELECT 0 AS factor_id, unnest([0, 2]) AS position, unnest([0, "
            "1]) AS variable_id"
        },
        at("arguments", "position", 1, "2, but factor 0 has 2 arguments; number them"),
    ),
    "a position twice": (
        {
            "arguments": "SELECT 0 AS factor_id, unnest([1, 1]) AS position, unnest([0, "
            "1]) AS variable_id"
        },
        at("arguments", "position", 1, "factor 0 has an argument at position 1 already"),
    ),
    "an argument twice": (
        {"arguments": "SELECT 0 AS factor_id, unnest([1, 0]) AS position, 0 AS variable_id"},
        "factor 'f' has the argument A twice; give it once, with the diagonal of the table",
    ),
    "too few potentials": (
        {"tables": "SELECT 0 AS id, [1, 2] AS potentials"},
        "factor 'f' has 2 potentials but its arguments (A, B) span 4 states; give 4, or "
        "null if unknown",
    ),
    "a negative potential": (
        {"tables": "SELECT unnest([5, 0]) AS id, unnest([NULL, [1, 2, -1, 4]]) AS potentials"},
        at("tables", "potentials", 1, "the table has the potential -1.0 at place 2"),
    ),
    "nan for a potential": (
        {"tables": "SELECT 0 AS id, [1, 2, 'nan'::DOUBLE, 4] AS potentials"},
        at("tables", "potentials", 0, "the table has the potential nan at place 2; write"),
    ),
    "a null potential": (
        {
            "tables": "SELECT unnest([5, 6, 0]) AS id, unnest([NULL, [1], [1, 2, NULL, "
            "4]]) AS potentials"
        },
        at("tables", "potentials", 2, "a null in the list; give numbers, or null"),
    ),
    "only zeros": (
        {"tables": "SELECT unnest([0, 1]) AS id, unnest([[1, 2, 3, 4], [0, 0]]) AS potentials"},
        at("tables", "potentials", 1, "the table has only zero potentials"),
    ),
    "a variable observed twice": (
        {"evidence": "SELECT unnest([1, 1]) AS variable_id, 'true' AS value"},
        at("evidence", "variable_id", 1, "1 stands in an earlier row already"),
    ),
    "a dangling observation": (
        {"evidence": "SELECT 7 AS variable_id, 'true' AS value"},
        at("evidence", "variable_id", 0, "7 is not an id in variables.parquet"),
    ),
    "a value and a likelihood": (
        {"evidence": "SELECT 1 AS variable_id, 'true' AS value, [1, 2] AS likelihood"},
        at("evidence", "value", 0, "a value and a likelihood; give one of them"),
    ),
    "too many likelihoods": (
        {"evidence": "SELECT 1 AS variable_id, [1, 2, 3] AS likelihood"},
        at("evidence", "likelihood", 0, "3 numbers for the 2 labels of 'B'; give one"),
    ),
    "a label that is not there": (
        {"evidence": "SELECT 0 AS variable_id, 'maybe' AS value"},
        at("evidence", "value", 0, "variable 'A' has no value 'maybe'; its range is"),
    ),
    "a table of another name": (
        {"evidences": GOOD["evidence"]},
        "evidences.parquet: this table means nothing here; known are arguments.parquet, "
        "atoms.parquet",
    ),
}
