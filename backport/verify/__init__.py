"""HOLDS? The branch's own tests, in its own Python, and the verdict drawn from them."""
