from ...application.books import Book
from ...application.shop import Shop


class Context:
    """One book from the shelf, in the hand."""

    @classmethod
    def get_parent(cls, command_context_object: Book) -> Shop:
        return command_context_object.shop

    @classmethod
    def get_displayname(cls, command_context_object: Book) -> str:
        return f"Book: {command_context_object.title}"
