"""Publishing of datasets: registration in the user's catalogue, splits, and leakage between them."""
