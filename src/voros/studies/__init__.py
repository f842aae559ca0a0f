"""The paper's tables, the hospital studies and the demo: the library as a user would use it."""
