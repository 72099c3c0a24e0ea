"""A tea room: read the menu, order a cup."""

MENU = {"assam": 3.0, "matcha": 4.5, "rooibos": 2.5}


def show_menu() -> dict[str, float]:
    """Show the teas and what a cup of each costs."""
    return MENU


def order_tea(tea: str, cups: int = 1) -> str:
    """Order tea, by the cup."""
    if tea not in MENU:
        raise ValueError(f"We have no {tea}. There is {', '.join(MENU)}.")
    return f"Tea is coming: {cups} x {tea}, {cups * MENU[tea]:.2f} in all."
