"""The words of texts and questions, in the form in which a search compares them."""
