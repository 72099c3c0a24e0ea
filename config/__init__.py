"""The ground floor: settings, parsed once, and the tree of errors that the layers above share."""
