from ..Device._Device import Context as DeviceContext


class Context(DeviceContext):
    """One heater: a device with a temperature."""
