"""What the command line returns: 0, or the status of the error that ended it."""

INTERRUPTED = 130
TERMINATED = 143
EXIT_STATUSES = {  # an error knows its own: `exit_status`
    0: "done",
    2: "bad usage or input",
    3: "the question has no answer",
    4: "it would not fit or took too long",
    5: "another run writes there",
    INTERRUPTED: "interrupted",
    TERMINATED: "terminated (129 where the terminal has hung up)",
}
