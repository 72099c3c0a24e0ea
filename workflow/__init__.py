"""What a turn does: the port that workflows implement, and the workflows that ship with the product."""
