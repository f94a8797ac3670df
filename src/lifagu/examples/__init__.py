"""Models and data that come with the package."""
