"""A suite that tells ways of filling apart: several factors each, and hidden cohorts."""
