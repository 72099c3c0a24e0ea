"""The smallest image and sound that a client accepts as such, shared by tools, prompts and resources."""

from __future__ import annotations

import base64

from greenroom.workflow.values import Audio, Image

RED_PIXEL_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENT_WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")

IMAGE = Image(RED_PIXEL_PNG, "image/png")
AUDIO = Audio(SILENT_WAV, "audio/wav")
