from ..Book._Book import Context as BookContext


class Context(BookContext):
    """One signed copy: a book with an inscription."""
