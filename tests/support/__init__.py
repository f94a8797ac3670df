"""What tests share: oracles, random models, servers, and small helpers."""
