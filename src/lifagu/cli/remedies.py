"""What to do about errors, in the words of the command line."""

from __future__ import annotations

from lifagu.errors import Remedy

# what to do about tables that are hardly better than a guess
SURER = "try --fill auto, or a --theta that leaves it unknown"
FLAGS = {
    Remedy.MORE_MEMORY: "raise --memory-limit, or use a machine with more memory",
    Remedy.LARGER_LIMIT: "name a --memory-limit within which it fits",
    Remedy.MORE_MEMORY_ON_SPARK: (
        "raise --memory-limit, or spark.executor.memory where a cluster is used"
    ),
    Remedy.ASK_FOR_LESS: (
        "observe some variables (--evidence), raise --memory-limit, or ask for less at once"
    ),
    Remedy.FEWER_JOINTLY: "ask about fewer variables, or leave out --joint",
    Remedy.IN_MEMORY: "where it fits in memory, take --on memory",
    Remedy.MEMORY_OR_RULE: (
        "where it fits in memory, take --on memory, or name a rule such as --fill extended"
    ),
    Remedy.MORE_MEMORY_OR_RULE: ("raise --memory-limit, or name a rule such as --fill extended"),
    Remedy.LEAVE_OUT: "leave it out, or take --on memory",
    Remedy.FILL: "choose how to fill them, such as with --theta",
    Remedy.WRITE_GROUPS: "write who is in which group with --out, or take --on memory",
    Remedy.FEWER_TYPES: "take --on memory or --fill lifagu, or leave out the column individual",
    Remedy.OTHER_TEMP: "free some of it, or name another folder with --temp",
    Remedy.MAKE_FOLDER: "make one with: lifagu convert MODEL big/",
    Remedy.WRITE_ELSEWHERE: "name a database with --db, or a folder for the results with --out",
    Remedy.NO_DATABASE: "leave out --db",
    Remedy.NO_PARAMETERS: "leave out --set",
    Remedy.AUTO_OR_BEST: "name --fill auto, or leave out --combine",
    Remedy.NAME_RULE: "name the rule that it belongs to, --fill extended or --fill lifagu",
    Remedy.NO_KEEP_KNOWN: "leave out --keep-known",
    Remedy.ASK_TRANSFER: "leave out --combine",
    Remedy.EXACT_ENGINE: "ask with an exact --engine, such as auto",
    Remedy.ASK_ALL: (
        "ask about all of it with lifagu query, without --joint, or name one of its variables"
    ),
    Remedy.ASK_ONE: "ask about one of them: lifagu query MODEL NAME",
    Remedy.NO_WHERE: "leave out --where, and choose among the answers",
    Remedy.FEWER_SHOWN: "take the first ones with --top 20, or write them all with --out FILE.csv",
    Remedy.BY_CLASS: "leave out --expand",
    Remedy.OBSERVE: "observe something with --evidence",
    Remedy.SMALLER_FOLDER: "raise --memory-limit, or validate a part of the model",
    Remedy.ADD_INSTEAD: "use --add instead, which may move others",
    Remedy.ONE_TABLE_OR_ADD: "ask with --combine best, or use --add instead",
    Remedy.NO_ADMISSION: "leave that out, or use --add instead of --admit",
    Remedy.ALLOW_ENV: "allow it with --env NAME",
    Remedy.NAME_DATABASE: "if it is meant so, name the database yourself with --db",
    Remedy.LONGER_QUERY: (
        "give its table an index, narrow the query, or raise --query-timeout (0: no limit)"
    ),
    Remedy.TRUST_ROLE: (
        "connect as another one (CREATE ROLE reader LOGIN IN ROLE pg_read_all_data), or say "
        "--trust-role if you trust it"
    ),
    Remedy.VIEW_INSTEAD: "make it a view of the connection",
    Remedy.OTHER_PORT: "choose another --port (0 takes a free one) or --host",
}
