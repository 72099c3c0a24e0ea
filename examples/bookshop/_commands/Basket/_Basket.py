from ...application.basket import Basket
from ...application.shop import Shop


class Context:
    """What the customer means to buy."""

    @classmethod
    def get_parent(cls, command_context_object: Basket) -> Shop:
        return command_context_object.shop

    @classmethod
    def get_displayname(cls, command_context_object: Basket) -> str:
        return "Basket"
