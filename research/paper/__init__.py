"""The evaluation of 2023 repeated: Luttermann, Möller and Gehrke, section 4."""
