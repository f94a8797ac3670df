"""Engines that run SQL where the data is."""
