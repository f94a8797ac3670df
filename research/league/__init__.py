"""Real data: lifagu beside what people would really use."""
