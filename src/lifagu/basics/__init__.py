"""What every room stands on: arrays, names, columns, frozen values, files, checks of input."""
