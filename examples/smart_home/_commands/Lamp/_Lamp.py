from ..Device._Device import Context as DeviceContext


class Context(DeviceContext):
    """One lamp: a device with a colour."""
