"""How unknown factors are filled: transfer, the heart of LIFAGU, and what we put beyond it."""
