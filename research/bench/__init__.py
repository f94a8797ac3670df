"""Beside peers: times, memory, and answers."""
