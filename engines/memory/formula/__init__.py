"""How llama.cpp's memory follows from a model's header: pure, and exact where that is possible."""
