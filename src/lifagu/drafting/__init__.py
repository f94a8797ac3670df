"""Drafting: from a database to a template that a person can read, judge and edit."""
